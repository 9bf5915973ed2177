// How times are distributed, a curve for each level.

var SHOWN_AT_FIRST = 8;

// Levels as they are switched on and off: so many, even over all of them, at first.
function levelEntries(has, most) {
  var own = data.levels.map(function (level, i) { return i; }).filter(has);
  var many = own.length > most;
  return own.map(function (i, n) {
    var even = Math.floor((n + 1) * most / own.length) !== Math.floor(n * most / own.length);
    return { level: i, name: data.levels[i].label, colour: colour(n, own.length), on: !many || even };
  });
}

function allOrNone(entries, changed) {
  var all = function (on) {
    return function () {
      entries.forEach(function (entry) { entry.on = on; });
      changed();
    };
  };
  return [press(words.all, words.levelsShown + words.colon + words.all, all(true)),
    press(words.none, words.levelsShown + words.colon + words.none, all(false))];
}

function spread(box) {
  var times = ['ttft', 'itl', 'tpot', 'latency'].filter(function (id) {
    return data.details.some(function (detail) { return detail && detail[id]; });
  });
  var state = { time: times[0], logX: true };
  var controls = box.appendChild(el('div', { class: 'controls' }));
  var plot = new Plot(box);
  var below = box.appendChild(el('div', {}));
  var entries = [];
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
      series: entries.filter(function (entry) { return entry.on; }).map(curve), xTitle: words[state.time] + ' (ms)',
      yTitle: words.share + ' (%)', logX: state.logX, logY: false, yDomain: [0, 102], thin: true
    }, keep);
  };
  var update = function () {
    entries = levelEntries(function (i) { return data.details[i] && data.details[i][state.time]; }, SHOWN_AT_FIRST);
    list();
    render(false);
  };
  var list = function () {
    empty(below);
    below.appendChild(legend(entries, function () { render(true); }));
  };
  var items = times.map(function (id) { return { id: id, name: words[id] }; });
  put(controls, [
    picker(words.figure, [{ name: '', items: items }], state.time, function (id) { state.time = id; update(); }),
    toggle(words.logX, true, function (on) { state.logX = on; render(false); })
  ].concat(allOrNone({ forEach: function (each) { entries.forEach(each); } }, function () { list(); render(true); }), zoomButtons(plot)));
  update();
}
