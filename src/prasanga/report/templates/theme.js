// Light or dark: as the system has it, or as the reader chose. Runs before the page is drawn.
(function () {
  'use strict';
  const CHOICES = ['system', 'light', 'dark'];
  const KEY = 'prasanga-colours';
  const root = document.documentElement;
  const system = window.matchMedia('(prefers-color-scheme: dark)');
  let choice = 'system';
  try {
    const kept = window.localStorage.getItem(KEY);
    if (CHOICES.includes(kept)) choice = kept;
  } catch {
    // A page on disk may not be allowed to remember anything: a choice then holds until the page is closed.
  }

  // The style sheets ask for the scheme (`light-dark`), the style sheet of tables for a class.
  function apply() {
    root.style.colorScheme = choice === 'system' ? '' : choice;
    root.classList.toggle('dark', choice === 'dark' || (choice === 'system' && system.matches));
  }

  apply();
  system.addEventListener('change', apply);

  document.addEventListener('DOMContentLoaded', function () {
    const place = document.querySelector('header');
    const labels = place.dataset.colours.split('|');
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'colours';
    button.textContent = labels[CHOICES.indexOf(choice)];
    button.addEventListener('click', function () {
      choice = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length];
      try { window.localStorage.setItem(KEY, choice); } catch { /* as above */ }
      apply();
      button.textContent = labels[CHOICES.indexOf(choice)];
    });
    place.append(button);
  });
}());
