// Data in the page for its scripts, plain or as gzip in base64.
const pageData = {
  // What is packed, as a response that is read as text or JSON.
  unpacked(text) {
    if (typeof DecompressionStream === 'undefined') throw new Error('this browser is too old to unpack them');
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')));
  },
  // The data of a script element.
  async of(source) {
    return source.dataset.kind === 'json' ? JSON.parse(source.textContent) : this.unpacked(source.textContent).json();
  },
  // The id in an address; none if it is no address of ours.
  idOf(hash) { try { return decodeURIComponent(hash.slice(1)); } catch { return ''; } },
  // An element with these properties and contents.
  made(name, properties, ...parts) {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...parts);
    return element;
  },
  // What turns the direction of text is shown, and turns nothing.
  seen: (text) => text.replace(/[\u202a-\u202e\u2066-\u2069]/g,
    (found) => `⟨U+${found.charCodeAt(0).toString(16).toUpperCase()}⟩`),
};
