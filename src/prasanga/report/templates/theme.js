// Light or dark: as the system has it, or as the reader chose. Runs before the page is drawn.
(function () {
  'use strict';
  const CHOICES = ['system', 'light', 'dark'];
  const KEY = 'prasanga-colours';
  const root = document.documentElement;
  const system = window.matchMedia('(prefers-color-scheme: dark)');
  const rules = darkRules();
  let choice = remembered();
  let labels = [];

  // The style sheets ask the system; the same rules serve a choice by asking something else. Paper stays light.
  function darkRules() {
    const found = [];
    for (const sheet of document.styleSheets) {
      for (const rule of sheet.cssRules) {
        if (rule.media && rule.media.mediaText.includes('prefers-color-scheme: dark')) {
          found.push({ rule: rule, media: rule.media.mediaText });
        }
      }
    }
    return found;
  }

  // A page on disk may not be allowed to remember anything.
  function remembered() {
    try {
      const kept = window.localStorage.getItem(KEY);
      return CHOICES.includes(kept) ? kept : 'system';
    } catch (error) {
      return 'system';
    }
  }

  function remember() {
    try {
      window.localStorage.setItem(KEY, choice);
    } catch (error) {
      // The choice holds until the page is closed.
    }
  }

  function apply() {
    const media = { system: '(prefers-color-scheme: dark)', light: 'not all', dark: 'screen' }[choice];
    for (const { rule, media: original } of rules) {
      rule.media.mediaText = original.replace('(prefers-color-scheme: dark)', media);
    }
    const dark = choice === 'dark' || (choice === 'system' && system.matches);
    root.classList.toggle('dark', dark);
    root.style.colorScheme = choice === 'system' ? '' : choice;
  }

  function label(button) {
    button.textContent = labels[CHOICES.indexOf(choice)];
  }

  root.classList.add('scripts');
  apply();
  system.addEventListener('change', apply);

  document.addEventListener('DOMContentLoaded', function () {
    const place = document.querySelector('header');
    if (!place) return;
    labels = place.dataset.colours.split('|');
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'colours';
    label(button);
    button.addEventListener('click', function () {
      choice = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length];
      remember();
      apply();
      label(button);
    });
    place.append(button);
  });
}());
