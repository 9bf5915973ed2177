// How times are distributed, a curve for each level.

// There are no more distinct colours.
var SHOWN_AT_FIRST = 8;

function spread(box) {
  var times = ['ttft', 'itl', 'tpot', 'latency'].filter(function (id) {
    return data.details.some(function (detail) { return detail && detail[id]; });
  });
  var state = { time: times[0], logX: true };
  var controls = box.appendChild(el('div', { class: 'controls' }));
  var plot = new Plot(box);
  var below = box.appendChild(el('div', {}));
  var entries = { all: [], why: '' };
  var curve = function (entry) {
    var found = data.details[entry.level][state.time];
    var shares = data.shares[found.s];
    return {
      name: entry.name, colour: entry.colour,
      points: found.x.map(function (x, i) {
        return {
          x: x, y: shares[i] * 100, trust: VALID,
          about: function () {
            var level = data.levels[entry.level];
            return {
              title: level.label, rows: [[words[state.time], withUnit(x, 'ms')], [words.share, show(shares[i] * 100) + ' %']],
              remark: fill(words.samples, [show(found.n)]) + (level.trust > 1 ? ', ' + trustName(level.trust) : '')
            };
          }
        };
      })
    };
  };
  var render = function (keep) {
    plot.set({
      series: entries.all.filter(function (entry) { return entry.on; }).map(curve), xTitle: words[state.time] + ' (ms)',
      yTitle: words.share + ' (%)', logX: state.logX, logY: false, yDomain: [0, 102], thin: true
    }, keep);
  };
  var list = function () { put(empty(below), levelLegend(entries, function () { render(true); })); };
  var update = function () {
    var has = function (i) { return data.details[i] && data.details[i][state.time]; };
    var pick = function (levels) { return evenly(levels, SHOWN_AT_FIRST); };
    entries = levelEntries(has, pick, words.shownEven);
    list();
    render(false);
  };
  var items = times.map(function (id) { return { id: id, name: words[id] }; });
  put(controls, [
    picker(words.figure, [{ name: '', items: items }], state.time, function (id) { state.time = id; update(); }),
    toggle(words.logX, true, function (on) { state.logX = on; render(false); })
  ].concat(
    data.levels.length > 1 ? allOrNone(function () { return entries.all; }, function () { list(); render(true); }) : [],
    zoomButtons(plot)
  ));
  update();
}
