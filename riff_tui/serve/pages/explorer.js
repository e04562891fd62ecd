"use strict";
(() => {
  const FONT_PATIENCE_MS = 5000;
  const page = document.getElementById("terminal");
  const ended = document.getElementById("ended");

  // The connection asks for what the address of this page leads to, and says why it ended.
  class Connection extends WebSocket {
    constructor(url) {
      const target = new URL(url, location.origin.replace(/^http/, "ws"));
      for (const [name, value] of new URLSearchParams(page.dataset.query)) target.searchParams.append(name, value);
      super(target.href);
      this.addEventListener("close", (event) => {
        document.body.classList.add("-closed");
        if (event.reason) ended.textContent = event.reason;
        else if (event.code === 1006) ended.textContent = "Session ended: riff-tui serve is gone, or has no room for it.";
        document.getElementById("again").focus();
      });
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
        document.querySelector(".xterm-helper-textarea").focus();
      });
      document.head.append(script);
    });
})();
