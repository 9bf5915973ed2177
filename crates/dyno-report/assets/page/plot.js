// Lines over an axis, drawn again at every width, theme and zoom.
//
// A picture is { series, xTitle, yTitle, logX, logY, fromZero, marks, bounds, thin }. A series is
// { name, colour, points, path, dashed }; a point { x, y, low, high, trust, few, mark, about() }. The
// line goes through `path` where there is one, else through the points. A point with a `mark` is a
// diamond beside the line, with this name.

var HEIGHT = 340;
// A mark this many times above the line is not drawn to scale.
var FAR = 2;

function Plot(box) {
  this.box = box.appendChild(el('div', { class: 'plot' }));
  this.tip = new Tip(this.box);
  this.view = null;
  this.cursor = null;
  this.picture = null;
  this.listen();
  var plot = this;
  keepDrawn(this.box, function () { plot.draw(); });
}

// Another picture; the zoom stays only where it is asked to.
Plot.prototype.set = function (picture, keepView) {
  this.picture = picture;
  this.cursor = null;
  if (!keepView) { this.view = null; }
  this.draw();
};

Plot.prototype.points = function () {
  return [].concat.apply([], this.picture.series.map(function (one) { return one.points; }));
};

function placed(point, picture) {
  return known(point.x) && known(point.y) && (!picture.logX || point.x > 0) && (!picture.logY || point.y > 0);
}

// All of the x axis; with a zoom, the part of it.
Plot.prototype.whole = function () {
  var picture = this.picture;
  var shown = this.points().filter(function (point) { return placed(point, picture); });
  return reach(shown.map(function (point) { return point.x; }), picture.logX, picture.xFromZero);
};

Plot.prototype.lay = function () {
  var picture = this.picture;
  var width = Math.max(this.box.clientWidth, 240);
  var height = width < 480 ? 280 : HEIGHT;
  var x = new Scale(this.view || this.whole(), [0, 1], picture.logX);
  var seen = this.points().filter(function (point) { return placed(point, picture) && x.holds(point.x); });
  var heights = [];
  var joined = seen.filter(function (point) { return !point.mark; });
  joined.forEach(function (point) { heights.push(point.y, point.high, point.low); });
  // A mark far above the line would flatten it: it is drawn at the upper edge instead.
  var most = Math.max.apply(null, heights.filter(known).concat(0));
  seen.filter(function (point) { return point.mark && (!joined.length || point.y <= most * FAR); }).forEach(function (point) { heights.push(point.y); });
  if (!this.view) { (picture.bounds || []).forEach(function (bound) { heights.push(bound.y); }); }
  var y = new Scale(picture.yDomain || reach(heights, picture.logY, picture.fromZero), [0, 1], picture.logY);
  var names = y.ticks(6).map(tickName);
  var longest = Math.max.apply(null, names.map(function (name) { return name.length; }).concat(2));
  var left = 14 + longest * 7.2;
  x.range = [left, width - 14];
  y.range = [height - 46, 30];
  return { width: width, height: height, x: x, y: y };
};

Plot.prototype.draw = function () {
  if (!this.picture || !this.box.clientWidth) { return; }
  var old = this.box.querySelector('svg');
  var focused = old && old === document.activeElement;
  var at = this.lay();
  this.at = at;
  var name = fill(words.chartOf, [this.picture.yTitle + ' / ' + this.picture.xTitle]);
  var image = svg('svg', {
    viewBox: '0 0 ' + at.width + ' ' + at.height, height: at.height, tabindex: 0,
    role: 'application', 'aria-label': name
  });
  this.axes(image, at);
  var clip = 'clip-' + (Plot.count = (Plot.count || 0) + 1);
  put(image, svg('defs', {}, svg('clipPath', { id: clip }, svg('rect', {
    x: at.x.range[0] - 6, y: 14, width: at.x.range[1] - at.x.range[0] + 12, height: at.y.range[0] - 8
  }))));
  var inside = svg('g', { 'clip-path': 'url(#' + clip + ')' });
  this.marks(inside, at);
  this.picture.series.forEach(function (one) { this.line(inside, one, at); }, this);
  // Names are above all lines, so that none crosses them.
  put(inside, at.texts || []);
  put(image, inside);
  this.over = svg('g', {});
  put(image, this.over);
  if (!this.points().some(function (point) { return placed(point, this.picture); }, this)) {
    put(image, svg('text', { x: at.width / 2, y: at.height / 2, 'text-anchor': 'middle' }, words.nothing));
  }
  this.box.insertBefore(image, this.box.firstChild);
  if (old) { this.box.removeChild(old); }
  if (focused) { image.focus({ preventScroll: true }); }
  this.point(this.cursor, false);
};

