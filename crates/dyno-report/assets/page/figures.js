// Any figure over the load, or over another figure; two panes side by side.

function choice(id) {
  var found = null;
  data.choices.forEach(function (group) {
    group.items.forEach(function (item) { if (item.id === id) { found = item; } });
  });
  return found;
}

function metric(id) {
  return data.metrics.filter(function (one) { return one.id === id; })[0];
}

function titled(one) {
  return one.unit && one.unit !== 'req/s' && one.unit !== 'tok/s' ? one.name + ' (' + one.unit + ')' : one.name;
}

function pairName(pair) {
  return pair ? pair[0] + '→' + pair[1] : '';
}

// The places of all levels along an axis, which may be a figure.
function along(id) {
  var axis = data.axes.filter(function (one) { return one.id === id; })[0];
  if (axis) { return { name: axis.name, x: axis.x, log: axis.log, load: true }; }
  var over = metric(id);
  return { name: titled(over), x: over.y, log: false, load: false };
}

// What a point says of itself.
function aboutLevel(i, parts, axis) {
  var level = data.levels[i];
  var rows = axis.load ? [] : [[axis.name, show(axis.x[i])]];
  parts.forEach(function (one) {
    rows.push([one.name, withUnit(one.y[i], one.unit)]);
    if (one.low && known(one.low[i])) {
      rows.push([words.interval, show(one.low[i]) + ' – ' + withUnit(one.high[i], one.unit)]);
    }
    if (one.few && one.few.indexOf(i) >= 0) { rows.push(['', words.few]); }
  });
  var remark = level.trust === VALID ? '' : trustName(level.trust) + (level.why ? words.colon + level.why : '');
  return { title: level.label, rows: rows, remark: remark };
}

// Rounds of one level share a place: the line goes through the mean of those that count.
function meanPath(points) {
  var path = [];
  points.forEach(function (point) {
    var last = path[path.length - 1];
    if (last && last.x === point.x) {
      last.rounds.push(point);
    } else {
      path.push({ x: point.x, rounds: [point] });
    }
  });
  if (path.length === points.length) { return null; }
  return path.map(function (place) {
    var counted = place.rounds.filter(function (point) { return point.trust !== INVALID && known(point.y); });
    var sum = counted.reduce(function (all, point) { return all + point.y; }, 0);
    return { x: place.x, y: counted.length ? sum / counted.length : null, trust: VALID };
  });
}

function seriesOf(parts, axis) {
  var groups = [];
  data.levels.forEach(function (level, i) {
    if (!known(axis.x[i])) { return; }
    var name = axis.load && axis.name === along('order').name ? '' : pairName(level.pair);
    var group = groups.filter(function (one) { return one.name === name; })[0];
    if (!group) { groups.push(group = { name: name, levels: [] }); }
    group.levels.push(i);
  });
  var all = [];
  groups.forEach(function (group) {
    parts.forEach(function (one) {
      var points = group.levels.map(function (i) {
        return {
          x: axis.x[i], y: one.y[i], low: one.low && one.low[i], high: one.high && one.high[i],
          trust: data.levels[i].trust, few: Boolean(one.few && one.few.indexOf(i) >= 0),
          about: function () { return aboutLevel(i, parts, axis); }
        };
      });
      // Over a figure the line follows the load.
      if (axis.load) { points.sort(function (a, b) { return a.x - b.x; }); }
      var part = parts.length > 1 ? one.name.split(' ').pop() : '';
      var name = [groups.length > 1 ? group.name : '', part].filter(Boolean).join(' ');
      all.push({ name: name, points: points, path: axis.load ? meanPath(points) : null });
    });
  });
  all.forEach(function (one, i) { one.colour = colour(i, all.length); });
  return all;
}

function pane(box, first) {
  var state = { figure: first, over: data.axes[0].id, logX: Boolean(data.axes[0].log), logY: false };
  var node = box.appendChild(el('div', { class: 'pane' }));
  var controls = node.appendChild(el('div', { class: 'controls' }));
  var plot = new Plot(node);
  var below = node.appendChild(el('div', {}));
  var hidden = {};
  var update = function (keepView) {
    var parts = choice(state.figure).parts.map(function (i) { return data.metrics[i]; });
    var axis = along(state.over);
    var series = seriesOf(parts, axis);
    var bounds = [];
    parts.forEach(function (one) {
      if (known(data.bounds[one.id])) { bounds.push({ y: data.bounds[one.id], name: words.bound + ' ' + withUnit(data.bounds[one.id], one.unit) }); }
    });
    var unit = parts.length > 1 ? choice(state.figure).name + ' (' + parts[0].unit + ')' : titled(parts[0]);
    var render = function (keep) {
      plot.set({
        series: series.filter(function (one) { return !hidden[one.name]; }),
        places: axis.load ? axis.x.filter(known) : null, xTitle: axis.name, yTitle: unit, logX: state.logX, logY: state.logY, fromZero: true,
        marks: data.marks.filter(function (mark) { return mark.axis === state.over; }), bounds: bounds
      }, keep);
    };
    empty(below);
    if (series.length > 1) {
      var entries = series.map(function (one) {
        return { name: one.name || unit, colour: one.colour, on: !hidden[one.name], of: one };
      });
      below.appendChild(legend(entries, function () {
        entries.forEach(function (entry) { hidden[entry.of.name] = !entry.on; });
        render(true);
      }));
    }
    render(keepView);
  };
  var logX = toggle(words.logX, state.logX, function (on) { state.logX = on; update(false); });
  put(controls, [
    picker(words.figure, data.choices, first, function (id) {
      state.figure = id;
      hidden = {};
      update(true);
    }),
    picker(words.over, [
      { name: words.load, items: data.axes },
      { name: words.other, items: data.metrics }
    ], state.over, function (id) {
      state.over = id;
      state.logX = Boolean(along(id).log);
      logX.setAttribute('aria-pressed', String(state.logX));
      update(false);
    }),
    logX,
    toggle(words.logY, false, function (on) { state.logY = on; update(true); }),
    zoomButtons(plot)
  ]);
  update(false);
}

function figures(box) {
  var panes = box.appendChild(el('div', { class: 'panes' }));
  var all = [];
  data.choices.forEach(function (group) { group.items.forEach(function (item) { all.push(item.id); }); });
  var pick = function (wanted) {
    return wanted.filter(function (id) { return all.indexOf(id) >= 0; })[0];
  };
  var first = pick(['tokens', 'throughput', 'completed'].concat(all));
  var second = pick(['ttft', 'latency', 'ttft.p50', 'latency.p50', 'latency.mean', 'errors'].concat(all));
  pane(panes, first);
  if (second !== first) { pane(panes, second); }
}
