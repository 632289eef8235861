// Marks the section in view in the navigation, and opens what a link leads to.
(function () {
  'use strict';
  const idOf = function (hash) {
    try {
      return decodeURIComponent(hash.slice(1));
    } catch {
      return ''; // no address of ours
    }
  };
  const links = new Map();
  for (const link of document.querySelectorAll('nav a[href^="#"]')) {
    const section = document.getElementById(idOf(link.hash));
    if (section) links.set(section, link);
  }
  if (links.size && 'IntersectionObserver' in window) {
    // The page's first link leads to all of it; of the sections within it the last that has begun is the present one.
    const mark = function () {
      const sections = Array.from(links.keys());
      const line = window.innerHeight / 4;
      const present = sections.filter((section) => section.getBoundingClientRect().top <= line).pop() || sections[0];
      for (const [section, link] of links) {
        if (section !== present) link.removeAttribute('aria-current');
      }
      const link = links.get(present);
      if (link.getAttribute('aria-current')) return;
      link.setAttribute('aria-current', 'true');
      const list = link.closest('ul');
      if (list && list.scrollWidth > list.clientWidth) {
        list.scrollLeft += link.getBoundingClientRect().left - list.getBoundingClientRect().left - list.clientWidth / 3;
      }
    };
    const observer = new IntersectionObserver(mark, { rootMargin: '-25% 0px -74% 0px' });
    for (const section of links.keys()) observer.observe(section);
    // as many rows as the navigation has, so much of the window it covers
    const navigation = document.querySelector('body > nav');
    if (navigation && 'ResizeObserver' in window) {
      new ResizeObserver(function () {
        document.documentElement.style.scrollPaddingTop = navigation.offsetHeight + 8 + 'px';
      }).observe(navigation);
    }
  }

  function openTarget() {
    const target = document.getElementById(idOf(location.hash));
    const inside = target && target.closest('details');
    if (inside && !inside.open) {
      inside.open = true;
      target.scrollIntoView();
    }
  }
  window.addEventListener('hashchange', openTarget);
  openTarget();
}());
