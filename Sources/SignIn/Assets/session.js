"use strict";
(() => {
  const prefix = document.currentScript.dataset.prefix;
  if (!window.EventSource) return;
  const causes = {
    logout: "You have signed out.",
    idle: "Your session has ended, as it was not used.",
    absolute: "Your session has ended, as its time was over.",
    administrator: "Your session was ended by an administrator.",
    "ended-elsewhere": "You have ended this session from another one.",
    "user-changed": "Your session has ended, as your account was changed.",
    "realm-gone": "Your session has ended, as its realm is gone.",
    limit: "Your session has ended, as you have signed in too often elsewhere.",
    replaced: "Your session has ended, as you have signed in again.",
  };
  let notice = null;
  let hasEnded = false;
  const hide = () => { if (notice) { notice.remove(); notice = null; } };
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
  const end = (cause) => {
    if (hasEnded) return;
    hasEnded = true;
    events.close();
    hide();
    // The content of the page is removed, as only the signed-in user may see it.
    const main = document.querySelector("main");
    const title = document.createElement("h1");
    title.textContent = "Signed out";
    const text = document.createElement("p");
    text.setAttribute("role", "alert");
    text.textContent = causes[cause] || "Your session has ended.";
    const link = document.createElement("a");
    link.href = prefix + "/sign-in?return=" + encodeURIComponent(location.pathname + location.search);
    link.textContent = "Sign in again";
    const line = document.createElement("p");
    line.append(link);
    main.replaceChildren(title, text, line);
    document.title = "Signed out";
  };
  const events = new EventSource(prefix + "/session/events");
  events.addEventListener("expiring", (event) => {
    const seconds = JSON.parse(event.data).in;
    const time = seconds >= 120 ? Math.round(seconds / 60) + " minutes" : seconds + " seconds";
    show("Your session ends in " + time + ".", {
      label: "Stay signed in",
      run: () => fetch(prefix + "/session/refresh", { method: "POST" })
        .then((answer) => { if (answer.status === 401) end(); }),
    });
  });
  events.addEventListener("extended", hide);
  events.addEventListener("message", (event) => {
    if (event.data) show(JSON.parse(event.data).text, { label: "Close", run: hide });
  });
  events.addEventListener("ended", (event) => end(JSON.parse(event.data).cause));
  // A browser does not report why a stream was rejected, so a request shows if the session has ended.
  events.addEventListener("error", () => {
    if (hasEnded || events.readyState !== EventSource.CLOSED) return;
    fetch(prefix + "/session").then((answer) => { if (answer.status === 401) end(); }).catch(() => {});
  });
  // A page that the back button restores from the browser's cache may belong to an ended session.
  window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
})();

