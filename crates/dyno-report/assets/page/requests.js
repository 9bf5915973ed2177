// A sample of one level's requests as swim lanes, on a canvas: the requests of a lane follow one
// another. Which requests are shown, and in which lane, is decided in dyno-draw/src/lanes.rs.

var COMPLETED = 0;
var DROPPED = 1;
var CENSORED = 2;
// A level that is this many times longer than its requests opens on its middle: bars would be too
// short to be seen.
var READABLE = 25;

function Timeline(box) {
  var own = data.levels.map(function (level, i) { return i; }).filter(function (i) {
    return data.details[i] && data.details[i].bars.length;
  });
  var timeline = this;
  this.level = this.firstLevel(own);
  this.cursor = null;
  var controls = box.appendChild(el('div', { class: 'controls' }));
  this.box = box.appendChild(el('div', { class: 'plot' }));
  this.canvas = this.box.appendChild(el('canvas', { tabindex: 0, role: 'application' }));
  this.tip = new Tip(this.box);
  var items = own.map(function (i) { return { id: String(i), name: data.levels[i].label }; });
  put(controls, [
    picker(words.level, [{ name: '', items: items }], String(this.level), function (id) { timeline.open(Number(id)); }),
    zoomButtons(this)
  ]);
  var shed = own.some(function (i) { return data.details[i].shedClasses.some(Boolean); });
  var some = function (fits) { return own.some(function (i) { return data.details[i].bars.some(fits); }); };
  var again = some(function (bar) { return bar[6] === COMPLETED && bar[9] > 0; });
  var streamed = some(function (bar) { return bar[6] === COMPLETED && known(bar[3]); });
  var whole = some(function (bar) { return bar[6] === COMPLETED && !known(bar[3]); });
  box.appendChild(legend([
    streamed ? { name: words.waiting, colour: 'var(--wait)', tall: true } : null,
    streamed ? { name: words.answer, colour: 'var(--s0)', tall: true } : null,
    whole ? { name: words.whole, colour: 'var(--s5)', tall: true } : null,
    again ? { name: words.again, colour: 'var(--s1)', tall: true } : null,
    { name: words.failed, colour: 'var(--bad)', tall: true },
    shed ? { name: words.shed, colour: 'var(--unsure)', tall: true } : null,
    { name: words.censored + ' / ' + words.dropped, colour: 'var(--faint)', tall: true }
  ].filter(Boolean), null));
  this.remark = box.appendChild(el('p', { class: 'remark' }));
  this.listen();
  this.open(this.level);
  keepDrawn(this.box, function () { timeline.draw(); });
}

// The level with the most failures among its bars, else the one with the most work done.
Timeline.prototype.firstLevel = function (own) {
  var failures = function (i) { return data.details[i].bars.filter(function (bar) { return bar[6] > CENSORED; }).length; };
  var work = (metric('tokens') || metric('inputs') || metric('throughput') || { y: [] }).y;
  return own.reduce(function (best, i) {
    var more = failures(i) - failures(best);
    return more > 0 || (more === 0 && known(work[i]) && !(work[i] <= work[best])) ? i : best;
  });
};

Timeline.prototype.open = function (level) {
  this.level = level;
  this.all = this.bars();
  var whole = this.whole();
  var mean = this.all.reduce(function (sum, bar) { return sum + bar.end - bar.due; }, 0) / this.all.length;
  var middle = (whole[0] + whole[1]) / 2;
  var half = mean * READABLE / 2;
  var within = this.all.some(function (bar) { return bar.end >= middle - half && bar.due <= middle + half; });
  // Where requests are far apart, the middle may be empty.
  this.view = within && half > 0 && half * 2 < whole[1] - whole[0] ? [middle - half, middle + half] : null;
  this.cursor = null;
  this.draw();
};

// [index, due, sent − due, first − sent, end − sent, tokens, became, warm-up, lane, times sent again],
// in milliseconds.
Timeline.prototype.bars = function () {
  return data.details[this.level].bars.map(function (bar) {
    var sent = bar[1] + (bar[2] || 0);
    return {
      index: bar[0], due: bar[1] / 1e3, sent: known(bar[2]) ? sent / 1e3 : null,
      first: known(bar[3]) ? (sent + bar[3]) / 1e3 : null, end: (sent + bar[4]) / 1e3,
      tokens: bar[5], became: bar[6], warmup: bar[7] === 1, lane: bar[8], retries: bar[9]
    };
  });
};

Timeline.prototype.whole = function () {
  var from = Math.min.apply(null, this.all.map(function (bar) { return bar.due; }));
  var to = Math.max.apply(null, this.all.map(function (bar) { return bar.end; }));
  return [Math.min(0, from), to > from ? to : from + 1];
};

