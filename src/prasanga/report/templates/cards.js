// What a cell of a table, a point of a chart or a mark of a figure says of itself, as a card beside it: on hover, on keyboard
// focus (but of a figure's marks) and on touch. One card serves all. The text is the title, which stays where no script runs.
(function () {
  'use strict';
  const TABLES = ':is(.heat-table, .compared)';
  const WIDE = 48;
  const CELLS = `${TABLES} td:is([title], [data-card]), .chart a.point, figure svg g[data-text]`;
  if (!document.querySelector(`${TABLES}, .chart, figure svg g > title, [data-packed]`)) return;

  const card = document.createElement('div');
  card.id = 'card';
  card.className = 'card';
  card.setAttribute('role', 'tooltip');
  card.hidden = true;
  document.body.append(card);

  let cell = null;
  let timer = 0;

  // Lines are "label: value"; the first names the cell. A long value, or a line without a label, has the whole width.
  function fill(text) {
    const lines = text.split('\n');
    const title = document.createElement('strong');
    title.textContent = lines[0];
    const list = document.createElement('dl');
    for (const line of lines.slice(1)) {
      const at = line.indexOf(': ');
      const name = document.createElement('dt');
      const value = document.createElement('dd');
      name.textContent = at < 0 ? '' : line.slice(0, at);
      value.textContent = at < 0 ? line : line.slice(at + 2);
      if (at < 0 || value.textContent.length > WIDE) value.className = 'whole';
      if (at >= 0) list.append(name);
      list.append(value);
    }
    card.replaceChildren(title, list);
  }

  function show(next) {
    clearTimeout(timer);
    if (next === cell) return;
    hide();
    cell = next;
    // The browser would draw its own tooltip over the card; of a point it never does.
    if (!cell.dataset.text) {
      cell.dataset.card = cell.title;
      cell.removeAttribute('title');
    }
    cell.setAttribute('aria-describedby', card.id);
    fill(cell.dataset.text || cell.dataset.card);
    card.hidden = false;
    place();
  }

  // Below its cell, or above where there is no room, and never beyond an edge of the window.
  function place() {
    if (!cell) return;
    const [at, own] = [cell.getBoundingClientRect(), card.getBoundingClientRect()];
    const top = at.bottom + own.height + 14 > window.innerHeight ? at.top - own.height - 6 : at.bottom + 6;
    const left = Math.min(at.left + (at.width - own.width) / 2, window.innerWidth - own.width - 8);
    card.style.left = `${Math.max(8, left)}px`;
    card.style.top = `${Math.max(8, Math.min(top, window.innerHeight - own.height - 8))}px`;
  }
  for (const event of ['scroll', 'resize']) window.addEventListener(event, place, true);

  function hide() {
    clearTimeout(timer);
    if (!cell) return;
    card.hidden = true;
    if (!cell.dataset.text) {
      cell.title = cell.dataset.card;
      delete cell.dataset.card;
    }
    cell.removeAttribute('aria-describedby');
    cell = null;
  }

  function soon(what, milliseconds) {
    clearTimeout(timer);
    timer = setTimeout(what, milliseconds);
  }

  function cellOf(target) {
    return target instanceof Element ? target.closest(CELLS) : null;
  }

  document.addEventListener('pointerover', function (event) {
    if (event.pointerType === 'touch') return;
    const over = cellOf(event.target);
    if (over) soon(() => show(over), cell ? 40 : 100);
    else if (card.contains(event.target)) clearTimeout(timer);
    else if (cell && document.activeElement !== cell) soon(hide, 200);
    else clearTimeout(timer);
  });
  // A finger goes down on the cell and, if the card comes up beneath it, would leave from the card.
  document.addEventListener('pointerdown', function (event) {
    card.style.pointerEvents = event.pointerType === 'touch' ? 'none' : '';
  });
  document.addEventListener('click', function (event) {
    const on = cellOf(event.target);
    if (on) show(on);
    else if (!card.contains(event.target)) hide();
  });
  document.addEventListener('focusin', function (event) {
    const on = cellOf(event.target);
    if (on) show(on);
    else hide();
  });
  document.addEventListener('focusout', function (event) {
    if (event.target === cell && !event.relatedTarget) soon(hide, 200);
  });
  document.addEventListener('keydown', function (event) {
    if (event.key === 'Escape' && cell) {
      hide();
      event.preventDefault();
    }
  });

  // One cell of each table is reached by Tab; from there the arrow keys, Home and End move on.
  function prepare(within) {
    for (const table of within.querySelectorAll(TABLES)) {
      const first = table.querySelector('td[title]');
      if (first) first.tabIndex = 0;
      for (const link of table.querySelectorAll('td[title] a.behind')) link.tabIndex = -1;
      table.addEventListener('keydown', function (event) {
        const from = cellOf(event.target);
        if (!from || event.altKey || event.metaKey || event.shiftKey) return;
        if (event.key === 'Enter') from.querySelector('a.behind')?.click();
        const to = neighbour(table, from, event.key, event.ctrlKey);
        if (to === undefined) return;
        event.preventDefault();
        if (to) move(table, to);
      });
      table.addEventListener('click', function (event) {
        const on = cellOf(event.target);
        if (on) move(table, on);
      });
    }
  }
  prepare(document);

  // A panel of a chart is one stop for Tab; the arrow keys go from point to point.
  for (const panel of document.querySelectorAll('.chart svg')) {
    const points = Array.from(panel.querySelectorAll('a.point'));
    points.forEach(function (point, n) {
      const title = point.querySelector('title');
      point.dataset.text = title.textContent;
      point.setAttribute('aria-label', title.textContent.split('\n', 2).join(', '));
      point.setAttribute('tabindex', n ? '-1' : '0');
      title.remove();
    });
    panel.addEventListener('keydown', function (event) {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const there = points.filter((point) => point.checkVisibility());
      const next = there[there.indexOf(document.activeElement) + step];
      if (next) next.focus();
    });
  }
  for (const title of document.querySelectorAll('figure svg g > title')) {
    title.parentElement.dataset.text = title.textContent;
    title.remove();
  }
  document.addEventListener('unpacked', (event) => prepare(event.target));

  // The cell to go to; nothing at an edge, undefined where the key means something else.
  function neighbour(table, from, key, all) {
    const rows = Array.from(table.rows, (row) => Array.from(row.cells).filter((cell) => cell.matches(CELLS)))
      .filter((cells) => cells.length);
    const down = rows.findIndex((cells) => cells.includes(from));
    const across = rows[down].indexOf(from);
    const below = (step) => (rows[down + step] || []).find((cell) => cell.cellIndex >= from.cellIndex) || null;
    if (key === 'Home') return rows[all ? 0 : down][0];
    if (key === 'End') return rows.at(all ? -1 : down).at(-1);
    if (all) return undefined;
    return {
      ArrowRight: rows[down][across + 1] || null, ArrowLeft: rows[down][across - 1] || null,
      ArrowDown: below(1), ArrowUp: below(-1),
    }[key];
  }

  function move(table, to) {
    for (const other of table.querySelectorAll('td[tabindex="0"]')) other.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  }
}());
