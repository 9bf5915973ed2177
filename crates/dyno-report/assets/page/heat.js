// A metric of every pair of lengths, one map for each load.

function heat(box) {
  var loads = [];
  data.levels.forEach(function (level, i) {
    var load = loads.filter(function (one) { return one.id === level.load; })[0];
    if (!load) { loads.push(load = { id: level.load, name: level.load, levels: [] }); }
    load.levels.push(i);
  });
  var single = data.metrics.map(function (one) { return { id: one.id, name: titled(one) }; });
  var state = { figure: (metric('tokens') || metric('inputs') || single[0]).id, load: loads[0].id };
  var controls = box.appendChild(el('div', { class: 'controls' }));
  var plot = box.appendChild(el('div', { class: 'plot' }));
  var tip = new Tip(plot);
  var draw = function () {
    var old = plot.querySelector('svg');
    if (old) { plot.removeChild(old); }
    if (!plot.clientWidth) { return; }
    plot.insertBefore(heatMap(plot, tip, metric(state.figure), loads.filter(function (one) { return one.id === state.load; })[0]), plot.firstChild);
  };
  put(controls, picker(words.figure, [{ name: '', items: single }], state.figure, function (id) { state.figure = id; draw(); }));
  if (loads.length > 1) {
    put(controls, picker(words.load, [{ name: '', items: loads }], state.load, function (id) { state.load = id; draw(); }));
  }
  keepDrawn(plot, draw);
}

function heatMap(box, tip, one, load) {
  var rows = sorted(load.levels.map(function (i) { return data.levels[i].pair[0]; }));
  var columns = sorted(load.levels.map(function (i) { return data.levels[i].pair[1]; }));
  var width = box.clientWidth;
  var left = 72;
  var wide = Math.min((width - left - 8) / columns.length, 160);
  var high = 46;
  var height = rows.length * high + 66;
  var image = svg('svg', { viewBox: '0 0 ' + width + ' ' + height, height: height, role: 'group', 'aria-label': fill(words.chartOf, [titled(one)]) });
  var values = load.levels.map(function (i) { return one.y[i]; }).filter(known);
  var low = Math.min.apply(null, values);
  var most = Math.max.apply(null, values);
  var cells = [];
  put(image, [
    svg('text', { class: 'title', x: 2, y: 13 }, words.inputAxis + ' ↓'),
    svg('text', { class: 'title', x: left + columns.length * wide / 2, y: height - 6, 'text-anchor': 'middle' }, words.outputAxis)
  ]);
  rows.forEach(function (input, r) {
    put(image, svg('text', { x: left - 8, y: 24 + r * high + high / 2 + 4, 'text-anchor': 'end' }, show(input)));
    columns.forEach(function (output, c) {
      // Of several rounds, the last that counts.
      var own = load.levels.filter(function (i) { return data.levels[i].pair[0] === input && data.levels[i].pair[1] === output; });
      var counted = own.filter(function (i) { return data.levels[i].trust !== INVALID; });
      var i = (counted.length ? counted : own).slice(-1)[0];
      var value = i === undefined ? null : one.y[i];
      var share = known(value) ? (most > low ? (value - low) / (most - low) : 0.5) : null;
      var x = left + c * wide;
      var y = 24 + r * high;
      var invalid = i !== undefined && data.levels[i].trust === INVALID;
      var from = Number(themed('--heat-from'));
      var light = from + (Number(themed('--heat-to')) - from) * (share || 0);
      var cell = svg('rect', {
        x: x + 1, y: y + 1, width: wide - 2, height: high - 2, rx: 5, tabindex: i === undefined ? null : 0, role: 'img',
        fill: share === null || invalid ? 'none' : 'hsl(' + themed('--heat') + ', ' + light.toFixed(0) + '%)',
        stroke: share === null || invalid ? 'var(--strong)' : 'none', 'stroke-dasharray': invalid ? '4 3' : null
      });
      put(image, cell);
      var dark = share !== null && !invalid && light < 58;
      var text = svg('text', {
        class: 'cell-name', x: x + wide / 2, y: y + high / 2 + 4, 'text-anchor': 'middle',
        'text-decoration': invalid ? 'line-through' : null
      }, show(value));
      text.style.fill = share === null || invalid ? 'var(--soft)' : dark ? '#fff' : '#0d1722';
      put(image, text);
      if (i !== undefined) {
        var about = aboutLevel(i, [one], { load: true });
        cell.setAttribute('aria-label', spoken(about));
        var on = function () { tip.show(x + wide / 2, y + high, about); };
        var off = function () { tip.hide(); };
        cell.addEventListener('pointerenter', on);
        cell.addEventListener('focus', on);
        cell.addEventListener('pointerleave', off);
        cell.addEventListener('blur', off);
        cells.push(cell);
      }
    });
  });
  columns.forEach(function (output, c) {
    put(image, svg('text', { x: left + c * wide + wide / 2, y: height - 26, 'text-anchor': 'middle' }, show(output)));
  });
  return image;
}
