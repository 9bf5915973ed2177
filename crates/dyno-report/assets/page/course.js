// What happened over the time of each level, in two panes.

// Levels as they are switched on and off. At first those are on that `pick` chooses; invalid ones
// only where there are no others. `why` says so where some are off.
function levelEntries(has, pick, why) {
  var own = data.levels.map(function (level, i) { return i; }).filter(has);
  var valid = own.filter(function (i) { return data.levels[i].trust !== INVALID; });
  var from = valid.length ? valid : own;
  var on = pick(from);
  var hidden = from.length < own.length ? [words.invalidHidden] : [];
  if (on.length < from.length) { hidden.unshift(fill(why, [show(on.length), show(own.length)])); }
  return {
    why: hidden.join(' '),
    all: own.map(function (i, n) {
      return { level: i, name: data.levels[i].label, colour: colour(n, own.length), on: on.indexOf(i) >= 0 };
    })
  };
}

// Up to `most`, evenly spaced, with the first and the last.
function evenly(levels, most) {
  if (levels.length <= most) { return levels; }
  return levels.filter(function (level, n) {
    for (var i = 0; i < most; i++) {
      if (Math.floor(i * (levels.length - 1) / (most - 1)) === n) { return true; }
    }
    return false;
  });
}

// The level with the highest throughput. Levels may differ in length a hundredfold, so that several
// over one axis of time are often unreadable.
function busiest(levels) {
  var work = (metric('tokens') || metric('inputs') || metric('throughput') || { y: [] }).y;
  return levels.length ? [levels.reduce(function (best, i) { return known(work[i]) && !(work[i] <= work[best]) ? i : best; })] : [];
}

function allOrNone(entries, changed) {
  var all = function (on) {
    return function () {
      entries().forEach(function (entry) { entry.on = on; });
      changed();
    };
  };
  return [press(words.all, words.levelsShown + words.colon + words.all, all(true)),
    press(words.none, words.levelsShown + words.colon + words.none, all(false))];
}

// The names of levels, and why some are not shown at first.
function levelLegend(entries, changed) {
  return [entries.all.length > 1 ? legend(entries.all, changed) : null,
    entries.why ? el('p', { class: 'remark' }, entries.why) : null].filter(Boolean);
}

// More buckets than these show the steps of the engine rather than its course.
var STRETCHES = 60;

// Buckets put together, as [from, to) in their numbers.
function stretches(count) {
  var each = Math.max(1, Math.ceil(count / STRETCHES));
  var out = [];
  for (var from = 0; from + each <= count || from === 0; from += each) { out.push([from, Math.min(from + each, count)]); }
  return out;
}

// A metric over time, from the buckets of all levels. `perSecond`: a count that is divided by the
// length of its bucket.
function overBuckets(id, name, perSecond) {
  return {
    id: id, name: name, unit: name, xTitle: words.sinceStart, parts: [''],
    has: function (i) {
      var detail = data.details[i];
      return Boolean(detail && detail.completed.length > 1 && detail[id].some(function (value) { return known(value) && value > 0; }));
    },
    points: function (i) {
      var detail = data.details[i];
      return stretches(detail[id].length).map(function (ends) {
        var values = detail[id].slice(ends[0], ends[1]);
        var sum = values.every(known) ? values.reduce(function (a, b) { return a + b; }, 0) : null;
        // Requests in flight are counted at the end of a bucket; the rest is over all of it.
        return perSecond
          ? { x: (ends[0] + ends[1]) / 2 * detail.every, y: sum === null ? null : sum / (values.length * detail.every) }
          : { x: ends[1] * detail.every, y: values[values.length - 1] };
      });
    }
  };
}

// A metric over time, from the slices of ramps and soaks. `keys`: the values of its parts.
function overSlices(id, name, unit, parts, keys) {
  return {
    id: id, name: name, unit: unit ? name + ' (' + unit + ')' : name, xTitle: words.sinceMeasured, parts: parts, slices: true,
    has: function (i) {
      var slices = data.levels[i].slices;
      return Boolean(slices && slices.some(function (slice) { return known(slice[keys[0]]); }));
    },
    points: function (i, part) {
      return data.levels[i].slices.map(function (slice) {
        return { x: (slice.from + slice.to) / 2, y: slice[keys[part]] };
      });
    }
  };
}

