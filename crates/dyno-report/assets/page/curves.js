// Any metric over the load, or over another metric; two panes side by side.

function metric(id) {
  return data.metrics.filter(function (one) { return one.id === id; })[0];
}

function titled(one) {
  return one.unit && one.unit !== 'req/s' && one.unit !== 'tok/s' ? one.name + ' (' + one.unit + ')' : one.name;
}

// The item with this id, in groups of items.
function itemOf(groups, id) {
  var found = null;
  groups.forEach(function (group) {
    group.items.forEach(function (item) { if (item.id === id) { found = item; } });
  });
  return found;
}

// What the tooltip of a level says.
function aboutLevel(i, parts, axis) {
  var level = data.levels[i];
  var rows = axis.load ? [] : [[axis.name, show(axis.x[i])]];
  parts.forEach(function (one) {
    rows.push([one.name, withUnit(one.y[i], one.unit)]);
    if (one.low && known(one.low[i])) {
      rows.push([words.interval, show(one.low[i]) + ' – ' + withUnit(one.high[i], one.unit)]);
    }
    if (one.few && one.few.indexOf(i) >= 0) { rows.push(['', words.few]); }
    if (one.rough && one.rough.indexOf(i) >= 0) { rows.push(['', words.rough]); }
  });
  return { title: level.label, rows: rows, remark: verdictRemark(level.trust, level.why) };
}

// Whether a metric of a level has few samples or is known only roughly.
function isMarked(one, i) {
  return [one.few, one.rough].some(function (marked) { return marked && marked.indexOf(i) >= 0; });
}

function verdictRemark(trust, why) {
  return trust === VALID ? '' : trustName(trust) + (why ? words.colon + why : '');
}

// Rounds of one level share a place: the line goes through the mean of those that count. Over a load
// they have the same x, over another metric the same name.
function meanPath(points, sameLevel) {
  var path = [];
  points.forEach(function (point) {
    var same = path.filter(function (place) { return sameLevel(place.rounds[0], point); })[0];
    if (same) { same.rounds.push(point); } else { path.push({ rounds: [point] }); }
  });
  if (path.length === points.length) { return points; }
  return path.map(function (place) {
    var counted = place.rounds.filter(function (point) { return point.trust !== INVALID && known(point.y); });
    var mean = function (of) {
      return counted.reduce(function (all, point) { return all + of(point); }, 0) / counted.length;
    };
    return {
      x: counted.length ? mean(function (point) { return point.x; }) : place.rounds[0].x,
      y: counted.length ? mean(function (point) { return point.y; }) : null, trust: VALID
    };
  });
}

// Points of levels that the axis puts into one group, joined by a line. A level that the axis marks,
// such as an end of a sweep, is a point beside the line.
function lineOf(points, axis) {
  var joined = points.filter(function (point) { return !point.mark; });
  if (axis.load) { joined.sort(function (a, b) { return a.x - b.x; }); }
  return axis.joined === false ? [] : meanPath(joined, function (a, b) {
    return axis.load ? a.x === b.x : a.level === b.level;
  });
}

function grouped(count, nameOf) {
  var groups = [];
  for (var i = 0; i < count; i++) {
    var name = nameOf(i);
    var group = groups.filter(function (one) { return one.name === name; })[0];
    if (!group) { groups.push(group = { name: name, levels: [] }); }
    group.levels.push(i);
  }
  return groups;
}

