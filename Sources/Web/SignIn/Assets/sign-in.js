"use strict";
(() => {
  // The server writes the texts in the language of the user.
  const texts = TEXTS;
  const passwords = document.querySelectorAll("input[type=password]");
  for (const field of passwords) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "secondary small";
    button.setAttribute("aria-controls", field.id);
    const show = (isShown) => {
      field.type = isShown ? "text" : "password";
      button.textContent = isShown ? texts["hide-password"] : texts["show-password"];
    };
    show(false);
    button.addEventListener("click", () => show(field.type === "password"));
    // A browser keeps what was typed in a text field, so the field is a password field again when the form is sent.
    field.form.addEventListener("submit", () => show(false));
    const hint = document.createElement("p");
    hint.className = "hint";
    hint.setAttribute("role", "status");
    const check = (event) => {
      if (!event.getModifierState) return;
      const text = event.getModifierState("CapsLock") ? texts["caps-lock-on"] : "";
      if (hint.textContent !== text) hint.textContent = text;
    };
    field.addEventListener("keydown", check);
    field.addEventListener("keyup", check);
    field.addEventListener("blur", () => { hint.textContent = ""; });
    field.after(hint, button);
  }
  // A browser keeps the part after # across redirects, but does not send it with a form. The target of the sign-in may need it.
  for (const link of document.querySelectorAll("main a")) link.hash = link.hash || location.hash;
  for (const form of document.forms) {
    form.action = form.getAttribute("action") + location.hash;
    const button = form.querySelector("button[type=submit]");
    if (!button) continue;
    const label = button.textContent;
    const setBusy = (isBusy) => {
      form.toggleAttribute("data-busy", isBusy);
      button.setAttribute("aria-disabled", String(isBusy));
      button.textContent = isBusy ? texts["please-wait"] : label;
    };
    form.addEventListener("submit", (event) => {
      if (form.hasAttribute("data-busy")) event.preventDefault();
      else setBusy(true);
    });
    // The back button can restore the page as it was when the form was sent.
    window.addEventListener("pageshow", () => { if (form.hasAttribute("data-busy")) setBusy(false); });
  }
})();
