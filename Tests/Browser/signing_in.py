# SPDX-License-Identifier: Apache-2.0
"""Signing in with a browser."""

import re

from browser_fixture import ANN, CODE, FIRST, SESSION, SIGNING_IN, expect_equal, fill, has_session, is_welcome, path, scenario, expect


@scenario
def signing_in_returns_to_the_requested_page(place):
    page = place.page()
    page.goto(place.origin + "/welcome?a=1&b=%26")
    expect(path(page).startswith("/sign-in"), page.url)
    expect("password" not in page.url, page.url)
    fill(page, *ANN)
    is_welcome(page)
    expect_equal(path(page), "/welcome?a=1&b=%26")
    page.reload()
    is_welcome(page)


@scenario
def a_wrong_password_shows_a_message_and_keeps_the_user_name(place):
    said = []
    for name in ("ann", "nobody-of-that-name"):
        page = place.page()
        page.goto(place.origin + "/welcome")
        fill(page, name, "wrong")
        expect(path(page).startswith("/sign-in"), page.url)
        expect(not has_session(page), "there is a session")
        expect_equal(page.input_value("input[name=username]"), name)
        expect_equal(page.input_value("input[name=password]"), "")
        said.append(page.inner_text("[role=alert]").strip())
        expect(said[-1], "nothing is said")
        focused = page.evaluate("document.activeElement.name || document.activeElement.getAttribute('role')")
        expect(focused in ("password", "alert"), f"the focus is at {focused}")
        for word in ("unknown", "no such", "password is wrong", "user"):
            expect(word not in said[-1].lower() or "or password" in said[-1].lower(), said[-1])
        described = page.evaluate("""() => [...document.querySelectorAll('input[name=username],input[name=password]')]
            .some(one => one.getAttribute('aria-invalid') === 'true' || one.getAttribute('aria-describedby'))""")
        expect(described, "no field refers to the message")
    expect_equal(said[0], said[1], "the message shows which users exist")
    fill(page, *ANN)
    is_welcome(page)


@scenario
def reloading_after_a_wrong_password_does_not_send_it_again(place):
    page = place.page()
    page.goto(place.origin + "/welcome")
    fill(page, "ann", "wrong")
    sent = []
    page.on("request", lambda request: sent.append(request.method))
    page.reload()
    expect_equal(set(sent), {"GET"})


@scenario
def a_second_question_has_its_own_page(place):
    page = place.page()
    page.goto(place.origin + "/steps")
    fill(page, "zoe", FIRST)
    expect(path(page).startswith("/sign-in/step"), page.url)
    expect(not has_session(page), "there is a session before the second answer")
    code = page.locator("input[name=answer-0]")
    expect_equal(code.get_attribute("autocomplete"), "one-time-code")
    page.goto(place.origin + "/steps")
    expect(not path(page).startswith("/steps"), "the user is signed in without the second answer")
    page.go_back(wait_until="commit")
    code.fill("000000")
    code.press("Enter")
    page.wait_for_load_state()
    expect(not has_session(page), "the user is signed in with a wrong code")
    page.goto(place.origin + "/steps")
    fill(page, "zoe", FIRST)
    code.fill(CODE)
    code.press("Enter")
    page.wait_for_load_state()
    expect_equal(path(page), "/steps")
    expect("Welcome zoe" in page.inner_text("body"), page.inner_text("body"))


@scenario
def the_cookies_have_the_documented_attributes(place):
    page = place.page()
    page.goto(place.origin + "/welcome")
    before = {cookie["name"]: cookie for cookie in page.context.cookies()}
    expect_equal(set(before), {SIGNING_IN})
    expect_equal([before[SIGNING_IN][key] for key in ("secure", "httpOnly", "sameSite", "path", "domain")],
          [True, True, "Strict", "/", "localhost"])
    fill(page, *ANN)
    after = {cookie["name"]: cookie for cookie in page.context.cookies()}
    expect_equal([after[SESSION][key] for key in ("secure", "httpOnly", "sameSite", "path", "domain")],
          [True, True, "Lax", "/", "localhost"])
    expect(re.fullmatch(r"[A-Za-z0-9_-]{43}", after[SESSION]["value"]), after[SESSION])
    expect_equal(page.evaluate("document.cookie"), "")
    expect(after[SESSION]["value"] not in page.content(), "the page contains the session token")
    stored = page.evaluate("JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage)])")
    expect_equal(stored, "[[],[]]")


