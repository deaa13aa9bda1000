# SPDX-License-Identifier: Apache-2.0
# Gatehouse
"""Signing in, as people do it."""

import re

from place import ANN, CODE, FIRST, SESSION, SIGNING_IN, equal, fill, has_session, is_welcome, path, scenario, true


@scenario
def somebody_signs_in_and_lands_where_they_wanted_to_go(place):
    page = place.page()
    page.goto(place.origin + "/welcome?a=1&b=%26")
    true(path(page).startswith("/sign-in"), page.url)
    true("password" not in page.url, page.url)
    fill(page, *ANN)
    is_welcome(page)
    equal(path(page), "/welcome?a=1&b=%26")
    page.reload()
    is_welcome(page)


@scenario
def a_wrong_password_says_so_and_keeps_the_name(place):
    said = []
    for name in ("ann", "nobody-of-that-name"):
        page = place.page()
        page.goto(place.origin + "/welcome")
        fill(page, name, "wrong")
        true(path(page).startswith("/sign-in"), page.url)
        true(not has_session(page), "there is a session")
        equal(page.input_value("input[name=username]"), name)
        equal(page.input_value("input[name=password]"), "")
        said.append(page.inner_text("[role=alert]").strip())
        true(said[-1], "nothing is said")
        focused = page.evaluate("document.activeElement.name || document.activeElement.getAttribute('role')")
        true(focused in ("password", "alert"), f"the focus is at {focused}")
        for word in ("unknown", "no such", "password is wrong", "user"):
            true(word not in said[-1].lower() or "or password" in said[-1].lower(), said[-1])
        described = page.evaluate("""() => [...document.querySelectorAll('input[name=username],input[name=password]')]
            .some(one => one.getAttribute('aria-invalid') === 'true' || one.getAttribute('aria-describedby'))""")
        true(described, "no field is connected with what was said")
    equal(said[0], said[1], "tells who exists")
    fill(page, *ANN)
    is_welcome(page)


@scenario
def a_page_that_is_reloaded_after_a_wrong_password_does_not_send_it_again(place):
    page = place.page()
    page.goto(place.origin + "/welcome")
    fill(page, "ann", "wrong")
    sent = []
    page.on("request", lambda request: sent.append(request.method))
    page.reload()
    equal(set(sent), {"GET"})


@scenario
def a_second_question_comes_on_a_page_of_its_own(place):
    page = place.page()
    page.goto(place.origin + "/steps")
    fill(page, "zoe", FIRST)
    true(path(page).startswith("/sign-in/step"), page.url)
    true(not has_session(page), "there is a session before all was asked")
    code = page.locator("input[name=answer-0]")
    equal(code.get_attribute("autocomplete"), "one-time-code")
    page.goto(place.origin + "/steps")
    true(not path(page).startswith("/steps"), "half a sign-in was enough")
    page.go_back(wait_until="commit")
    code.fill("000000")
    code.press("Enter")
    page.wait_for_load_state()
    true(not has_session(page), "a wrong code was enough")
    page.goto(place.origin + "/steps")
    fill(page, "zoe", FIRST)
    code.fill(CODE)
    code.press("Enter")
    page.wait_for_load_state()
    equal(path(page), "/steps")
    true("Welcome zoe" in page.inner_text("body"), page.inner_text("body"))


@scenario
def the_cookies_are_what_was_promised(place):
    page = place.page()
    page.goto(place.origin + "/welcome")
    before = {cookie["name"]: cookie for cookie in page.context.cookies()}
    equal(set(before), {SIGNING_IN})
    equal([before[SIGNING_IN][key] for key in ("secure", "httpOnly", "sameSite", "path", "domain")],
          [True, True, "Strict", "/", "localhost"])
    fill(page, *ANN)
    after = {cookie["name"]: cookie for cookie in page.context.cookies()}
    equal([after[SESSION][key] for key in ("secure", "httpOnly", "sameSite", "path", "domain")],
          [True, True, "Lax", "/", "localhost"])
    true(re.fullmatch(r"[A-Za-z0-9_-]{43}", after[SESSION]["value"]), after[SESSION])
    equal(page.evaluate("document.cookie"), "")
    true(after[SESSION]["value"] not in page.content(), "the session stands in the page")
    stored = page.evaluate("JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage)])")
    equal(stored, "[[],[]]")


@scenario
def a_new_sign_in_is_a_new_session_and_the_old_one_is_dead(place):
    page = place.sign_in(place.page())
    first = next(cookie for cookie in page.context.cookies() if cookie["name"] == SESSION)
    page.goto(place.origin + "/sign-in?return=/welcome")
    fill(page, *ANN)
    second = next(cookie for cookie in page.context.cookies() if cookie["name"] == SESSION)
    true(first["value"] != second["value"], "the session has kept its name")
    other = place.page()
    other.context.add_cookies([first])
    other.goto(place.origin + "/welcome")
    true(path(other).startswith("/sign-in"), "the session before is alive")


@scenario
def everything_works_without_scripts(place):
    page = place.page(java_script_enabled=False)
    place.sign_in(page, ("ann", "wrong"))
    true(page.inner_text("[role=alert]").strip(), "nothing is said")
    fill(page, *ANN)
    is_welcome(page)
    page.goto(place.origin + "/account")
    true("ann" in page.inner_text("body"), page.inner_text("body"))
    page.locator("form[action$='/sign-out'] button").first.click()
    page.wait_for_load_state()
    true(path(page).startswith("/sign-in"), page.url)
    page.goto(place.origin + "/welcome")
    true(path(page).startswith("/sign-in"), page.url)


def tab_to(page, selector, most=25):
    """Presses Tab until it is there."""
    for _ in range(most):
        if page.evaluate("selector => document.activeElement?.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector} cannot be reached by Tab on {page.url}")


@scenario
def the_keyboard_is_enough(place):
    page = place.page()
    page.goto(place.origin + "/welcome")
    tab_to(page, "input[name=username]")
    page.keyboard.type(ANN[0])
    page.keyboard.press("Tab")
    true(page.evaluate("document.activeElement.name") == "password", "the password does not follow the name")
    page.keyboard.type(ANN[1])
    page.keyboard.press("Enter")
    page.wait_for_url(place.origin + "/welcome")
    is_welcome(page)
    page.goto(place.origin + "/account")
    tab_to(page, "form[action$='/sign-out'] button", 60)
    style = page.evaluate("""() => { const style = getComputedStyle(document.activeElement);
        return [style.outlineStyle, parseFloat(style.outlineWidth), style.boxShadow]; }""")
    true(style[0] != "none" and style[1] >= 1 or style[2] != "none", f"one does not see where the focus is: {style}")
    page.keyboard.press("Enter")
    page.wait_for_url(place.origin + "/sign-in**")


@scenario
def password_managers_are_told_what_is_what(place):
    page = place.page()
    page.goto(place.origin + "/welcome")
    name, password = page.locator("input[name=username]"), page.locator("input[name=password]")
    equal(name.get_attribute("autocomplete"), "username")
    equal(password.get_attribute("autocomplete"), "current-password")
    equal(password.get_attribute("type"), "password")
    equal(name.get_attribute("autocapitalize"), "none")
    equal(name.get_attribute("spellcheck"), "false")
    for field in (name, password):
        prevented = field.evaluate("""one => !one.dispatchEvent(new ClipboardEvent('paste',
            {bubbles: true, cancelable: true, clipboardData: new DataTransfer()}))""")
        true(not prevented, "nothing can be pasted")
        true(field.get_attribute("maxlength") is None or int(field.get_attribute("maxlength")) >= 64, "too short")
