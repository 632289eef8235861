// Packed parts of the page: `data-packed` is put into its place when its <details> is opened.
(function () {
  'use strict';

  async function unpack(place) {
    const packed = place.dataset.packed;
    delete place.dataset.packed;
    try {
      place.innerHTML = await pageData.unpacked(packed).text();
    } catch (error) {
      place.textContent = 'This browser cannot unpack this part of the page; a newer one can.';
    }
    place.removeAttribute('aria-busy');
    place.dispatchEvent(new Event('unpacked', { bubbles: true }));
  }

  for (const place of document.querySelectorAll('[data-packed]')) {
    const details = place.closest('details');
    const open = () => { if (details.open && 'packed' in place.dataset) unpack(place); };
    details.addEventListener('toggle', open);
    open();
  }
})();
