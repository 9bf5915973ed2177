// From values to pixels and back, linear or logarithmic, and where the ticks are. This mirrors the
// rules of the crate dyno-chart (scale.rs, the density of a page), because ticks depend on the zoom and
// cannot be computed ahead. The test page/scales.rs compares the two.

function Scale(domain, range, log) {
  this.domain = domain;
  this.range = range;
  this.log = log;
}

Scale.prototype.bend = function (value) {
  return this.log ? Math.log10(value) : value;
};

Scale.prototype.at = function (value) {
  var from = this.bend(this.domain[0]);
  var to = this.bend(this.domain[1]);
  return this.range[0] + (this.bend(value) - from) / (to - from) * (this.range[1] - this.range[0]);
};

Scale.prototype.back = function (pixel) {
  var from = this.bend(this.domain[0]);
  var to = this.bend(this.domain[1]);
  var value = from + (pixel - this.range[0]) / (this.range[1] - this.range[0]) * (to - from);
  return this.log ? Math.pow(10, value) : value;
};

Scale.prototype.holds = function (value) {
  var slack = (this.bend(this.domain[1]) - this.bend(this.domain[0])) * 1e-9;
  return known(value) && (!this.log || value > 0) &&
    this.bend(value) >= this.bend(this.domain[0]) - slack &&
    this.bend(value) <= this.bend(this.domain[1]) + slack;
};

function step(span, count) {
  var raw = span / Math.max(count, 1);
  var power = Math.pow(10, Math.floor(Math.log10(raw)));
  var rest = raw / power;
  var fits = function (factor) { return factor >= rest * (1 - 1e-9); };
  return power * ([1, 2, 5].filter(fits)[0] || 10);
}

// Round values; of logarithms 1, 2, 5 of each power as far as there is room.
Scale.prototype.ticks = function (count) {
  var low = this.domain[0];
  var high = this.domain[1];
  var out = [];
  if (!this.log || high / low < 4) {
    var by = step(high - low, count);
    for (var i = Math.ceil(low / by - 1e-9); i * by <= high + by * 1e-9 && out.length < 50; i++) {
      out.push(Number((i * by).toPrecision(12)));
    }
    return out;
  }
  var powers = Math.log10(high / low);
  var parts = powers * 3 <= count + 1 ? [1, 2, 5] : powers * 2 <= count + 1 ? [1, 3] : [1];
  var every = parts.length > 1 ? 1 : Math.ceil(powers / Math.max(count, 1));
  for (var power = Math.floor(Math.log10(low)); power <= Math.log10(high) + 1e-9; power += every) {
    parts.forEach(function (part) {
      var value = Number((part * Math.pow(10, power)).toPrecision(12));
      if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) { out.push(value); }
    });
  }
  return out;
};

// The ends of an axis that shows these values with some room around them.
function reach(values, log, fromZero) {
  var kept = values.filter(function (value) { return known(value) && (!log || value > 0); });
  if (!kept.length) { return log ? [1, 10] : [0, 1]; }
  var low = Infinity;
  var high = -Infinity;
  kept.forEach(function (value) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  });
  if (log) {
    var room = low === high ? 2 : Math.pow(high / low, 0.06);
    return [low / room, high * room];
  }
  if (fromZero && low >= 0) { return [0, high > 0 ? high * 1.08 : 1]; }
  var pad = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
  return [low - pad, high + pad];
}

// Thousands as everywhere on the page; millions are shortened from ten on.
function tickName(value) {
  if (Math.abs(value) >= 1e7) { return Number((value / 1e6).toPrecision(4)).toLocaleString('en-US') + 'M'; }
  return value.toLocaleString('en-US', { maximumSignificantDigits: 6 });
}
