// SPDX-License-Identifier: Apache-2.0

/// The script of the page: it shows messages, sends new ones, and stops when the session ends.
let script = """
    (() => {
      "use strict";
      const list = document.getElementById("messages");
      const form = document.getElementById("form");
      const field = document.getElementById("text");
      const notice = document.getElementById("notice");
      const me = document.getElementById("me").textContent;

      const element = (name, text) => {
        const made = document.createElement(name);
        made.textContent = text;
        return made;
      };
      const show = (message) => {
        const isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
        const item = document.createElement("li");
        const time = element("time", new Date(message.time * 1000).toLocaleTimeString());
        const text = element("span", message.text);
        text.dir = "auto";
        if (message.author === me) item.className = "mine";
        item.append(element("bdi", message.author), " ", time, text);
        list.append(item);
        while (list.children.length > 500) list.firstChild.remove();
        if (isAtEnd) list.scrollTop = list.scrollHeight;
      };

      let isOver = false;
      const end = () => {
        if (isOver) return;
        isOver = true;
        events.close();
        form.hidden = true;
        list.replaceChildren();
        const link = element("a", "Sign in again");
        link.href = "/sign-in?return=/";
        notice.replaceChildren("You are signed out. ", link);
        link.focus();
      };

      const events = new EventSource("/messages");
      events.addEventListener("message", (event) => show(JSON.parse(event.data)));
      // A stream ends when the session ends or when the server stops. A request shows whether the session has ended.
      const checkSession = () => fetch("/session").then((answer) => { if (answer.status === 401) end(); }).catch(() => {});
      events.addEventListener("ended", checkSession);
      events.addEventListener("error", () => { if (events.readyState === EventSource.CLOSED) checkSession(); });

      form.addEventListener("submit", async (event) => {
        event.preventDefault();
        notice.textContent = "";
        let answer;
        try {
          answer = await fetch("/messages", {
            method: "POST",
            headers: { "Content-Type": "application/json", "X-CSRF-Token": document.body.dataset.csrfToken },
            body: JSON.stringify({ text: field.value }),
          });
        } catch {
          notice.textContent = "The server cannot be reached. Your message was not sent.";
          return;
        }
        if (answer.ok) {
          field.value = "";
        } else if (answer.status === 401) {
          end();
        } else if (answer.status === 429) {
          notice.textContent = "Too fast: try again in " + answer.headers.get("Retry-After") + " seconds.";
        } else {
          notice.textContent = "Your message was not taken.";
        }
        if (!isOver) field.focus();
      });

      // A page that the back button restores from the browser's cache may belong to an ended session.
      window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
    })();

    """
