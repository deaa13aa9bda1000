"use strict";
(() => {
  const texts = { show: "Show password", hide: "Hide password", capsLock: "Caps Lock is on.", busy: "Please wait..." };
  const passwords = document.querySelectorAll("input[type=password]");
  for (const field of passwords) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "secondary small";
    button.setAttribute("aria-controls", field.id);
    const show = (isShown) => {
      field.type = isShown ? "text" : "password";
      button.textContent = isShown ? texts.hide : texts.show;
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
      const text = event.getModifierState("CapsLock") ? texts.capsLock : "";
      if (hint.textContent !== text) hint.textContent = text;
    };
    field.addEventListener("keydown", check);
    field.addEventListener("keyup", check);
    field.addEventListener("blur", () => { hint.textContent = ""; });
    field.after(hint, button);
  }
  for (const form of document.forms) {
    const button = form.querySelector("button[type=submit]");
    if (!button) continue;
    const label = button.textContent;
    const setBusy = (isBusy) => {
      form.toggleAttribute("data-busy", isBusy);
      button.setAttribute("aria-disabled", String(isBusy));
      button.textContent = isBusy ? texts.busy : label;
    };
    form.addEventListener("submit", (event) => {
      if (form.hasAttribute("data-busy")) event.preventDefault();
      else setBusy(true);
    });
    // The back button can restore the page as it was when the form was sent.
    window.addEventListener("pageshow", () => { if (form.hasAttribute("data-busy")) setBusy(false); });
  }
})();
