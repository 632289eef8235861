// Marks the view in sight in the navigation, and opens what a link leads to.
(function () {
  'use strict';
  const views = Array.from(document.querySelectorAll('.view'));
  const navigation = document.getElementById('navigation');
  let then = '';

  function open(target) {
    for (let around = target.closest('details'); around; around = around.parentElement.closest('details')) around.open = true;
    target.scrollIntoView();
  }

  function follow() {
    const target = document.getElementById(pageData.idOf(location.hash));
    const view = (target && target.closest('.view')) || views[0];
    for (const link of navigation.querySelectorAll('a')) {
      if (view && pageData.idOf(link.hash) === view.dataset.entry) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    }
    const tab = view && view.querySelector('.tabs [aria-current]');
    if (tab) tab.closest('ul').scrollTo(tab.offsetLeft - 40, tab.offsetTop - 40);
    if (target && target !== view) open(document.getElementById(then) || target);
  }

  // A link may lead on to a packed part of its target, which is there once it is unpacked.
  document.addEventListener('click', function (event) {
    const link = event.target instanceof Element && event.target.closest('a[href^="#"]');
    if (!link) return;
    then = link.dataset.then || '';
    if (navigation.matches(':popover-open')) navigation.hidePopover();
    if (link.classList.contains('skip')) {
      event.preventDefault(); // the view stays
      document.getElementById('main').focus();
    } else if (link.hash === location.hash) follow();
  });
  document.addEventListener('unpacked', function () {
    const within = then && document.getElementById(then);
    if (within) open(within);
  });
  window.addEventListener('hashchange', follow);
  follow();
}());
