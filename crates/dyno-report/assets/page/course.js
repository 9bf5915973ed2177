// The work done over the time of each level.

function course(box) {
  var figures = [
    { id: 'tokens', name: words.tokenRate, each: true },
    { id: 'completed', name: words.completedRate, each: true },
    { id: 'failed', name: words.failedRate, each: true },
    { id: 'flight', name: words.flight, each: false }
  ].filter(function (figure) {
    return data.details.some(function (detail) { return detail && detail[figure.id].some(function (value) { return known(value) && value > 0; }); });
  });
  if (!figures.length) { return; }
  var state = { figure: figures[0] };
  var controls = box.appendChild(el('div', { class: 'controls' }));
  var plot = new Plot(box);
  var below = box.appendChild(el('div', {}));
  var entries = levelEntries(function (i) { return data.details[i] && data.details[i].completed.length > 1; }, 1);
  var line = function (entry) {
    var detail = data.details[entry.level];
    var every = detail.every;
    return {
      name: entry.name, colour: entry.colour,
      points: detail[state.figure.id].map(function (value, i) {
        var y = known(value) && state.figure.each ? value / every : value;
        // What is in flight is so at the end of a stretch; the rest is of all of it.
        var x = state.figure.each ? (i + 0.5) * every : (i + 1) * every;
        return {
          x: x, y: y, trust: VALID,
          about: function () {
            return { title: entry.name, rows: [[state.figure.name, show(y)], [words.sinceStart, show(x)]], remark: '' };
          }
        };
      })
    };
  };
  var render = function (keep) {
    plot.set({
      series: entries.filter(function (entry) { return entry.on; }).map(line), xTitle: words.sinceStart,
      yTitle: state.figure.name, logX: false, logY: false, fromZero: true, xFromZero: true, thin: true
    }, keep);
  };
  var list = function () {
    empty(below);
    below.appendChild(legend(entries, function () { render(true); }));
  };
  put(controls, [
    picker(words.figure, [{ name: '', items: figures }], state.figure.id, function (id) {
      state.figure = figures.filter(function (one) { return one.id === id; })[0];
      render(true);
    })
  ].concat(allOrNone(entries, function () { list(); render(true); }), zoomButtons(plot)));
  list();
  render(false);
}
