"use strict";
(() => {
  // The server writes the texts in the language of the user.
  const texts = TEXTS;
  const prefix = document.currentScript.dataset.prefix;
  // The user's own form of the language, such as en-GB, if there is one.
  const language = navigator.languages.find((one) => one.split("-")[0] === texts.language.split("-")[0]) || texts.language;
  // The server does not know the time zone of the browser, so it writes times in UTC.
  for (const time of document.querySelectorAll("time[datetime]")) {
    time.title = time.textContent;
    time.textContent = new Date(time.dateTime).toLocaleString(language, { dateStyle: "medium", timeStyle: "short" });
  }
  if (!window.EventSource) return;
  let notice = null;
  let countdown = null;
  let hasEnded = false;
  const hide = () => {
    clearInterval(countdown);
    if (notice) { notice.remove(); notice = null; }
  };
  const show = (text, action) => {
    hide();
    notice = document.createElement("div");
    notice.id = "session-notice";
    notice.className = "notice";
    notice.setAttribute("role", "alert");
    notice.append(text);
    if (action) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = action.label;
      button.addEventListener("click", action.run);
      notice.append(button);
    }
    document.body.append(notice);
  };
  const finish = (cause) => {
    if (hasEnded) return;
    hasEnded = true;
    events.close();
    hide();
    // Only the signed-in user may see the content of the page, so the content is removed. A page of an application may have
    // no main.
    const main = document.querySelector("main") || document.body;
    const title = document.createElement("h1");
    title.textContent = texts["signed-out"];
    const text = document.createElement("p");
    text.setAttribute("role", "alert");
    text.textContent = texts["ended-" + cause] || texts.ended;
    const link = document.createElement("a");
    link.href = prefix + "/sign-in?return=" + encodeURIComponent(location.pathname + location.search);
    link.textContent = texts["sign-in-again"];
    const line = document.createElement("p");
    line.append(link);
    main.replaceChildren(title, text, line);
    document.title = texts["signed-out"];
  };
  const warn = (event) => {
    const end = Date.now() + 1000 * JSON.parse(event.data).in;
    // A screen reader reads the notice once, and not every second.
    const time = document.createElement("span");
    time.setAttribute("aria-live", "off");
    const tick = () => {
      const seconds = Math.max(0, Math.round((end - Date.now()) / 1000));
      const inMinutes = seconds >= 120;
      const text = new Intl.NumberFormat(language, {
        style: "unit", unit: inMinutes ? "minute" : "second", unitDisplay: "long",
      }).format(inMinutes ? Math.round(seconds / 60) : seconds);
      if (time.textContent !== text) time.textContent = text;
    };
    tick();
    const text = document.createElement("span");
    const [before, after] = texts["session-ends-in"].split("{time}");
    text.append(before, time, after);
    show(text, {
      label: texts["stay-signed-in"],
      run: () => fetch(prefix + "/session/refresh", { method: "POST" })
        .then((answer) => { if (answer.status === 401) finish(); }),
    });
    countdown = setInterval(tick, 1000);
  };
  let events = null;
  // A stream can be rejected because there are too many. The reason is not reported, so a request finds out whether the
  // session has ended.
  const reconnect = () => {
    if (hasEnded || events.readyState !== EventSource.CLOSED) return;
    setTimeout(connect, 30000 * (1 + Math.random()));
    fetch(prefix + "/session").then((answer) => { if (answer.status === 401) finish(); }).catch(() => {});
  };
  const connect = () => {
    if (hasEnded) return;
    events = new EventSource(prefix + "/session/events");
    events.addEventListener("expiring", warn);
    events.addEventListener("extended", hide);
    events.addEventListener("message", (event) => {
      if (event.data) show(JSON.parse(event.data).text, { label: texts.close, run: hide });
    });
    events.addEventListener("ended", (event) => finish(JSON.parse(event.data).cause));
    events.addEventListener("error", reconnect);
  };
  connect();
  // The back button can restore a page from the browser's cache. Its session may have ended.
  window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
})();