@scenario
def a_new_sign_in_ends_the_old_session(place):
    page = place.sign_in(place.page())
    first = next(cookie for cookie in page.context.cookies() if cookie["name"] == SESSION)
    page.goto(place.origin + "/sign-in?return=/welcome")
    fill(page, *ANN)
    second = next(cookie for cookie in page.context.cookies() if cookie["name"] == SESSION)
    expect(first["value"] != second["value"], "the session token has not changed")
    other = place.page()
    other.context.add_cookies([first])
    other.goto(place.origin + "/welcome")
    expect(path(other).startswith("/sign-in"), "the old session is still valid")


@scenario
def signing_in_and_out_works_without_scripts(place):
    page = place.page(java_script_enabled=False)
    place.sign_in(page, ("ann", "wrong"))
    expect(page.inner_text("[role=alert]").strip(), "nothing is said")
    fill(page, *ANN)
    is_welcome(page)
    page.goto(place.origin + "/account")
    expect("ann" in page.inner_text("body"), page.inner_text("body"))
    page.locator("form[action$='/sign-out'] button").first.click()
    page.wait_for_load_state()
    expect(path(page).startswith("/sign-in"), page.url)
    page.goto(place.origin + "/welcome")
    expect(path(page).startswith("/sign-in"), page.url)


def tab_to(page, selector, most=25):
    """Presses Tab until the element has the focus."""
    for _ in range(most):
        if page.evaluate("selector => document.activeElement?.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector} cannot be reached by Tab on {page.url}")


@scenario
def all_forms_can_be_used_with_the_keyboard(place):
    page = place.page()
    page.goto(place.origin + "/welcome")
    tab_to(page, "input[name=username]")
    page.keyboard.type(ANN[0])
    page.keyboard.press("Tab")
    expect(page.evaluate("document.activeElement.name") == "password", "Tab does not lead from the user name to the password")
    page.keyboard.type(ANN[1])
    page.keyboard.press("Enter")
    page.wait_for_url(place.origin + "/welcome")
    is_welcome(page)
    page.goto(place.origin + "/account")
    tab_to(page, "form[action$='/sign-out'] button", 60)
    style = page.evaluate("""() => { const style = getComputedStyle(document.activeElement);
        return [style.outlineStyle, parseFloat(style.outlineWidth), style.boxShadow]; }""")
    expect(style[0] != "none" and style[1] >= 1 or style[2] != "none", f"the focus is not visible: {style}")
    page.keyboard.press("Enter")
    page.wait_for_url(place.origin + "/sign-in**")


@scenario
def the_fields_are_marked_for_password_managers(place):
    page = place.page()
    page.goto(place.origin + "/welcome")
    name, password = page.locator("input[name=username]"), page.locator("input[name=password]")
    expect_equal(name.get_attribute("autocomplete"), "username")
    expect_equal(password.get_attribute("autocomplete"), "current-password")
    expect_equal(password.get_attribute("type"), "password")
    expect_equal(name.get_attribute("autocapitalize"), "none")
    expect_equal(name.get_attribute("spellcheck"), "false")
    for field in (name, password):
        prevented = field.evaluate("""one => !one.dispatchEvent(new ClipboardEvent('paste',
            {bubbles: true, cancelable: true, clipboardData: new DataTransfer()}))""")
        expect(not prevented, "nothing can be pasted")
        expect(field.get_attribute("maxlength") is None or int(field.get_attribute("maxlength")) >= 64, "too short")