// The loads themselves where they are few, else round values.
Plot.prototype.xTicks = function (at) {
  var own = sorted((this.picture.places || []).filter(function (value) { return at.x.holds(value); }));
  var whole = own.every(function (value) { return value === Math.round(value); });
  return whole && own.length > 1 && own.length <= 12 ? own : at.x.ticks(at.width < 480 ? 5 : 8);
};

Plot.prototype.axes = function (image, at) {
  var x = at.x;
  var y = at.y;
  y.ticks(6).forEach(function (value) {
    var place = y.at(value);
    put(image, svg('line', { class: 'grid', x1: x.range[0], x2: x.range[1], y1: place, y2: place }));
    put(image, svg('text', { x: x.range[0] - 7, y: place + 4, 'text-anchor': 'end' }, tickName(value)));
  });
  var last = -Infinity;
  this.xTicks(at).forEach(function (value) {
    var place = x.at(value);
    if (place - last < tickName(value).length * 7 + 10) { return; }
    last = place;
    put(image, svg('line', { class: 'axis', x1: place, x2: place, y1: y.range[0], y2: y.range[0] + 5 }));
    put(image, svg('text', { x: place, y: y.range[0] + 19, 'text-anchor': 'middle' }, tickName(value)));
  });
  put(image, svg('line', { class: 'axis', x1: x.range[0], x2: x.range[1], y1: y.range[0], y2: y.range[0] }));
  put(image, svg('text', { class: 'title y-title', x: 2, y: 13 }, this.picture.yTitle));
  put(image, svg('text', {
    class: 'title x-title', x: (x.range[0] + x.range[1]) / 2, y: at.height - 6, 'text-anchor': 'middle'
  }, this.picture.xTitle));
};

// What a search found, and what an SLO asks for.
Plot.prototype.marks = function (inside, at) {
  var x = at.x;
  var y = at.y;
  (this.picture.marks || []).forEach(function (mark) {
    if (x.log && mark.from <= 0) { return; }
    var from = x.at(mark.from);
    var to = x.at(mark.to);
    put(inside, svg('rect', { class: 'mark', x: from, y: y.range[1], width: Math.max(to - from, 1), height: y.range[0] - y.range[1] }));
    put(inside, svg('line', { class: 'mark-line', x1: from, x2: from, y1: y.range[1], y2: y.range[0] }));
    // On the side where there is room for the name.
    var right = (from + to) / 2 < (x.range[0] + x.range[1]) / 2;
    put(inside, svg('text', {
      class: 'mark-name', x: right ? to + 5 : from - 5, y: y.range[0] - 8, 'text-anchor': right ? 'start' : 'end'
    }, mark.name));
  });
  (this.picture.bounds || []).forEach(function (bound) {
    if (!y.holds(bound.y)) { return; }
    var place = y.at(bound.y);
    put(inside, svg('line', { class: 'bound', x1: x.range[0], x2: x.range[1], y1: place, y2: place }));
    put(inside, svg('text', { class: 'bound-name', x: x.range[0] + 4, y: place - 5 }, bound.name));
  });
};

