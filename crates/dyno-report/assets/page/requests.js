// The requests of one level, a bar each, on a canvas.

var COMPLETED = 0;
var DROPPED = 1;
var CENSORED = 2;

function Timeline(box) {
  var own = data.levels.map(function (level, i) { return i; }).filter(function (i) {
    return data.details[i] && data.details[i].bars.length;
  });
  var timeline = this;
  this.level = own[Math.floor((own.length - 1) / 2)];
  this.view = null;
  this.cursor = null;
  var controls = box.appendChild(el('div', { class: 'controls' }));
  this.box = box.appendChild(el('div', { class: 'plot' }));
  this.canvas = this.box.appendChild(el('canvas', { tabindex: 0, role: 'application' }));
  this.tip = new Tip(this.box);
  this.remark = box.appendChild(el('p', { class: 'remark' }));
  var items = own.map(function (i) { return { id: String(i), name: data.levels[i].label }; });
  put(controls, [
    picker(words.level, [{ name: '', items: items }], String(this.level), function (id) {
      timeline.level = Number(id);
      timeline.reset();
    }),
    zoomButtons(this)
  ]);
  box.appendChild(legend([
    { name: words.waiting, colour: 'var(--wait)', tall: true },
    { name: words.answer, colour: 'var(--s0)', tall: true },
    { name: words.whole, colour: 'var(--s5)', tall: true },
    { name: words.failed, colour: 'var(--bad)', tall: true },
    { name: words.censored + ' / ' + words.dropped, colour: 'var(--faint)', tall: true }
  ], null));
  this.listen();
  keepDrawn(this.box, function () { timeline.draw(); });
}

// [index, due, sent − due, first − sent, end − sent, tokens, became, warm-up], in milliseconds.
Timeline.prototype.bars = function () {
  return data.details[this.level].bars.map(function (bar) {
    var sent = bar[1] + (bar[2] || 0);
    return {
      index: bar[0], due: bar[1] / 1e3, sent: known(bar[2]) ? sent / 1e3 : null,
      first: known(bar[3]) ? (sent + bar[3]) / 1e3 : null, end: (sent + bar[4]) / 1e3,
      tokens: bar[5], became: bar[6], warmup: bar[7] === 1
    };
  });
};

Timeline.prototype.whole = function () {
  var all = this.bars();
  var from = Math.min.apply(null, all.map(function (bar) { return bar.due; }));
  var to = Math.max.apply(null, all.map(function (bar) { return bar.end; }));
  return [Math.min(0, from), to > from ? to : from + 1];
};

