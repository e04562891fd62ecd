"use strict";
(() => {
  const FONT_PATIENCE_MS = 5000;
  const REMARK_MS = 6000;
  const ARRIVAL_MS = 200;
  const page = document.getElementById("terminal");
  const ended = document.getElementById("ended");

  // Letters stay as large as the address of this page asked for.
  const size = new URLSearchParams(location.search).get("fontsize")?.replace(/[^0-9]/g, "") ?? null;
  function withSize(address) {
    return size === null ? address : address + (address.includes("?") ? "&" : "?") + "fontsize=" + size;
  }

  // The connection asks for what the address of this page leads to, and says why it ended.
  class Connection extends WebSocket {
    constructor(url) {
      const target = new URL(url, location.origin.replace(/^http/, "ws"));
      for (const [name, value] of new URLSearchParams(page.dataset.query)) target.searchParams.append(name, value);
      super(target.href);
      this.addEventListener("open", () => document.querySelector(".xterm-helper-textarea").focus());
      this.addEventListener("message", (event) => {
        if (typeof event.data !== "string") return;
        const [kind, told] = JSON.parse(event.data);
        if (kind !== "place") return;
        // Browsers take few new addresses in a second, and keys can be faster.
        clearTimeout(this.arriving);
        this.arriving = setTimeout(() => {
          history.replaceState(null, "", withSize(told.address));
          document.title = told.title;
        }, ARRIVAL_MS);
      });
      this.addEventListener("close", (event) => {
        document.body.classList.add("-closed");
        if (event.reason) ended.textContent = event.reason;
        else if (event.code === 1006) ended.textContent = "Session ended: riff-tui serve is gone, or no longer lets this page in.";
        document.getElementById("again").focus();
      });
    }

    // What is typed before the connection is open, or after its end, goes nowhere.
    send(data) {
      if (this.readyState === WebSocket.OPEN) super.send(data);
    }
  }
  window.WebSocket = Connection;

  // A click on what a caller said must lead nowhere; files that the explorer hands out are saved.
  window.open = (address) => {
    const url = new URL(address || "", location.href);
    if (url.origin === location.origin && url.pathname.startsWith("/download/")) {
      const link = document.createElement("a");
      link.href = url.href;
      link.download = "";
      link.click();
    }
    return null;
  };

  // Where the browser does not let a page write into the clipboard, that is said.
  const clipboard = navigator.clipboard;
  if (clipboard) {
    const write = clipboard.writeText.bind(clipboard);
    clipboard.writeText = (text) => write(text).catch(() => say("Your browser did not let riff-tui copy this."));
  }
  const remark = document.getElementById("remark");
  let forgotten = 0;
  function say(text) {
    remark.textContent = text;
    clearTimeout(forgotten);
    forgotten = setTimeout(() => (remark.textContent = ""), REMARK_MS);
  }

  document.getElementById("again").addEventListener("click", () => location.reload());

  // The terminal measures its font once, so it is built when the font is there.
  const styles = ["", "bold ", "italic ", "italic bold "];
  const fonts = Promise.all(styles.map((style) => document.fonts.load(style + '16px "Roboto Mono"', "m│·")));
  const late = new Promise((resolve) => setTimeout(resolve, FONT_PATIENCE_MS));
  Promise.race([fonts.then(() => document.fonts.ready), late])
    .catch(() => {})
    .then(() => {
      const script = document.createElement("script");
      script.src = "/static/js/textual.js";
      script.addEventListener("load", () => {
        const start = window.onload;
        window.onload = null;
        start(new Event("load"));
      });
      document.head.append(script);
    });
})();