// What the panes of a report draw from.
var report = {
  choices: function () { return data.choices; },
  axes: function () { return data.axes; },
  metrics: function () { return data.metrics; },
  marks: function (axis) { return data.marks.filter(function (mark) { return mark.axis === axis; }); },
  bound: function (id) { return data.bounds[id]; },
  parts: function (id) { return itemOf(data.choices, id).parts.map(function (i) { return data.metrics[i]; }); },
  along: function (id) {
    var axis = data.axes.filter(function (one) { return one.id === id; })[0];
    if (axis) { return { name: axis.name, x: axis.x, log: axis.log, load: true, joined: axis.joined, groups: axis.groups, marked: axis.marked || [] }; }
    var over = metric(id);
    return { name: titled(over), x: over.y, log: false, load: false, groups: data.groups, marked: [] };
  },
  series: function (parts, axis) {
    var groups = grouped(data.levels.length, function (i) { return axis.groups[i]; });
    var all = [];
    groups.forEach(function (group) {
      parts.forEach(function (one) {
        var points = group.levels.filter(function (i) { return known(axis.x[i]); }).map(function (i) {
          return {
            x: axis.x[i], y: one.y[i], low: one.low && one.low[i], high: one.high && one.high[i],
            level: data.levels[i].name, trust: data.levels[i].trust, few: isMarked(one, i),
            mark: axis.marked.indexOf(i) >= 0 ? data.levels[i].label : '',
            about: function () { return aboutLevel(i, parts, axis); }
          };
        });
        var part = parts.length > 1 ? one.name.split(/[ ）]/).pop() : '';
        var name = [groups.length > 1 ? group.name : '', part].filter(Boolean).join(' ');
        all.push({ name: name, points: points, path: lineOf(points, axis) });
      });
    });
    all.forEach(function (one, i) { one.colour = colour(i, all.length); one.dashed = isDashed(i, all.length); });
    return all;
  }
};

// One chart with pickers for what it shows and over what. `source` is what it draws from. Returns a
// function that draws it again after `source` has changed.
function pane(box, source, first, over) {
  var start = source.along(over);
  var state = { figure: first, over: over, logX: Boolean(start.log), logY: false };
  var node = box.appendChild(el('div', { class: 'pane' }));
  var controls = node.appendChild(el('div', { class: 'controls' }));
  var plot = new Plot(node);
  var below = node.appendChild(el('div', {}));
  var hidden = {};
  var update = function (keepView) {
    var parts = source.parts(state.figure);
    var axis = source.along(state.over);
    var series = source.series(parts, axis);
    var bounds = [];
    parts.forEach(function (one) {
      var bound = source.bound(one.id);
      if (known(bound)) { bounds.push({ y: bound, name: words.bound + ' ' + withUnit(bound, one.unit) }); }
    });
    var unit = parts.length > 1 ? itemOf(source.choices(), state.figure).name + ' (' + parts[0].unit + ')' : titled(parts[0]);
    var places = axis.load ? axis.x.filter(function (x, i) { return known(x) && axis.marked.indexOf(i) < 0; }) : null;
    var render = function (keep) {
      plot.set({
        series: series.filter(function (one) { return !hidden[one.name]; }),
        places: places, xTitle: axis.name, yTitle: unit, logX: state.logX, logY: state.logY, fromZero: true,
        marks: source.marks(state.over), bounds: bounds
      }, keep);
    };
    empty(below);
    if (series.length > 1 && !source.sharedLegend) {
      var entries = series.map(function (one) {
        return { name: one.name || unit, colour: one.colour, dashed: one.dashed, on: !hidden[one.name], of: one };
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
    picker(words.figure, source.choices(), first, function (id) {
      state.figure = id;
      hidden = {};
      update(true);
    }),
    picker(words.over, [
      { name: words.load, items: source.axes() },
      { name: words.other, items: source.metrics() }
    ], state.over, function (id) {
      state.over = id;
      state.logX = Boolean(source.along(id).log);
      logX.setAttribute('aria-pressed', String(state.logX));
      update(false);
    }),
    logX,
    toggle(words.logY, false, function (on) { state.logY = on; update(true); }),
    zoomButtons(plot)
  ]);
  update(false);
  return function () { update(true); };
}

// The first of `wanted` that can be picked.
function firstOf(choices, wanted) {
  var all = [];
  choices.forEach(function (group) { group.items.forEach(function (item) { all.push(item.id); }); });
  return wanted.concat(all).filter(function (id) { return all.indexOf(id) >= 0; })[0];
}

function curves(box) {
  var panes = box.appendChild(el('div', { class: 'panes' }));
  var first = firstOf(data.choices, ['tokens', 'inputs', 'throughput', 'completed']);
  // Three percentiles of each of several lines are too many.
  var several = grouped(data.levels.length, function (i) { return data.axes[0].groups[i]; }).length > 1;
  var second = firstOf(data.choices, (several ? [] : ['ttft', 'latency']).concat(['ttft.p50', 'latency.p50', 'latency.mean', 'errors']));
  pane(panes, report, first, data.axes[0].id);
  if (second !== first) { pane(panes, report, second, data.axes[0].id); }
}
