// Runs over each other: a pane for each metric, and one list of runs to show and hide in all panes.

function compareSource(all, entries) {
  var metricsOf = function () { return all.metrics; };
  return {
    sharedLegend: true,
    choices: function () { return all.choices; },
    axes: function () { return all.axes; },
    metrics: metricsOf,
    marks: function () { return []; },
    bound: function () { return null; },
    parts: function (id) { return all.metrics.filter(function (one) { return one.id === id; }); },
    along: function (id) {
      var axis = all.axes.filter(function (one) { return one.id === id; })[0];
      var over = all.metrics.filter(function (one) { return one.id === id; })[0];
      var xs = all.sides.map(function (side) { return axis ? side.x[id] : (side.metrics[id] || {}).y; });
      return {
        id: id, name: axis ? axis.name : titled(over), log: axis && axis.log, load: Boolean(axis), marked: [], xs: xs,
        x: [].concat.apply([], xs.map(function (x) { return x || []; }))
      };
    },
    series: function (parts, axis) {
      var one = parts[0];
      var out = [];
      all.sides.forEach(function (side, s) {
        var own = side.metrics[one.id];
        if (!own || !axis.xs[s]) { return; }
        grouped(side.levels.length, function (i) { return side.groups[i]; }).forEach(function (group) {
          var points = group.levels.filter(function (i) { return known(axis.xs[s][i]); }).map(function (i) {
            return {
              x: axis.xs[s][i], y: own.y[i], low: own.low && own.low[i], high: own.high && own.high[i],
              level: side.levels[i].name, trust: side.levels[i].trust, few: isMarked(own, i),
              about: function () {
                var rows = axis.load ? [] : [[axis.name, show(axis.xs[s][i])]];
                rows.push([one.name, withUnit(own.y[i], one.unit)]);
                if (own.low && known(own.low[i])) {
                  rows.push([words.interval, show(own.low[i]) + ' – ' + withUnit(own.high[i], one.unit)]);
                }
                var level = side.levels[i];
                return { title: side.name + words.colon + level.label, rows: rows, remark: verdictRemark(level.trust, level.why) };
              }
            };
          });
          if (points.length && entries[s].on) {
            out.push({ name: side.name, colour: entries[s].colour, dashed: entries[s].dashed, points: points, path: lineOf(points, axis) });
          }
        });
      });
      return out;
    }
  };
}

function compare(box) {
  var all = data.compare;
  var entries = all.sides.map(function (side, i) {
    return { name: side.name, colour: colour(i, all.sides.length), dashed: isDashed(i, all.sides.length), on: true };
  });
  var redraw = [];
  box.appendChild(legend(entries, function () {
    redraw.forEach(function (draw) { draw(); });
  }));
  var panes = box.appendChild(el('div', { class: 'panes' }));
  var source = compareSource(all, entries);
  all.panes.forEach(function (one) { redraw.push(pane(panes, source, one[0], one[1])); });
}
