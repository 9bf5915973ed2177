// Tables that are sorted by a click on a column's head.

// The number that a cell starts with, past marks such as `~` and `≈`; null where there is none.
function cellNumber(text) {
  var found = text.replace(/,/g, '').match(/-?\d+(\.\d+)?/);
  return found ? Number(found[0]) : null;
}

// Numbers before texts, texts as people read them; a cell without a value is always last.
function compareCells(a, b, down) {
  var empty = function (text) { return text === '–' || text === ''; };
  if (empty(a) || empty(b)) { return empty(a) - empty(b); }
  var numbers = [cellNumber(a), cellNumber(b)];
  var isNumber = /^[~!≈]?-?[\d.,]+/;
  var order = isNumber.test(a) && isNumber.test(b) ? numbers[0] - numbers[1]
    : a.localeCompare(b, undefined, { numeric: true });
  return down ? -order : order;
}

// Heads that name a column with `data-column` become buttons: up, down, and as it was.
function sortable(table) {
  var heads = Array.prototype.slice.call(table.querySelectorAll('thead th[data-column]'));
  var body = table.tBodies[0];
  if (!body || body.rows.length < 2) { return; }
  var original = Array.prototype.slice.call(body.rows);
  var sort = function (head, order) {
    var column = Number(head.getAttribute('data-column'));
    var text = function (row) { return row.cells[column].textContent.trim(); };
    var rows = original.slice();
    if (order !== 'none') {
      // Equal rows keep their order: a sort of the browser is stable.
      rows.sort(function (a, b) { return compareCells(text(a), text(b), order === 'descending'); });
    }
    heads.forEach(function (one) { one.removeAttribute('aria-sort'); });
    if (order !== 'none') { head.setAttribute('aria-sort', order); }
    rows.forEach(function (row) { body.appendChild(row); });
  };
  heads.forEach(function (head) {
    var button = el('button', { type: 'button', class: 'sort', title: words.sort }, head.textContent);
    put(empty(head), button);
    button.addEventListener('click', function () {
      var next = { ascending: 'descending', descending: 'none' }[head.getAttribute('aria-sort')] || 'ascending';
      sort(head, next);
    });
  });
}