Timeline.prototype.draw = function () {
  if (!this.box.clientWidth) { return; }
  var detail = data.details[this.level];
  var x = new Scale(this.view || this.whole(), [8, this.box.clientWidth - 8], false);
  var seen = this.all.filter(function (bar) { return bar.end >= x.domain[0] && bar.due <= x.domain[1]; });
  var row = Math.max(12, Math.min(20, 240 / Math.max(detail.lanes, 1)));
  var height = Math.ceil(row * detail.lanes) + 44;
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
    wait: themed('--wait'), again: themed('--s1'), answer: themed('--s0'), whole: themed('--s5'), bad: themed('--bad'),
    shed: themed('--unsure'), faint: themed('--faint'), line: themed('--line'), soft: themed('--soft'), ink: themed('--ink'),
    lane: themed('--sunken')
  };
  pen.fillStyle = paint.lane;
  for (var lane = 0; lane < detail.lanes; lane++) {
    pen.fillRect(x.range[0], lane * row + 1, x.range[1] - x.range[0], row - 2);
  }
  pen.font = '12px system-ui, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", sans-serif';
  x.ticks(this.box.clientWidth < 480 ? 5 : 8).forEach(function (value) {
    var place = Math.round(x.at(value)) + 0.5;
    pen.fillStyle = paint.line;
    pen.fillRect(place - 0.5, 0, 1, height - 40);
    pen.fillStyle = paint.soft;
    pen.textAlign = place < 20 ? 'left' : place > x.range[1] - 12 ? 'right' : 'center';
    pen.fillText(tickName(value), place, height - 24);
  });
  pen.textAlign = 'center';
  pen.fillStyle = paint.ink;
  pen.fillText(words.sinceStart, this.box.clientWidth / 2, height - 6);
  pen.save();
  pen.beginPath();
  pen.rect(x.range[0], 0, x.range[1] - x.range[0], height - 40);
  pen.clip();
  seen.forEach(function (bar) {
    var piece = function (from, to, fill) {
      // A gap of a pixel keeps requests of a lane apart.
      pen.fillStyle = fill;
      pen.fillRect(x.at(from), bar.lane * row + 1, Math.max(x.at(to) - x.at(from) - (to === bar.end ? 1 : 0), 1), row - 2);
    };
    pen.globalAlpha = bar.warmup ? 0.45 : 1;
    if (bar.became > CENSORED) {
      var shed = detail.shedClasses[bar.became - 3];
      piece(bar.sent === null ? bar.due : bar.sent, bar.end, shed ? paint.shed : paint.bad);
    } else if (bar.became !== COMPLETED) {
      piece(bar.sent === null ? bar.due : bar.sent, bar.end, paint.faint);
    } else if (bar.first === null) {
      piece(bar.sent, bar.end, bar.retries ? paint.again : paint.whole);
    } else {
      // Refusals and the waits between them are not the server's time to the first token.
      piece(bar.sent, bar.first, bar.retries ? paint.again : paint.wait);
      piece(bar.first, bar.end, paint.answer);
    }
    pen.globalAlpha = 1;
  });
  pen.restore();
  this.at = { x: x, row: row, seen: seen, height: height };
  this.remark.textContent = this.caption(detail, x.domain);
  this.point(this.cursor, false);
};

Timeline.prototype.caption = function (detail, ends) {
  var drawn = this.all.length;
  var parts = [drawn < detail.of ? fill(words.drawn, [show(drawn), show(detail.of)]) : fill(words.drawnAll, [show(drawn)])];
  if (this.view) { parts.push(fill(words.partOfTime, [show(ends[0]), show(ends[1])])); }
  return parts.join(' ');
};

Timeline.prototype.about = function (bar) {
  var detail = data.details[this.level];
  var refused = detail.shedClasses[bar.became - 3] ? words.shed : words.failed;
  var became = bar.became > CENSORED ? refused + words.colon + detail.classes[bar.became - 3]
    : bar.became === CENSORED ? words.censored : bar.became === DROPPED ? words.dropped : '';
  var rows = [];
  if (bar.sent !== null) {
    rows.push([words.sentAt, show(bar.sent) + ' s']);
    if (bar.first !== null) { rows.push([words.ttft, show((bar.first - bar.sent) * 1e3) + ' ms']); }
    rows.push([words.took, show((bar.end - bar.sent) * 1e3) + ' ms']);
  }
  if (bar.retries) { rows.push([words.againTimes, show(bar.retries)]); }
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
  this.tip.show(Math.max(8, Math.min(this.at.x.at(from), this.at.x.range[1])), bar.lane * this.at.row, about);
  if (say) { aloud(spoken(about)); }
};

// The request of a lane that is nearest to a place; null where the lane has none.
Timeline.prototype.nearest = function (lane, px) {
  var at = this.at;
  var best = null;
  var least = Infinity;
  at.seen.forEach(function (bar, i) {
    if (bar.lane !== lane) { return; }
    var away = Math.max(at.x.at(bar.due) - px, px - at.x.at(bar.end), 0);
    if (away < least) {
      least = away;
      best = i;
    }
  });
  return best;
};

// The request of the next lane up or down, else where it is.
Timeline.prototype.across = function (by) {
  var now = this.at.seen[this.cursor];
  if (!now) { return 0; }
  var px = this.at.x.at((now.due + now.end) / 2);
  for (var lane = now.lane + by; lane >= 0 && lane < data.details[this.level].lanes; lane += by) {
    var found = this.nearest(lane, px);
    if (found !== null) { return found; }
  }
  return this.cursor;
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
    var at = place(event);
    timeline.point(timeline.nearest(Math.floor(at[1] / timeline.at.row), at[0]), false);
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
      ArrowRight: Math.min(last, now + 1), ArrowLeft: Math.max(0, now - 1),
      ArrowDown: timeline.across(1), ArrowUp: timeline.across(-1), Home: 0, End: last
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