Plot.prototype.line = function (inside, one, at) {
  var picture = this.picture;
  var place = function (point) { return at.x.at(point.x).toFixed(1) + ' ' + at.y.at(point.y).toFixed(1); };
  var band = [];
  var solid = '';
  var doubtful = '';
  var last = null;
  var shade = function () {
    if (band.length > 1) {
      var up = band.map(function (p) { return at.x.at(p.x).toFixed(1) + ' ' + at.y.at(p.high).toFixed(1); });
      var down = band.slice().reverse().map(function (p) { return at.x.at(p.x).toFixed(1) + ' ' + at.y.at(p.low).toFixed(1); });
      put(inside, svg('path', { class: 'band', fill: one.colour, d: 'M' + up.concat(down).join('L') + 'Z' }));
    }
    band = [];
  };
  (one.path || one.points).forEach(function (point) {
    if (!placed(point, picture)) {
      last = null;
      shade();
      return;
    }
    if (last) {
      var piece = 'L' + place(point);
      if (last.trust === INVALID || point.trust === INVALID) {
        doubtful += 'M' + place(last) + piece;
      } else {
        solid += (solid && last.joined ? '' : 'M' + place(last)) + piece;
        point.joined = true;
      }
    }
    if (!last || last.trust === INVALID || point.trust === INVALID) { point.joined = false; }
    if (known(point.low) && known(point.high) && (!picture.logY || point.low > 0) && point.trust !== INVALID) {
      band.push(point);
    } else {
      shade();
    }
    last = point;
  });
  shade();
  var thin = (picture.thin ? ' thin' : '') + (one.dashed ? ' dashed' : '');
  if (solid) { put(inside, svg('path', { class: 'curve' + thin, stroke: one.colour, d: solid })); }
  if (doubtful) { put(inside, svg('path', { class: 'curve doubtful', stroke: one.colour, d: doubtful })); }
  if (picture.thin) { return; }
  one.points.forEach(function (point) {
    if (!placed(point, picture) || !at.x.holds(point.x)) { return; }
    if (point.mark) {
      this.diamond(inside, point, one, at);
      return;
    }
    var look = point.trust === INVALID ? ' hollow' : point.trust === SUSPECT || point.few ? ' pale' : '';
    if (look === ' pale') {
      put(inside, svg('circle', { class: 'under', cx: at.x.at(point.x).toFixed(1), cy: at.y.at(point.y).toFixed(1), r: 5 }));
    }
    put(inside, svg('circle', {
      class: 'dot' + look, cx: at.x.at(point.x).toFixed(1), cy: at.y.at(point.y).toFixed(1), r: 4.5,
      color: one.colour
    }));
  }, this);
};

// A level beside the line, such as an end of a sweep, with its name above the first of its points.
Plot.prototype.diamond = function (inside, point, one, at) {
  var x = at.x.at(point.x);
  var y = Math.max(at.y.at(point.y), at.y.range[1]);
  var above = at.y.at(point.y) < at.y.range[1];
  var look = point.trust === INVALID ? ' hollow' : point.trust === SUSPECT || point.few ? ' pale' : '';
  put(inside, svg('path', {
    class: 'dot diamond' + look, color: one.colour,
    d: 'M' + x + ' ' + (y - 7) + 'L' + (x + 7) + ' ' + y + 'L' + x + ' ' + (y + 7) + 'L' + (x - 7) + ' ' + y + 'Z'
  }));
  if (one !== this.picture.series[0]) { return; }
  var right = x < (at.x.range[0] + at.x.range[1]) / 2;
  var text = above ? point.mark + ' ↑ ' + show(point.y) : point.mark;
  // Below the name of another mark that is near.
  var line = Math.max(y - (right ? 12 : 8), at.y.range[1] + 4);
  at.names = at.names || [];
  at.names.forEach(function (name) {
    if (name.right === right && Math.abs(name.y - line) < 13) { line = name.y + 13; }
  });
  at.names.push({ right: right, y: line });
  at.texts = (at.texts || []).concat(svg('text', {
    class: 'point-name', x: right ? x - 7 : x - 10, y: line, 'text-anchor': right ? 'start' : 'end'
  }, text));
};
