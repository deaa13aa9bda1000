"use strict";
(() => {
  const prefix = document.currentScript.dataset.prefix;
  // The server does not know the time zone of the browser, so it writes times in UTC.
  for (const time of document.querySelectorAll("time[datetime]")) {
    time.title = time.textContent;
    time.textContent = new Date(time.dateTime).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  }
  if (!window.EventSource) return;
  const causes = {
    logout: "You have signed out.",
    idle: "Your session has ended because it was not used.",
    absolute: "Your session has ended because it has reached its maximum time.",
    administrator: "An administrator has ended your session.",
    "ended-elsewhere": "You have ended this session from another session.",
    "user-changed": "Your session has ended because your account was changed.",
    "realm-gone": "Your session has ended because its realm was removed.",
    limit: "Your session has ended because you have too many sessions.",
    replaced: "Your session has ended because you have signed in again.",
  };
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
    const end = Date.now() + 1000 * JSON.parse(event.data).in;
    // A screen reader reads the notice once, and not every second.
    const time = document.createElement("span");
    time.setAttribute("aria-live", "off");
    const tick = () => {
      const seconds = Math.max(0, Math.round((end - Date.now()) / 1000));
      const text = seconds >= 120 ? Math.round(seconds / 60) + " minutes" : seconds === 1 ? "1 second" : seconds + " seconds";
      if (time.textContent !== text) time.textContent = text;
    };
    tick();
    const text = document.createElement("span");
    text.append("Your session ends in ", time, ".");
    show(text, {
      label: "Stay signed in",
      run: () => fetch(prefix + "/session/refresh", { method: "POST" })
        .then((answer) => { if (answer.status === 401) finish(); }),
    });
    countdown = setInterval(tick, 1000);
  });
  events.addEventListener("extended", hide);
  events.addEventListener("message", (event) => {
    if (event.data) show(JSON.parse(event.data).text, { label: "Close", run: hide });
  });
  events.addEventListener("ended", (event) => finish(JSON.parse(event.data).cause));
  // The browser does not report why a stream was rejected. A request finds out whether the session has ended.
  events.addEventListener("error", () => {
    if (hasEnded || events.readyState !== EventSource.CLOSED) return;
    fetch(prefix + "/session").then((answer) => { if (answer.status === 401) finish(); }).catch(() => {});
  });
  // The back button can restore a page from the browser's cache. Its session may have ended.
  window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
})();

