// The panel behind a number: its words, their pieces and their sentences, from the data of the page.
(function () {
  'use strict';
  const dialog = document.getElementById('behind');
  const source = document.getElementById('behind-data');
  if (!dialog || !source) return;
  const LINK = 'a[href^="#behind-"]';
  const OPEN = 3; // so many words at either end are open at first
  const [title, body] = [dialog.querySelector('h2'), dialog.querySelector('.behind-body')];
  let reading = null;
  let hash = '';

  const element = (name, look, ...parts) => pageData.made(name, look ? { className: look } : {},
    ...parts.map((part) => (typeof part === 'string' ? pageData.seen(part) : part)));

  function language(made, text) {
    if (/[\u0980-\u09ff]/.test(text)) made.lang = 'bn';
    else if (/[\u0900-\u097f]/.test(text)) made.lang = 'hi';
    return made;
  }

  const written = (name, look, text) => language(element(name, look, text), text);

  function signed(value, decimals) {
    if (value === null) return '–';
    const text = Math.abs(value).toFixed(decimals);
    return Number(text) === 0 ? text : (value < 0 ? '−' : '+') + text;
  }

  function facts(told) {
    const list = element('dl', 'behind-facts');
    for (const line of told.split('\n').slice(1)) {
      const [, name, value] = line.match(/^(.*?)(?:: | (?=[-+−<.\d–]))(.*)$/) || [line, '', line];
      list.append(element('div', '', element('dt', '', name), element('dd', '', value)));
    }
    return list;
  }

  function sentence(data, [text, begin, end, start, stop, file]) {
    const whole = data.texts[text];
    const [before, word, after] = [[begin, start], [start, stop], [stop, end]].map(
      ([from, to]) => whole.slice(from, to));
    const parts = stop > start ? [before, element('mark', '', word), after] : [whole.slice(begin, end)];
    const item = language(element('li', '', ...parts), whole);
    const named = data.sources[file];
    if (named) item.append(' ', written('cite', '', named));
    return item;
  }

  function wordsOf(data, estimate, roles, isOpen) {
    const pieces = data.pieces[estimate.model];
    const found = data.sentences[estimate.sentences] || {};
    const places = [...estimate.roles].flatMap((role, place) => (roles.includes(role) ? [place] : []));
    return places.map((place, n) => {
      const word = estimate.words[place];
      const gloss = data.glosses[word];
      const summary = element('summary', '',
        element('strong', '', written('span', '', data.words[word]), ' ', element('span', 'more', gloss)),
        element('span', 'of', estimate.sets['xyab'.indexOf(estimate.roles[place])]),
        element('span', '', 'association ', element('b', '', signed(estimate.associations[place], data.decimals))),
        element('span', '', 'effect without it ', element('b', '', signed(estimate.without[place], 3))));
      const made = element('details', 'behind-word', summary);
      made.dataset.place = place;
      if (pieces && pieces[word]) {
        made.append(element('p', '', 'The model reads ', ...pieces[word].split(' + ').map((piece) => written('span', 'piece', piece))));
      }
      const [measured, ...sentences] = found[word] || [0];
      if (sentences.length < measured) made.append(element('p', 'small', `The first ${sentences.length} of ${measured} sentences:`));
      if (sentences.length) made.append(element('ol', '', ...sentences.map((each) => sentence(data, each))));
      made.open = isOpen && (n < OPEN || n >= places.length - OPEN);
      return made;
    });
  }

  // a button, not a link: the address of this number must not change
  function goTo(place, word) {
    const button = element('button', 'go-to', written('strong', '', word));
    button.type = 'button';
    button.addEventListener('click', function () {
      const made = body.querySelector(`[data-place="${place}"]`);
      made.open = true;
      made.firstChild.focus();
      made.scrollIntoView({ block: 'center' });
    });
    return button;
  }

  function driving(data, estimate) {
    const moved = estimate.without.flatMap((without, place) => (without === null ? [] : [[Math.abs(without - estimate.effect), place]]));
    moved.sort(([first], [second]) => second - first);
    return moved.slice(0, OPEN).map(([, place]) => {
      const word = estimate.words[place];
      const gloss = data.glosses[word] ? `, ${data.glosses[word]}` : '';
      const set = estimate.sets['xyab'.indexOf(estimate.roles[place])];
      return element('li', '', goTo(place, data.words[word]), `${gloss} (${set}): ${signed(estimate.without[place], 3)} without it`);
    });
  }

  // the share of simulated studies that find a shift, against its size
  function curve([shifts, shares]) {
    const [width, height, left, below] = [320, 140, 40, 30];
    const at = (shift, share) => [left + (width - left - 10) * shift / shifts.at(-1), (height - below) * (1 - share) + 5];
    const points = shifts.map((shift, n) => at(shift, shares[n]).map((each) => each.toFixed(1)).join(','));
    const labels = [
      ...shifts.map((shift) => [at(shift, 0)[0], height - 12, 'middle', String(shift)]),
      ...[0, 0.5, 1].map((share) => [left - 6, at(0, share)[1] + 4, 'end', `${100 * share}%`]),
      [width, height, 'end', 'shift, SD'],
    ].map(([x, y, anchor, text]) => `<text x="${x}" y="${y}" text-anchor="${anchor}">${text}</text>`);
    const made = element('figure', 'behind-curve');
    made.innerHTML = `<svg viewBox="0 0 ${width} ${height + 4}" role="img" aria-label="Share of simulated studies that find`
      + ` each shift"><polyline points="${points.join(' ')}"/>${labels.join('')}</svg>`;
    return made;
  }

  function fill(data, estimate) {
    const [x, y, a, b] = estimate.sets;
    const view = element('a', '', `All of ${estimate.category}`);
    view.href = `#${estimate.view}`;
    title.textContent = pageData.seen(`${estimate.title}: ${estimate.told.split('\n', 1)[0]}`);
    const parts = [
      element('p', 'sets', `${x} and ${y}; ${a} and ${b}. `, view),
      facts(estimate.told),
    ];
    if (estimate.strength) parts.push(element('h3', '', 'What would have been found'), element('p', '', estimate.strength));
    if (estimate.curve) parts.push(curve(estimate.curve));
    if (estimate.words.length) {
      const moved = driving(data, estimate);
      if (moved.length) {
        parts.push(element('h3', '', 'The words that drive it'),
          element('p', '', `The effect size is ${signed(estimate.effect, 3)}. It changes most when one of these words is left out:`), element('ul', '', ...moved));
      }
      const found = data.sentences[estimate.sentences];
      const ofTargets = !found || estimate.words.some((word, place) => 'xy'.includes(estimate.roles[place]) && found[word]);
      if (!found) parts.push(element('p', 'small', data.why[estimate.method]));
      if (!ofTargets) {
        parts.push(element('p', 'small', 'The attribute words below have the sentences. Every target word was scored in each of them.'));
      }
      parts.push(
        element('h3', '', 'Target words'),
        element('p', 'small', `From the word most associated with ${a} down to the one most associated with ${b}.`),
        ...wordsOf(data, estimate, 'xy', ofTargets),
        element('h3', '', 'Attribute words'),
        element('p', 'small', `From the word most associated with ${x} down to the one most associated with ${y}.`),
        ...wordsOf(data, estimate, 'ab', !ofTargets));
    } else {
      parts.push(element('p', '', 'The associations of single words are missing, so this page cannot show the words behind this number.'));
    }
    body.replaceChildren(...parts);
  }

  // Opened by a click, the panel has an entry of its own in the history, so that Back closes it and stays in the view.
  async function open(address, ofClick) {
    try {
      const data = await (reading ??= pageData.of(source));
      const estimate = data.estimates[address];
      if (!estimate) return;
      fill(data, estimate);
    } catch (error) {
      title.textContent = 'Behind this number';
      body.replaceChildren(element('p', '', `This cannot be shown here: ${error.message}.`));
    }
    if (!dialog.open) {
      hash = location.hash;
      dialog.showModal();
      if (ofClick) history.pushState(null, '', `#${address}`);
    }
    dialog.scrollTop = 0;
    history.replaceState(null, '', `#${address}`);
  }

  const named = () => pageData.idOf(location.hash);
  const isBehind = () => named().startsWith('behind-');
  const follow = () => { if (isBehind()) open(named()); else dialog.close(); };

  document.addEventListener('click', function (event) {
    if (!(event.target instanceof Element)) return;
    const cell = event.target.closest('td'); // it is its link as a whole
    const link = event.target.closest(LINK) || (cell && cell.querySelector(LINK));
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    open(link.getAttribute('href').slice(1), true);
  }, true);
  dialog.addEventListener('click', function (event) {
    if (event.target.matches('a') || event.target === dialog) dialog.close();
  });
  dialog.querySelector('button').addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', function () {
    if (isBehind()) history.replaceState(null, '', hash || location.pathname + location.search);
  });
  window.addEventListener('hashchange', follow);
  follow();
}());
