/* The pairs browser: unpacks its data when it is opened, and hands rows to DataTables. */
(() => {
  'use strict';
  const root = document.getElementById('pair-browser');
  const source = document.getElementById('pair-browser-data');
  if (!root || !source || typeof DataTable === 'undefined') return;
  const progress = root.querySelector('.pair-progress');
  const form = root.querySelector('form');
  const field = form.elements;
  const ALL = 'all';
  const PREFERENCES = 3; // states below are preferences: stereotypical, other, tie; those from here on say why there is none
  const MISSING = '–';

  const painted = () => new Promise((done) => { requestAnimationFrame(() => setTimeout(done)); });
  const number = (value) => value.toLocaleString('en');
  const { seen } = pageData;

  function arrange(data) {
    const n = data.ids.length;
    const column = ({ values, names, codes }) => ({ values, names, codes: Uint16Array.from(codes) });
    const pairs = {
      n, texts: data.texts, decimals: data.decimals, ids: data.ids, marks: data.marks, sentences: [],
      set: column(data.set), language: column(data.language), type: column(data.type), label: column(data.label),
      states: data.states, reasons: data.reasons, models: data.models,
      first: new Int32Array(n), second: new Int32Array(n),
    };
    if (data.texts) {
      // sentences are sorted, and each is kept without what begins the one before it
      let before = '';
      pairs.sentences = data.sentences.map((rest, k) => (before = before.slice(0, data.shared[k]) + rest));
      for (let i = 0, at = 0; i < n; i++) {
        pairs.first[i] = at += data.steps[2 * i];
        pairs.second[i] = at + data.steps[2 * i + 1];
      }
    }
    return pairs;
  }

  /* Numbers of a model as arrays, in units of the last decimal; NaN where there is none. */
  function scoresOf(pairs, which) {
    const model = pairs.models[which];
    if (model.scores) return model.scores;
    const { n } = pairs;
    const read = (name) => model[name].split(' ');
    const columns = { first: read('first'), added: read('added'), rounding: read('rounding') };
    const [first, second, difference] = [0, 1, 2].map(() => new Float64Array(n));
    const state = new Uint8Array(n);
    for (let i = 0; i < n; i++) {
      const a = columns.first[i], added = columns.added[i], rounding = columns.rounding[i];
      first[i] = a === '' ? NaN : Number(a);
      second[i] = added === '' ? NaN : a === '' ? Number(added) : first[i] + Number(added);
      const towards = pairs.label.codes[i] === 0 ? 1 : -1;
      difference[i] = rounding === '' ? NaN : towards * (first[i] - second[i]) + Number(rounding);
      state[i] = difference[i] > 0 ? 0 : difference[i] < 0 ? 1 : 2;
    }
    for (let k = 0, at = 0; k < model.other_steps.length; k++) state[at += model.other_steps[k]] = model.other_states[k];
    for (const name of ['first', 'added', 'rounding', 'other_steps', 'other_states']) delete model[name];
    return model.scores = { first, second, difference, state };
  }

  /* A text as it is searched: NFC, small letters, one apostrophe, nothing that cannot be seen. */
  const UNSEEN = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/g;
  const APOSTROPHES = /[\u2018\u2019\u02bc\uff07]/g;
  const fold = (text) => text.normalize('NFC').toLowerCase().replace(UNSEEN, '').replace(APOSTROPHES, "'");

  function show(pairs) {
    const { n, decimals } = pairs;
    const unit = 10 ** decimals;
    const all = pairs.models.map((_, k) => k).filter((k) => !pairs.models[k].twin);
    let chosen = all[0];          // a model, or ALL
    let current = scoresOf(pairs, chosen);
    let sizes = null;             // the largest difference of each row without its sign, made when asked for
    let orders = new Map();       // rows in the orders that were asked for, for the model that is chosen
    let shown = [];               // rows that pass the filters, in order
    const folded = { ids: [], sentences: [] }; // as they are searched

    const text = (value, signed) => {
      if (Number.isNaN(value)) return MISSING;
      const shown = (Math.abs(value) / unit).toFixed(decimals);
      return (value < 0 ? '−' : value > 0 && signed ? '+' : '') + shown;
    };
    const inCsv = (value) => (Number.isNaN(value) ? '' : (value / unit).toFixed(decimals));
    const reason = (state) => pairs.reasons[pairs.states[state]] || pairs.states[state];
    const stateText = (state) => (state < PREFERENCES ? pairs.states[state] : `left out: ${reason(state)}`);
    function size(i) {
      if (!sizes) {
        sizes = new Float64Array(n).fill(NaN);
        for (const k of chosen === ALL ? all : [chosen]) {
          const { difference } = scoresOf(pairs, k);
          for (let row = 0; row < n; row++) {
            const value = Math.abs(difference[row]);
            if (value > sizes[row] || Number.isNaN(sizes[row])) sizes[row] = value;
          }
        }
      }
      return sizes[i];
    }

    function sentence(i, side) {
      const words = pairs.sentences[side ? pairs.second[i] : pairs.first[i]];
      const holder = document.createElement('div');
      if ((pairs.label.codes[i] === 0) === (side === 0)) {
        const flag = document.createElement('span');
        flag.className = 'pair-flag';
        flag.textContent = 'more stereotypical';
        holder.append(flag);
      }
      const isolated = document.createElement('bdi');
      isolated.lang = pairs.language.values[pairs.language.codes[i]];
      isolated.className = 'pair-sentence';
      let at = 0;
      const spans = pairs.marks[i].split('/')[side].split(' ').filter(Boolean).map(Number);
      for (let k = 0; k < spans.length; k += 2) {
        const mark = document.createElement('mark');
        mark.textContent = seen(words.slice(spans[k], spans[k] + spans[k + 1]));
        isolated.append(seen(words.slice(at, spans[k])), mark);
        at = spans[k] + spans[k + 1];
      }
      isolated.append(seen(words.slice(at)));
      holder.append(isolated);
      return holder;
    }

    /* Columns: what a cell shows of a row, and the number that the row is sorted by; NaN stands at the end. */
    const plain = (value) => document.createTextNode(value);
    const coded = (name, title) => ({
      name, title, visible: pairs[name].values.length > 1,
      cell: (i) => plain(pairs[name].names[pairs[name].codes[i]]), key: (i) => pairs[name].codes[i],
    });
    const score = (name, title, value, signed) => ({
      name, title, className: 'number', cell: (i) => plain(text(value(i), signed)), key: value,
    });
    const side = (name, title, which) => ({
      name, title, className: 'pair-text', cell: (i) => sentence(i, which), key: (i) => pairs[name][i],
    });
    const columns = [
      { name: 'id', title: 'Pair', cellType: 'th', className: 'pair-id', cell: (i) => plain(pairs.ids[i]), key: (i) => i },
      coded('set', 'Set'), coded('language', 'Language'), coded('type', 'Type'),
      { ...coded('label', 'Label'), visible: true },
      ...(pairs.texts ? [side('first', 'First sentence', 0), side('second', 'Second sentence', 1)] : []),
      score('score_first', 'Score of the first', (i) => current.first[i]),
      score('score_second', 'Score of the second', (i) => current.second[i]),
      score('difference', 'Difference', (i) => current.difference[i], true),
      { name: 'preferred', title: 'Preferred', cell: (i) => plain(stateText(current.state[i])), key: (i) => current.state[i] },
      { ...score('size', 'Size of the difference', size), visible: false },
      ...all.map((k) => ({
        ...score(`difference-${k}`, pairs.models[k].name, (i) => scoresOf(pairs, k).difference[i], true), visible: false,
      })),
    ];
    const place = Object.fromEntries(columns.map(({ name }, at) => [name, at]));
    const ofOne = ['score_first', 'score_second', 'difference', 'preferred'].map((name) => place[name]);
    const ofAll = all.map((k) => place[`difference-${k}`]);

    /* All rows in an order of DataTables, [{ column, dir }, ...]; rows that are alike stay in the order of the files. */
    function ordered(by) {
      const asked = by.map(({ column, dir }) => `${column} ${dir}`).join();
      if (!orders.has(asked)) {
        const keys = by.map(({ column, dir }) => {
          const { key } = columns[column];
          const values = new Float64Array(n);
          for (let i = 0; i < n; i++) {
            const value = key(i);
            values[i] = Number.isNaN(value) ? Infinity : dir === 'desc' ? -value : value;
          }
          return values;
        });
        const rows = new Uint32Array(n).map((_, i) => i);
        if (keys.length) {
          rows.sort((a, b) => {
            for (const values of keys) if (values[a] !== values[b]) return values[a] - values[b];
            return a - b;
          });
        }
        orders.set(asked, rows);
      }
      return orders.get(asked);
    }

    const element = root.querySelector('table');
    const head = element.createTHead().insertRow();
    for (const { title, className = '' } of columns) {
      const cell = document.createElement('th');
      cell.scope = 'col';
      cell.setAttribute('role', 'columnheader');
      cell.className = className;
      cell.textContent = title;
      head.append(cell);
    }
    // said outright, because on a narrow screen cells are laid out as blocks
    element.setAttribute('role', 'table');
    head.setAttribute('role', 'row');

    const option = (value, label) => new Option(label, value);
    const fill = (select, first, pairsOfOptions) => select.replaceChildren(option('', first), ...pairsOfOptions.map(([v, l]) => option(v, l)));
    for (const [name, first] of [['set', 'all sets'], ['language', 'all languages'], ['type', 'all types'], ['label', 'both labels']]) {
      fill(field[name], first, pairs[name].names.map((label, code) => [code, label]));
      field[name].parentElement.hidden = pairs[name].values.length < 2;
    }
    fill(field.preferred, 'any', [[0, 'the stereotypical sentence'], [1, 'the other sentence'], [2, 'neither: a tie']]);
    fill(field.left_out, 'all pairs', [['no', 'scored pairs only'], ['yes', 'left out only'],
      ...Object.entries(pairs.reasons).map(([state, why]) => [pairs.states.indexOf(state), why])]);
    const ORDERS = {
      size: ['Size of the difference, largest first', [place.size, 'desc']],
      stereotype: ['Difference, stereotype first', [place.difference, 'desc']],
      other: ['Difference, the other first', [place.difference, 'asc']],
      file: ['Order of the files', [place.id, 'asc']],
    };
    field.order.replaceChildren(...Object.entries(ORDERS).map(([value, [label]]) => option(value, label)), option('column', 'A column of the table'));
    const group = (label, which) => {
      const found = document.createElement('optgroup');
      found.label = label;
      found.append(...which.map((k) => option(k, pairs.models[k].name)));
      return found;
    };
    const twins = pairs.models.map((_, k) => k).filter((k) => pairs.models[k].twin);
    field.model.replaceChildren(group('Models', all));
    if (all.length > 1) field.model.append(option(ALL, 'All models: differences side by side'));
    if (twins.length) field.model.append(group('Random weights, for comparison', twins));

    let terms = [];
    const has = (i) => terms.every((term) => folded.ids[i].includes(term)
      || (pairs.texts && (folded.sentences[pairs.first[i]].includes(term) || folded.sentences[pairs.second[i]].includes(term))));
    const fits = (i) => {
      for (const [codes, code] of wanted) if (codes[i] !== code) return false;
      if (chosen !== ALL) {
        const state = current.state[i];
        if (preferred !== '' && state !== preferred) return false;
        if (leftOut === 'no' ? state >= PREFERENCES : leftOut === 'yes' ? state < PREFERENCES : leftOut !== '' && state !== leftOut) return false;
      }
      return !terms.length || has(i);
    };
    let wanted = [], preferred = '', leftOut = '';
    function foldMore(many) {
      for (const [from, to] of [[pairs.ids, folded.ids], [pairs.sentences, folded.sentences]]) {
        for (let left = many; left > 0 && to.length < from.length; left--) to.push(fold(from[to.length]));
      }
    }
    function foldInPieces() { // a search is quick if this was done before it
      foldMore(4000);
      if (folded.ids.length < n || folded.sentences.length < pairs.sentences.length) setTimeout(foldInPieces, 10);
    }
    function readForm() {
      wanted = ['set', 'language', 'type', 'label'].filter((name) => field[name].value !== '')
        .map((name) => [pairs[name].codes, Number(field[name].value)]);
      preferred = field.preferred.value === '' ? '' : Number(field.preferred.value);
      leftOut = /^\d+$/.test(field.left_out.value) ? Number(field.left_out.value) : field.left_out.value;
      terms = fold(field.search.value).split(/\s+/).filter(Boolean);
      if (terms.length) foldMore(Infinity);
      for (const name of ['preferred', 'left_out']) field[name].disabled = chosen === ALL;
    }

    readForm();
    const table = new DataTable(element, {
      // DataTables draws and pages; it asks for one page of rows at a time, as it would ask a server
      serverSide: true,
      ajax: ({ draw, start, length, order }, give) => {
        shown = ordered(order).filter(fits);
        describe();
        give({ draw, recordsTotal: n, recordsFiltered: shown.length, data: Array.from(shown.subarray(start, start + length), (i) => ({ i })) });
      },
      columns: columns.map(({ title, cell, key, ...column }) => ({
        ...column,
        data: ({ i }, type) => (type === 'display' ? cell(i) : ''),
        createdCell: (made) => {
          made.dataset.label = title;
          made.setAttribute('role', made.nodeName === 'TH' ? 'rowheader' : 'cell');
          if (made.nodeName === 'TH') made.scope = 'row';
        },
      })),
      createdRow: (row) => row.setAttribute('role', 'row'),
      order: [ORDERS.size[1]],
      searching: false,
      pageLength: 25,
      autoWidth: false,
      orderClasses: false,
      layout: { topStart: null, topEnd: null, bottomStart: 'info', bottomEnd: 'paging' },
      language: {
        info: 'Pairs _START_ to _END_ of _TOTAL_', infoEmpty: 'No pairs', infoFiltered: '(of _MAX_ in all)',
        zeroRecords: 'No pair fits all of these filters.', emptyTable: 'There are no pairs.',
      },
    });

    function describe() {
      const counts = new Array(pairs.states.length).fill(0);
      if (chosen !== ALL) for (const i of shown) counts[current.state[i]]++;
      const [stereotypical, other, ties] = counts;
      const scored = stereotypical + other;
      const gone = shown.length - scored - ties;
      const pairsOf = (k) => `${number(k)} pair${k === 1 ? '' : 's'}`;
      const name = chosen === ALL ? '' : pairs.models[chosen].name;
      root.querySelector('.pair-counts').textContent = chosen === ALL ? '' : `Of the ${pairsOf(shown.length)} that fit, ${name} prefers `
        + `the stereotypical sentence in ${number(stereotypical)}, the other in ${number(other)}`
        + `${scored ? ` (${(100 * stereotypical / scored).toFixed(1)} % stereotypical)` : ''}`
        + `; ${number(ties)} tie${ties === 1 ? '' : 's'}, ${number(gone)} left out.`;
      root.querySelector('caption').textContent = chosen === ALL
        ? 'Pairs with the difference of scores by each model'
        : `Pairs with their scores by ${name}${pairs.models[chosen].conventions.length ? ` (${pairs.models[chosen].conventions.join(', ')})` : ''}`;
    }

    function choose() {
      chosen = field.model.value === ALL ? ALL : Number(field.model.value);
      if (chosen !== ALL) current = scoresOf(pairs, chosen);
      sizes = null;
      orders = new Map();
      table.columns(ofOne).visible(chosen !== ALL, false);
      table.columns(ofAll).visible(chosen === ALL, false);
      for (const value of ['stereotype', 'other']) field.order.querySelector(`[value=${value}]`).disabled = chosen === ALL;
      const hidden = new Set(chosen === ALL ? ofOne : ofAll);
      if (table.order().some(([at]) => hidden.has(at))) table.order(ORDERS.size[1]);
      readForm();
      table.draw();
    }

    const filter = () => { readForm(); table.draw(); };
    form.addEventListener('submit', (event) => event.preventDefault());
    form.addEventListener('change', ({ target }) => {
      if (target === field.model) choose();
      else if (target === field.order) { if (ORDERS[target.value]) table.order(ORDERS[target.value][1]).draw(); }
      else if (target !== field.search) filter();
    });
    field.search.addEventListener('input', DataTable.util.debounce(filter, 200));
    form.addEventListener('reset', () => setTimeout(() => { table.order(ORDERS.size[1]); choose(); }));
    const holder = element.closest('.dt-layout-table');
    holder.classList.add('scroll');
    for (const [name, value] of [['role', 'region'], ['aria-labelledby', 'pair-browser-caption'], ['tabindex', '0']]) holder.setAttribute(name, value);
    for (const part of [element.tHead, ...element.tBodies]) part.setAttribute('role', 'rowgroup');
    table.on('draw', () => {
      const now = JSON.stringify(table.order());
      field.order.value = Object.keys(ORDERS).find((value) => JSON.stringify([ORDERS[value][1]]) === now) || 'column';
    });

    /* Spreadsheets take a text that begins like a formula for one; an apostrophe before it makes it a text. */
    const quoted = (value) => `"${(/^\s*[=+\-@\t\r\n＝＋－＠]/.test(value) ? `'${value}` : value).replaceAll('"', '""')}"`;
    field.download.addEventListener('click', () => {
      const which = chosen === ALL ? all : [chosen];
      const name = (k) => pairs.models[k].name;
      const header = ['set', 'pair_id', 'language', 'bias_type', 'label', ...(pairs.texts ? ['first', 'second'] : []),
        ...(chosen === ALL ? all.map((k) => `difference ${name(k)}`)
          : ['model', 'score_first', 'score_second', 'difference', 'preferred', 'left_out'])];
      const lines = Array.from(shown, (i) => {
        const value = (column) => pairs[column].values[pairs[column].codes[i]];
        const cells = [value('set'), pairs.ids[i], value('language'), value('type'), value('label'),
          ...(pairs.texts ? [pairs.sentences[pairs.first[i]], pairs.sentences[pairs.second[i]]] : [])].map(quoted);
        if (chosen === ALL) return [...cells, ...which.map((k) => inCsv(scoresOf(pairs, k).difference[i]))].join();
        const state = current.state[i];
        const kept = state < PREFERENCES;
        return [...cells, quoted(name(chosen)), inCsv(current.first[i]), inCsv(current.second[i]), inCsv(current.difference[i]),
          quoted(kept ? pairs.states[state] : ''), quoted(kept ? '' : pairs.states[state])].join();
      });
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob(['\ufeff', [header.map(quoted).join(), ...lines, ''].join('\r\n')], { type: 'text/csv' }));
      link.download = 'pairs.csv';
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    });

    field.order.value = 'size';
    setTimeout(foldInPieces, 300);
  }

  let started = false;
  async function open() {
    if (started || !root.open) return;
    started = true;
    try {
      progress.textContent = 'Unpacking the pairs …';
      await painted();
      const data = await pageData.of(source);
      source.remove();
      progress.textContent = `Arranging ${number(data.ids.length)} pairs …`;
      await painted();
      root.querySelector('.pair-view').hidden = false;
      show(arrange(data));
      progress.textContent = '';
    } catch (error) {
      root.querySelector('.pair-view').hidden = true;
      progress.textContent = `The pairs could not be shown (${error.message}). Their scores lie in the folder ${progress.dataset.where} of the study.`;
    }
  }
  root.addEventListener('toggle', open);
  open();
})();