function courseItems() {
  return [
    overSlices('rates', words.offeredAndCompleted, '', [words.offered, words.completed], ['offered', 'completed']),
    overSlices('ttft', words.ttft + ' p50 · p99', 'ms', ['p50', 'p99'], ['ttft50', 'ttft99']),
    overSlices('latency', words.latency + ' p50', 'ms', [''], ['latency50']),
    overBuckets('tokens', words.tokenRate, true),
    overBuckets('completed', words.completedRate, true),
    overBuckets('failed', words.failedRate, true),
    overBuckets('shed', words.shedRate, true),
    overBuckets('flight', words.flight, false)
  ].filter(function (item) {
    return data.levels.some(function (level, i) { return item.has(i); });
  });
}

function coursePane(box, items, entries, first) {
  var state = { item: first };
  var node = box.appendChild(el('div', { class: 'pane' }));
  var controls = node.appendChild(el('div', { class: 'controls' }));
  var plot = new Plot(node);
  var below = node.appendChild(el('div', {}));
  var hidden = {};
  var draw = function (keep) {
    var item = state.item;
    var series = [];
    entries.all.forEach(function (entry) {
      if (!entry.on || !item.has(entry.level)) { return; }
      item.parts.forEach(function (part, p) {
        // With one level, colours tell its parts from each other.
        var paint = entries.all.length > 1 ? entry.colour : colour(p, item.parts.length);
        var name = [entry.name, part].filter(Boolean).join(' ');
        series.push({
          name: name, part: part, colour: paint, dashed: entries.all.length > 1 && p > 0,
          points: item.points(entry.level, p).map(function (point) {
            return {
              x: point.x, y: point.y, trust: VALID,
              about: function () {
                return { title: name, rows: [[item.name, show(point.y)], [item.xTitle, show(point.x)]], remark: '' };
              }
            };
          })
        });
      });
    });
    var render = function (keepView) {
      plot.set({
        series: series.filter(function (one) { return !hidden[one.part]; }), xTitle: item.xTitle,
        yTitle: item.unit, logX: false, logY: false, fromZero: true, xFromZero: true, thin: true
      }, keepView);
    };
    empty(below);
    if (item.parts.length > 1) {
      var parts = item.parts.map(function (part, p) {
        return { name: part, colour: entries.all.length > 1 ? 'var(--soft)' : colour(p, item.parts.length), dashed: entries.all.length > 1 && p > 0, on: !hidden[part] };
      });
      below.appendChild(legend(parts, function () {
        parts.forEach(function (part) { hidden[part.name] = !part.on; });
        render(true);
      }));
    }
    render(keep);
  };
  put(controls, [
    picker(words.figure, [{ name: '', items: items }], state.item.id, function (id) {
      state.item = items.filter(function (one) { return one.id === id; })[0];
      hidden = {};
      draw(true);
    }),
    zoomButtons(plot)
  ]);
  draw(false);
  return function () { draw(true); };
}

function course(box) {
  var items = courseItems();
  if (!items.length) { return; }
  var has = function (i) { return items.some(function (item) { return item.has(i); }); };
  var entries = levelEntries(has, busiest, words.shownBusiest);
  var controls = box.appendChild(el('div', { class: 'controls' }));
  var panes = box.appendChild(el('div', { class: 'panes' }));
  var below = box.appendChild(el('div', {}));
  var by = function (ids) {
    return ids.map(function (id) { return items.filter(function (item) { return item.id === id; })[0]; }).filter(Boolean)[0] || items[0];
  };
  var first = by(['rates', 'tokens', 'completed']);
  var second = by(['ttft', 'flight', 'completed']);
  var draws = [coursePane(panes, items, entries, first)];
  if (second !== first) { draws.push(coursePane(panes, items, entries, second)); }
  var changed = function () { draws.forEach(function (draw) { draw(); }); };
  var list = function () { put(empty(below), levelLegend(entries, changed)); };
  if (entries.all.length > 1) {
    put(controls, allOrNone(function () { return entries.all; }, function () { list(); changed(); }));
  }
  list();
}
