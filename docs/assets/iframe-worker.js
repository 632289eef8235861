/* A page that was opened from disk may not start a worker. Search needs one, so a hidden frame of the same page plays it:
   it has a window of its own, gets messages, and sends messages back. Elsewhere nothing is changed. */
if (location.protocol === "file:" && typeof IFrameWorker === "undefined") {
  window.IFrameWorker = class extends EventTarget {
    constructor(address) {
      super();
      const waiting = [];
      let ready = false;
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "search";
      document.documentElement.append(frame);
      const inside = frame.contentWindow;
      const deliver = (data) => inside.dispatchEvent(new MessageEvent("message", { data }));
      const load = (source) =>
        new Promise((resolve, reject) => {
          const script = inside.document.createElement("script");
          script.src = source;
          script.onload = resolve;
          script.onerror = () => reject(new Error(`${source} cannot be read`));
          inside.document.body.append(script);
        });
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...sources) => sources.reduce((before, source) => before.then(() => load(source)), Promise.resolve());
      this.postMessage = (data) => (ready ? deliver(data) : waiting.push(data));
      this.terminate = () => frame.remove();
      load(new URL(address, location.href).href).then(() => {
        ready = true;
        waiting.splice(0).forEach(deliver);
      });
    }
  };
  window.Worker = window.IFrameWorker;
}