Timeline.prototype.draw = function () {
  if (!this.box.clientWidth) { return; }
  var detail = data.details[this.level];
  var all = this.bars();
  var x = new Scale(this.view || this.whole(), [8, this.box.clientWidth - 8], false);
  var seen = all.filter(function (bar) { return bar.end >= x.domain[0] && bar.due <= x.domain[1]; });
  var row = Math.max(1, Math.min(14, 420 / Math.max(seen.length, 1)));
  var height = Math.ceil(Math.max(row * seen.length, 40)) + 44;
  var ratio = window.devicePixelRatio || 1;
  var canvas = this.canvas;
  canvas.width = Math.round(this.box.clientWidth * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.height = height + 'px';
  canvas.setAttribute('aria-label', fill(words.chartOf, [words.level + ' ' + data.levels[this.level].label]));
  var pen = canvas.getContext('2d');
  pen.scale(ratio, ratio);
  pen.clearRect(0, 0, this.box.clientWidth, height);
  var paint = {
    wait: themed('--wait'), answer: themed('--s0'), whole: themed('--s5'), bad: themed('--bad'),
    faint: themed('--faint'), line: themed('--line'), soft: themed('--soft'), ink: themed('--ink')
  };
  pen.font = '12px system-ui, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif';
  x.ticks(8).forEach(function (value) {
    var place = Math.round(x.at(value)) + 0.5;
    pen.fillStyle = paint.line;
    pen.fillRect(place - 0.5, 0, 1, height - 36);
    pen.fillStyle = paint.soft;
    pen.textAlign = place < 20 ? 'left' : place > x.range[1] - 12 ? 'right' : 'center';
    pen.fillText(tickName(value), place, height - 22);
  });
  pen.textAlign = 'center';
  pen.fillStyle = paint.ink;
  pen.fillText(words.sinceStart, this.box.clientWidth / 2, height - 5);
  pen.save();
  pen.beginPath();
  pen.rect(x.range[0], 0, x.range[1] - x.range[0], height - 36);
  pen.clip();
  seen.forEach(function (bar, i) {
    var y = i * row;
    var thick = Math.max(0.75, row > 3 ? row - 1 : row * 0.9);
    var piece = function (from, to, fill) {
      pen.fillStyle = fill;
      pen.fillRect(x.at(from), y, Math.max(x.at(to) - x.at(from), 1), thick);
    };
    pen.globalAlpha = bar.warmup ? 0.45 : 1;
    if (bar.became > CENSORED) {
      piece(bar.sent === null ? bar.due : bar.sent, bar.end, paint.bad);
    } else if (bar.became !== COMPLETED) {
      piece(bar.sent === null ? bar.due : bar.sent, bar.end, paint.faint);
    } else if (bar.first === null) {
      piece(bar.sent, bar.end, paint.whole);
    } else {
      piece(bar.sent, bar.first, paint.wait);
      piece(bar.first, bar.end, paint.answer);
    }
    pen.globalAlpha = 1;
  });
  pen.restore();
  this.at = { x: x, row: row, seen: seen, height: height };
  var drawn = detail.bars.length;
  this.remark.textContent = drawn < detail.of ? fill(words.drawn, [show(drawn), show(detail.of)]) : fill(words.drawnAll, [show(drawn)]);
  this.point(this.cursor, false);
};

Timeline.prototype.about = function (bar) {
  var detail = data.details[this.level];
  var became = bar.became > CENSORED ? words.failed + words.colon + detail.classes[bar.became - 3]
    : bar.became === CENSORED ? words.censored : bar.became === DROPPED ? words.dropped : '';
  var rows = [];
  if (bar.sent !== null) {
    rows.push([words.sentAt, show(bar.sent) + ' s']);
    if (bar.first !== null) { rows.push([words.ttft, show((bar.first - bar.sent) * 1e3) + ' ms']); }
    rows.push([words.took, show((bar.end - bar.sent) * 1e3) + ' ms']);
  }
  if (known(bar.tokens)) { rows.push([words.tokens, show(bar.tokens)]); }
  return { title: fill(words.request, [bar.index]), rows: rows, remark: [bar.warmup ? words.warmup : '', became].filter(Boolean).join(', ') };
};

Timeline.prototype.point = function (i, say) {
  this.cursor = i;
  var bar = i !== null && this.at.seen[i];
  if (!bar) {
    this.cursor = null;
    this.tip.hide();
    return;
  }
  var from = bar.first === null ? bar.due : bar.first;
  var about = this.about(bar);
  this.tip.show(Math.max(8, Math.min(this.at.x.at(from), this.at.x.range[1])), i * this.at.row, about);
  if (say) { aloud(spoken(about)); }
};

Timeline.prototype.zoomTo = function (from, to) {
  var whole = this.whole();
  var low = Math.max(whole[0], Math.min(from, to));
  var high = Math.min(whole[1], Math.max(from, to));
  if (!(high - low > (whole[1] - whole[0]) * 1e-4)) { return; }
  this.view = low <= whole[0] && high >= whole[1] ? null : [low, high];
  this.cursor = null;
  this.draw();
};

Timeline.prototype.zoomBy = function (share) {
  var now = this.view || this.whole();
  var middle = (now[0] + now[1]) / 2;
  this.zoomTo(middle - (now[1] - now[0]) / 2 * share, middle + (now[1] - now[0]) / 2 * share);
};

Timeline.prototype.reset = function () {
  this.view = null;
  this.cursor = null;
  this.draw();
};

Timeline.prototype.listen = function () {
  var timeline = this;
  var start = null;
  var place = function (event) {
    var box = timeline.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  this.canvas.addEventListener('pointerdown', function (event) {
    if (event.button === 0 && event.pointerType !== 'touch') { start = place(event)[0]; }
  });
  this.canvas.addEventListener('pointermove', function (event) {
    var i = Math.floor(place(event)[1] / timeline.at.row);
    timeline.point(i >= 0 && i < timeline.at.seen.length ? i : null, false);
  });
  this.canvas.addEventListener('pointerup', function (event) {
    var to = place(event)[0];
    if (start !== null && Math.abs(to - start) > 8) {
      timeline.zoomTo(timeline.at.x.back(start), timeline.at.x.back(to));
    }
    start = null;
  });
  this.canvas.addEventListener('pointerleave', function () {
    start = null;
    timeline.point(null, false);
  });
  this.canvas.addEventListener('dblclick', function () { timeline.reset(); });
  this.canvas.addEventListener('keydown', function (event) {
    var last = timeline.at.seen.length - 1;
    var now = timeline.cursor === null ? -1 : timeline.cursor;
    var to = {
      ArrowDown: Math.min(last, now + 1), ArrowRight: Math.min(last, now + 1),
      ArrowUp: Math.max(0, now - 1), ArrowLeft: Math.max(0, now - 1), Home: 0, End: last
    }[event.key];
    var zoom = { '+': 0.5, '=': 0.5, '-': 2 }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) { return; }
    if (to !== undefined) { timeline.point(to, true); }
    if (zoom) { timeline.zoomBy(zoom); }
    if (event.key === '0') { timeline.reset(); }
    if (event.key === 'Escape') { timeline.point(null, false); }
    if (to !== undefined || zoom || event.key === '0') { event.preventDefault(); }
  });
};
