// Long tables that sort, filter and turn pages. The table is in the page as it is; the library takes it over when it is
// first opened or comes into view.
(function () {
  'use strict';
  const { DataTable } = window;
  const tables = Array.from(document.querySelectorAll('table.explorable'));
  if (!DataTable) return;
  DataTable.ext.errMode = 'throw';

  // A number, or nothing: missing numbers come last in both directions.
  const ordered = (sign) => (a, b) => {
    if (a === null || b === null) return (a === null) - (b === null);
    return sign * (a - b);
  };
  const asItIs = (text) => text;
  DataTable.type('measure', { order: { pre: toNumber, asc: ordered(1), desc: ordered(-1) }, search: asItIs });
  // A name: a number in it counts as one, and a filter compares it to the letter, markup included.
  const { compare } = new Intl.Collator('en', { numeric: true });
  DataTable.type('label', { order: { pre: String, asc: compare, desc: (a, b) => compare(b, a) }, search: asItIs });

  function toNumber(text) {
    const number = parseFloat(String(text).replace(/[,<]/g, '').replace(/\u2212/g, '-'));
    return Number.isNaN(number) ? null : number;
  }

  const explored = new Map();

  // What a column is sorted and filtered by, from its head: `number`, `list` (few values, chosen from a list) or text.
  function column(head, index, cell) {
    const name = head.textContent.trim();
    const raw = Boolean(cell) && cell.hasAttribute('data-order');
    const definition = { targets: index, orderable: name !== '' };
    if (head.classList.contains('list')) definition.type = 'label';
    if (head.dataset.visible === 'false') definition.visible = false;
    if (raw || head.classList.contains('number')) definition.type = 'measure';
    let filter = { extend: 'searchText' };
    if (head.classList.contains('number')) {
      const source = index + (raw ? '.@data-order' : '.display');
      definition.data = { _: index + '.display', sort: source, type: source, filter: source };
      filter = { extend: 'searchNumber', excludeLogic: ['equal', 'notEqual'] };
    } else if (head.classList.contains('list')) {
      filter = { extend: 'searchList', ajaxOnly: false, search: false };
    }
    const content = { extend: 'dropdown', icon: 'search', iconActive: 'searchActive', text: 'Filter by ' + name, content: [filter] };
    definition.columnControl = name ? [content] : [];
    return definition;
  }

  // What a cell is found and filtered by: its text. The library would read on from "&" as markup, and then find nothing.
  function nameCells(table, index) {
    for (const { cells } of table.tBodies[0].rows) {
      cells[index].dataset.search = cells[index].textContent.trim().replace(/&/g, ' ');
    }
  }

  function explore(table) {
    if (explored.has(table)) return explored.get(table);
    const heads = Array.from(table.tHead.rows[0].cells);
    const first = table.tBodies[0] && table.tBodies[0].rows[0];
    heads.forEach((head, index) => head.classList.contains('list') && nameCells(table, index));
    const region = table.closest('.scroll');
    const tools = pageData.made('div', { className: 'tools' });
    // The library measures the table before it takes it over: nothing need be laid out for that.
    table.style.display = 'none';
    const api = new DataTable(table, {
      autoWidth: false,
      order: [],
      orderMulti: true,
      pageLength: 25,
      lengthMenu: [25, 100, { label: 'all', value: -1 }],
      columnDefs: heads.map((head, index) => column(head, index, first && first.cells[index])),
      layout: { topStart: 'search', topEnd: tools, bottomStart: ['pageLength', 'info'], bottomEnd: 'paging' },
      language: {
        search: 'Search',
        lengthMenu: '_MENU_ rows per page',
        info: '_START_ to _END_ of _TOTAL_',
        infoEmpty: 'no rows',
        infoFiltered: '(of _MAX_)',
        zeroRecords: 'No row fits the filters.',
      },
    });
    table.style.display = '';
    explored.set(table, api);
    // The controls stay where they are when the table scrolls sideways.
    if (region) {
      const inner = table.parentElement;
      for (const name of ['role', 'tabindex', 'aria-label', 'aria-labelledby']) {
        const value = region.getAttribute(name);
        if (value === null) continue;
        inner.setAttribute(name, value);
        region.removeAttribute(name);
      }
      inner.classList.add('sideways');
      region.classList.add('explored');
    }
    tools.append(everything(api), download(api));
    if (heads.some((head) => head.dataset.visible === 'false')) tools.append(choiceOfColumns(api));
    api.on('draw column-visibility', () => state(api));
    nameColumns(api);
    return api;
  }

  // Takes back every filter; there while there is one.
  function everything(api) {
    const button = pageData.made('button', { type: 'button', hidden: true }, 'Show all rows');
    button.addEventListener('click', function () {
      api.search('');
      api.columns().columnControl.searchClear();
      api.draw();
    });
    api.on('draw', () => { button.hidden = api.page.info().recordsDisplay === api.page.info().recordsTotal; });
    return button;
  }

  // The rows that the filters leave, as a file for spreadsheets, in which no text is taken for a formula.
  function download(api) {
    const link = pageData.made('a', { href: '#', download: 'rows.csv' }, 'Download these rows, CSV');
    const cell = (text) => '"' + text.trim().replace(/^(?=[=@\t\r]|[+-](?![\d.]))/, "'").replace(/"/g, '""') + '"';
    link.addEventListener('click', function () {
      const heads = api.columns().header().toArray().map((head) => cell(titleOf(head)));
      const texts = (row) => Array.from(row.cells, (one) => cell(one.textContent.replace(/\u2212/g, '-')));
      const rows = api.rows({ search: 'applied' }).nodes().toArray().map((row) => texts(row).join());
      link.href = URL.createObjectURL(new Blob(['\ufeff', [heads.join(), ...rows, ''].join('\r\n')], { type: 'text/csv' }));
    });
    return link;
  }

  function choiceOfColumns(api) {
    const list = pageData.made('div', {});
    api.columns().every(function (index) {
      const box = pageData.made('input', { type: 'checkbox', checked: this.visible() });
      box.addEventListener('change', () => api.column(index).visible(box.checked));
      list.append(pageData.made('label', {}, box, ' ' + titleOf(this.header())));
    });
    return pageData.made('details', { className: 'columns' }, pageData.made('summary', {}, 'Columns'), list);
  }

  const titleOf = (head) => (head.querySelector('.dt-column-title') || head).textContent.trim();

  // On a narrow screen a row is a card, and each cell names its column.
  function nameColumns(api) {
    const names = api.columns(':visible').header().toArray().map(titleOf);
    for (const { cells } of api.table().body().rows) {
      if (cells.length === names.length) names.forEach((name, n) => { cells[n].dataset.head = name; });
    }
  }

  // Which values of a list are chosen, for those who do not see the tick.
  function state(api) {
    nameColumns(api);
    for (const button of api.table().container().querySelectorAll('.dtcc-list-buttons button')) {
      button.setAttribute('aria-pressed', String(button.classList.contains('dtcc-button_active')));
    }
  }

  const observer = new IntersectionObserver(function (entries) {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      observer.unobserve(entry.target);
      explore(entry.target);
    }
  }, { rootMargin: '200px' });
  for (const table of tables) {
    const around = [];
    for (let fold = table.closest('details'); fold; fold = fold.parentElement.closest('details')) around.push(fold);
    if (around.every((fold) => fold.open)) observer.observe(table);
    for (const fold of around) {
      // Before it is opened, so that the whole of it is never laid out.
      const opens = () => around.every((other) => other === fold || other.open) && explore(table);
      fold.querySelector('summary').addEventListener('click', opens);
      fold.addEventListener('toggle', () => fold.open && opens());
    }
  }

  document.addEventListener('unpacked', (event) => event.target.querySelectorAll('table.explorable').forEach(explore));

  // Paper has no pages to turn.
  let lengths = [];
  window.addEventListener('beforeprint', function () {
    lengths = Array.from(explored.values(), (api) => [api, api.page.len()]);
    for (const [api] of lengths) api.page.len(-1).draw();
  });
  window.addEventListener('afterprint', function () {
    for (const [api, length] of lengths) api.page.len(length).draw();
    lengths = [];
  });
}());
