// The entry point: draws the charts that the page has boxes for, and switches the theme.

(function () {
  var dark = window.matchMedia('(prefers-color-scheme: dark)');
  var root = document.documentElement;
  var button = document.getElementById('theme');
  var isDark = function () {
    var chosen = root.getAttribute('data-theme');
    return chosen ? chosen === 'dark' : dark.matches;
  };
  var changed = function () {
    button.textContent = isDark() ? words.light : words.dark;
    button.setAttribute('aria-pressed', String(isDark()));
    redraws.forEach(function (draw) { draw(); });
  };
  Array.prototype.forEach.call(document.querySelectorAll('.charts, .help'), function (node) { node.hidden = false; });
  var drawers = {
    curves: curves, heat: heat, spread: spread, course: course, compare: compare,
    requests: function (box) { return new Timeline(box); }
  };
  Object.keys(drawers).forEach(function (id) {
    var box = document.getElementById(id);
    if (box) { drawers[id](box); }
  });
  Array.prototype.forEach.call(document.querySelectorAll('table'), sortable);
  Array.prototype.forEach.call(document.querySelectorAll('.scroll'), tellsOfMore);
  button.hidden = false;
  button.addEventListener('click', function () {
    root.setAttribute('data-theme', isDark() ? 'light' : 'dark');
    changed();
  });
  dark.addEventListener('change', changed);
  window.matchMedia('print').addEventListener('change', changed);
  changed();
}());
