// What the other files share: the data, elements, numbers, colours. Text only ever becomes text
// nodes or attributes, so nothing in the data can be markup.

var data = JSON.parse(document.getElementById('data').textContent);
var words = data.words;
var VALID = 0;
var SUSPECT = 2;
var INVALID = 3;

function fill(text, values) {
  var i = 0;
  return text.replace(/\{\}/g, function () { return String(values[i++]); });
}

function put(node, children) {
  [].concat(children === undefined || children === null ? [] : children).forEach(function (child) {
    node.appendChild(typeof child === 'object' ? child : document.createTextNode(String(child)));
  });
  return node;
}

function make(node, attributes, children) {
  Object.keys(attributes || {}).forEach(function (name) {
    var value = attributes[name];
    if (value !== null && value !== undefined && value !== false) {
      node.setAttribute(name, value === true ? '' : String(value));
    }
  });
  return put(node, children);
}

function el(name, attributes, children) {
  return make(document.createElement(name), attributes, children);
}

function svg(name, attributes, children) {
  return make(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
}

function empty(node) {
  while (node.firstChild) { node.removeChild(node.firstChild); }
  return node;
}

function known(value) {
  return value !== null && value !== undefined && isFinite(value);
}

// The different values, the smallest first.
function sorted(values) {
  return values.filter(function (value, i) { return values.indexOf(value) === i; }).sort(function (a, b) { return a - b; });
}

// About four digits, with a comma between thousands.
function show(value) {
  if (!known(value)) { return '–'; }
  var digits = Math.abs(value) >= 1000 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 4 };
  return value.toLocaleString('en-US', digits);
}

function withUnit(value, unit) {
  return known(value) && unit ? show(value) + (unit === '%' ? ' %' : ' ' + unit) : show(value);
}

// Read out by screen readers.
function aloud(text) {
  document.getElementById('aloud').textContent = text;
}

var COLOURS = 8;

// The colour of one of `of` lines: distinct colours where they are few, from blue to red where they
// are many.
function colour(i, of) {
  if (of <= COLOURS) { return 'var(--s' + i % COLOURS + ')'; }
  return 'hsl(' + Math.round(225 - 225 * i / (of - 1)) + ', 70%, var(--ramp))';
}

// Of many lines, every other one is dashed: neighbours have similar colours.
function isDashed(i, of) { return of > COLOURS && i % 2 === 1; }

// A colour of the current theme.
function themed(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function trustName(trust) {
  return [words.valid, words.unjudged, words.suspect, words.invalid][trust];
}

// Calls `draw` when the box changes its width, and when the theme changes.
var redraws = [];
function keepDrawn(box, draw) {
  var width = 0;
  redraws.push(draw);
  new ResizeObserver(function () {
    if (box.clientWidth !== width) {
      width = box.clientWidth;
      draw();
    }
  }).observe(box);
}

// Says below a table that it has more columns than fit; many systems hide scroll bars until they are used.
function tellsOfMore(box) {
  var more = el('p', { class: 'scrolls', hidden: '' });
  more.textContent = words.moreColumns;
  box.parentNode.insertBefore(more, box.nextSibling);
  var look = function () { more.hidden = box.scrollWidth <= box.clientWidth + 1; };
  new ResizeObserver(look).observe(box);
  look();
}
