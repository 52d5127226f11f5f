// The search runs in a worker, and browsers start no worker for a page that is opened as a file. There, it runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    #waiting = []; // Messages from before the script is loaded; null after that.
    #frame;

    constructor(url) {
      super();
      const element = document.createElement("iframe");
      element.hidden = true;
      document.documentElement.append(element);
      element.contentDocument.open();
      element.contentDocument.write("<body></body>");
      element.contentDocument.close();
      this.#frame = element.contentWindow;
      this.#frame.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = this.#frame.document.createElement("script");
      script.src = new URL(url, document.baseURI);
      script.onload = () => {
        const waiting = this.#waiting;
        this.#waiting = null;
        waiting.forEach((data) => this.postMessage(data));
      };
      this.#frame.document.body.append(script);
    }

    postMessage(data) {
      if (this.#waiting) this.#waiting.push(data);
      else this.#frame.dispatchEvent(new MessageEvent("message", { data }));
    }
  };
}
