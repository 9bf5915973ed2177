// Reading values and zooming, by pointer and by keyboard.

// The points that can be selected, series by series.
Plot.prototype.targets = function () {
  var picture = this.picture;
  var x = this.at.x;
  return picture.series.map(function (one) {
    return one.points.filter(function (point) { return placed(point, picture) && x.holds(point.x); });
  });
};

Plot.prototype.nearest = function (px, py) {
  var at = this.at;
  var best = null;
  var least = Infinity;
  this.targets().forEach(function (points, s) {
    points.forEach(function (point, i) {
      var dx = at.x.at(point.x) - px;
      var dy = Math.max(at.y.at(point.y), at.y.range[1]) - py;
      // Vertical distance counts less: people point along the axis.
      var away = dx * dx + dy * dy * 0.2;
      if (away < least) {
        least = away;
        best = { s: s, i: i };
      }
    });
  });
  return best;
};

// Shows the values at a place, or none.
Plot.prototype.point = function (cursor, say) {
  this.cursor = cursor;
  empty(this.over);
  var found = cursor && (this.targets()[cursor.s] || [])[cursor.i];
  if (!found) {
    this.cursor = null;
    this.tip.hide();
    return;
  }
  var x = this.at.x.at(found.x);
  var y = Math.max(this.at.y.at(found.y), this.at.y.range[1]);
  put(this.over, [
    svg('line', { class: 'hair', x1: x, x2: x, y1: this.at.y.range[1], y2: this.at.y.range[0] }),
    svg('circle', { class: 'ring', cx: x, cy: y, r: 7 })
  ]);
  var about = found.about();
  this.tip.show(x, y, about);
  if (say) { aloud(spoken(about)); }
};

Plot.prototype.move = function (along, across) {
  var all = this.targets();
  var filled = all.map(function (points, s) { return points.length ? s : -1; }).filter(function (s) { return s >= 0; });
  if (!filled.length) { return; }
  var cursor = this.cursor;
  if (!cursor || !all[cursor.s] || !all[cursor.s].length) {
    this.point({ s: filled[0], i: along === -Infinity ? 0 : along < 0 || along === Infinity ? all[filled[0]].length - 1 : 0 }, true);
    return;
  }
  var now = all[cursor.s][cursor.i];
  if (across) {
    var s = filled[(filled.indexOf(cursor.s) + across + filled.length) % filled.length];
    var at = this.at;
    var best = 0;
    all[s].forEach(function (point, i) {
      if (Math.abs(at.x.at(point.x) - at.x.at(now.x)) < Math.abs(at.x.at(all[s][best].x) - at.x.at(now.x))) { best = i; }
    });
    this.point({ s: s, i: best }, true);
    return;
  }
  var last = all[cursor.s].length - 1;
  this.point({ s: cursor.s, i: Math.max(0, Math.min(last, cursor.i + along)) }, true);
};

Plot.prototype.zoomTo = function (from, to) {
  var whole = new Scale(this.whole(), [0, 1], this.picture.logX);
  var low = Math.max(whole.domain[0], Math.min(from, to));
  var high = Math.min(whole.domain[1], Math.max(from, to));
  if (!(whole.at(high) - whole.at(low) > 1e-4)) { return; }
  this.view = whole.at(low) < 1e-6 && whole.at(high) > 1 - 1e-6 ? null : [low, high];
  this.cursor = null;
  this.draw();
};

// Shows this share of the current view, around the selected point or the middle.
Plot.prototype.zoomBy = function (share) {
  var now = new Scale(this.view || this.whole(), [0, 1], this.picture.logX);
  var target = this.cursor && this.targets()[this.cursor.s][this.cursor.i];
  var middle = target ? now.at(target.x) : 0.5;
  this.zoomTo(now.back(middle - middle * share), now.back(middle + (1 - middle) * share));
};

Plot.prototype.reset = function () {
  this.view = null;
  this.cursor = null;
  this.draw();
};

Plot.prototype.listen = function () {
  var plot = this;
  var start = null;
  var inside = function (event) {
    var box = plot.box.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  var held = function (x) { return Math.max(plot.at.x.range[0], Math.min(plot.at.x.range[1], x)); };
  this.box.addEventListener('pointerdown', function (event) {
    if (event.button === 0 && event.pointerType !== 'touch') {
      start = held(inside(event)[0]);
      plot.box.setPointerCapture(event.pointerId);
    }
  });
  this.box.addEventListener('pointermove', function (event) {
    if (!plot.at) { return; }
    var place = inside(event);
    if (start !== null && Math.abs(place[0] - start) > 4) {
      var to = held(place[0]);
      plot.point(null, false);
      put(plot.over, svg('rect', {
        class: 'brush', x: Math.min(start, to), width: Math.abs(to - start),
        y: plot.at.y.range[1], height: plot.at.y.range[0] - plot.at.y.range[1]
      }));
      return;
    }
    plot.point(plot.nearest(place[0], place[1]), false);
  });
  this.box.addEventListener('pointerup', function (event) {
    var from = start;
    start = null;
    var to = held(inside(event)[0]);
    if (from !== null && Math.abs(to - from) > 8) {
      plot.zoomTo(plot.at.x.back(from), plot.at.x.back(to));
    } else {
      plot.point(plot.nearest.apply(plot, inside(event)), true);
    }
  });
  this.box.addEventListener('pointerleave', function () {
    if (start === null && plot.over) { plot.point(null, false); }
  });
  this.box.addEventListener('dblclick', function () { plot.reset(); });
  this.box.addEventListener('keydown', function (event) {
    var keys = {
      ArrowRight: function () { plot.move(1, 0); },
      ArrowLeft: function () { plot.move(-1, 0); },
      ArrowUp: function () { plot.move(0, -1); },
      ArrowDown: function () { plot.move(0, 1); },
      Home: function () { plot.move(-Infinity, 0); },
      End: function () { plot.move(Infinity, 0); },
      Escape: function () { plot.point(null, false); },
      '+': function () { plot.zoomBy(0.5); },
      '=': function () { plot.zoomBy(0.5); },
      '-': function () { plot.zoomBy(2); },
      '0': function () { plot.reset(); }
    };
    if (keys[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      keys[event.key]();
    }
  });
};
