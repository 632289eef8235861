/* Search without a server: on the first visit to the search box, load lunr and the index as scripts. Words are not stemmed,
   because the stemmer knows Latin letters only; a word also finds longer words that begin with it. Python comes last. */
addEventListener("DOMContentLoaded", () => {
  const box = document.getElementById("mkdocs-search-query");
  const list = document.getElementById("mkdocs-search-results");
  let index, ready;
  const load = (path) =>
    new Promise((resolve, reject) =>
      document.head.append(Object.assign(document.createElement("script"), { src: `${base_url}/${path}`, onload: resolve, onerror: reject })),
    );
  const build = () => {
    lunr.tokenizer.separator = /[\s\-.,;:!?()[\]{}"`|।॥/]+/;
    const builder = new lunr.Builder();
    builder.pipeline.add(lunr.stopWordFilter);
    builder.ref("location");
    builder.field("title", { boost: 8 });
    builder.field("text");
    for (const doc of searchIndex.docs) {
      doc.title = doc.title.replace(/<[^>]*>|&nbsp;/g, "");
      doc.text = doc.text.replaceAll("¶", "");
      builder.add(doc);
    }
    index = builder.build();
  };
  const show = () => {
    const found = index.query((query) => {
      for (const token of lunr.tokenizer(box.value)) {
        query.term(token, { boost: 10 });
        query.term(token, { wildcard: lunr.Query.wildcard.TRAILING });
      }
    });
    const about = (location) => searchIndex.docs.find((each) => each.location === location);
    const isPython = ({ ref }) => ref.startsWith("api/");
    found.sort((one, other) => isPython(one) - isPython(other));
    list.replaceChildren(...found.slice(0, 30).map(({ ref }) => {
      const { title, text } = about(ref);
      const page = about(ref.split("#")[0])?.title ?? title;
      const item = document.createElement("article");
      const head = page === title ? title : `${page} › ${title}`;
      const link = Object.assign(document.createElement("a"), { href: `${base_url}/${ref}`, textContent: head });
      const start = text.length > 160 ? `${text.slice(0, 160)}…` : text;
      item.append(link, Object.assign(document.createElement("p"), { textContent: start }));
      return item;
    }));
    if (box.value.trim() && !found.length) list.textContent = list.dataset.noResultsText;
  };
  box.form.addEventListener("submit", (event) => event.preventDefault());
  box.addEventListener("focus", () => (ready ??= load("assets/lunr.js").then(() => load("search/search_index.js")).then(build)));
  box.addEventListener("input", () => ready.then(show));
});

/* Bootstrap looks for headings by "#id", which is not a selector if the heading begins with a digit. */
const { querySelector } = Element.prototype;
Element.prototype.querySelector = function (selector) {
  return querySelector.call(this, /^#\d/.test(selector) ? `#${CSS.escape(selector.slice(1))}` : selector);
};
