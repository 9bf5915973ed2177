// Buttons, lists and tooltips.

function picker(name, groups, chosen, changed) {
  var list = el('select', {});
  groups.forEach(function (group) {
    var into = group.name ? list.appendChild(el('optgroup', { label: group.name })) : list;
    group.items.forEach(function (item) {
      into.appendChild(el('option', { value: item.id, selected: item.id === chosen }, item.name));
    });
  });
  list.addEventListener('change', function () { changed(list.value); });
  return el('label', {}, [el('span', {}, name), list]);
}

function toggle(name, on, changed) {
  var button = el('button', { type: 'button', 'aria-pressed': String(on) }, name);
  button.addEventListener('click', function () {
    on = !on;
    button.setAttribute('aria-pressed', String(on));
    changed(on);
  });
  return button;
}

function press(sign, name, pressed) {
  var button = el('button', { type: 'button', 'aria-label': name, title: name }, sign);
  button.addEventListener('click', pressed);
  return button;
}

function zoomButtons(plot) {
  return el('span', { class: 'zoom', role: 'group' }, [
    press('+', words.zoomIn, function () { plot.zoomBy(0.5); }),
    press('−', words.zoomOut, function () { plot.zoomBy(2); }),
    press('⤢', words.zoomReset, function () { plot.reset(); })
  ]);
}

function key(paint, tall, dashed) {
  var box = el('i', { class: 'key' + (tall ? ' tall' : '') + (dashed ? ' dashed' : ''), 'aria-hidden': 'true' });
  box.style.background = dashed ? 'repeating-linear-gradient(90deg, ' + paint + ' 0 .3rem, transparent .3rem .5rem)' : paint;
  return box;
}

// Names with their colours. With `changed` each can be switched on and off.
function legend(entries, changed) {
  return el('ul', { class: 'legend' }, entries.map(function (entry) {
    var inside = [key(entry.colour, entry.tall, entry.dashed), entry.name];
    if (!changed) { return el('li', { class: 'entry' }, inside); }
    var button = el('button', { type: 'button', 'aria-pressed': String(entry.on) }, inside);
    button.addEventListener('click', function () {
      entry.on = !entry.on;
      button.setAttribute('aria-pressed', String(entry.on));
      changed();
    });
    return el('li', {}, button);
  }));
}

// A box that follows what is pointed at: a title, names with values, and a remark.
function Tip(box) {
  this.box = box;
  this.node = box.appendChild(el('div', { class: 'tip', hidden: true, role: 'presentation' }));
}

Tip.prototype.show = function (x, y, about) {
  var rows = about.rows.map(function (row) {
    return el('span', {}, [el('i', {}, row[0]), el('span', {}, row[1])]);
  });
  put(empty(this.node), [el('b', {}, about.title)].concat(rows));
  if (about.remark) { put(this.node, el('em', {}, about.remark)); }
  this.node.hidden = false;
  var wide = this.node.offsetWidth;
  var high = this.node.offsetHeight;
  var left = x + 14 + wide > this.box.clientWidth ? x - 14 - wide : x + 14;
  this.node.style.left = Math.max(0, Math.min(left, this.box.clientWidth - wide)) + 'px';
  this.node.style.top = Math.max(0, Math.min(y - high / 2, this.box.clientHeight - high)) + 'px';
};

Tip.prototype.hide = function () {
  this.node.hidden = true;
};

function spoken(about) {
  var rows = about.rows.map(function (row) { return row[0] + ' ' + row[1]; });
  return [about.title].concat(rows, about.remark || []).join(', ');
}
