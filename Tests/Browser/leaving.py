# SPDX-License-Identifier: Apache-2.0
# Gatehouse
"""Signing out, being signed out, and running out of time."""

import time

from place import equal, has_session, is_welcome, path, scenario, true


def private(page, name="ann"):
    """Whether somebody who looks at the screen sees that a person was signed in."""
    return f"Welcome {name}" in page.evaluate("document.body.innerText")


def until(condition, seconds, what):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError(what)


def sign_out(page, origin):
    page.goto(origin + "/account")
    page.locator("form[action$='/sign-out'] button").first.click()
    page.wait_for_load_state()


@scenario
def somebody_signs_out_and_is_told(place):
    page = place.sign_in(place.page())
    is_welcome(page)
    sign_out(page, place.origin)
    true(path(page).startswith("/sign-in"), page.url)
    true("signed out" in page.inner_text("body").lower(), page.inner_text("body"))
    true(not has_session(page), "the cookie is still there")
    page.goto(place.origin + "/welcome")
    true(path(page).startswith("/sign-in"), page.url)


@scenario
def the_back_button_shows_nothing_private_after_that(place):
    page = place.sign_in(place.page())
    page.goto(place.origin + "/account")
    page.goto(place.origin + "/welcome")
    is_welcome(page)
    sign_out(page, place.origin)
    for _ in range(3):
        page.go_back(wait_until="commit")
        page.wait_for_load_state()
        # A page out of the back-forward cache shows at once what it is going to show, or hides it before it is painted.
        true(not private(page), f"{page.url} shows {page.inner_text('body')!r}")


@scenario
def the_back_button_shows_nothing_private_without_scripts_either(place):
    page = place.sign_in(place.page(java_script_enabled=False))
    page.goto(place.origin + "/account")
    sign_out(page, place.origin)
    for _ in range(2):
        page.go_back(wait_until="commit")
        page.wait_for_load_state()
        true("Welcome ann" not in page.inner_text("body"), f"{page.url} shows {page.inner_text('body')!r}")


@scenario
def another_session_is_ended_from_the_account_page(place):
    here, there = place.sign_in(place.page()), place.sign_in(place.page())
    here.goto(place.origin + "/account")
    button = here.locator("form[action$='/account/end']:has([name=others]) button").first
    button.click()
    here.wait_for_load_state()
    here.goto(place.origin + "/welcome")
    is_welcome(here)
    there.goto(place.origin + "/welcome")
    true(path(there).startswith("/sign-in"), there.url)


@scenario
def a_page_notices_that_its_session_was_ended_elsewhere(place):
    page = place.sign_in(place.page())
    is_welcome(page)
    requests = []
    page.on("request", lambda request: requests.append(request) if request.is_navigation_request() else None)
    time.sleep(1)
    place.site.command("sessions", "end", "--user", "ann")
    until(lambda: not private(page), 20, f"it still shows {page.inner_text('body')!r}")
    equal([request.url for request in requests if request.url.endswith("/welcome")], [])
    text = page.evaluate("document.body.innerText").strip()
    true("end" in text.lower() or "sign" in text.lower(), f"it does not say why: {text!r}")


@scenario
def a_message_of_the_administrator_is_shown(place):
    page = place.sign_in(place.page())
    time.sleep(1)
    text = "Back in ten minutes <b>&amp;"
    place.site.command("sessions", "message", "--user", "ann", text)
    until(lambda: text in page.evaluate("document.body.innerText"), 20, f"it shows {page.inner_text('body')!r}")


NOTICE = """() => [...document.querySelectorAll('[role=alert], [role=status], [role=alertdialog], dialog, [aria-live]')]
    .filter(one => one.checkVisibility() && one.innerText.trim()).map(one => one.innerText.trim()).join(' | ')"""


@scenario
def a_notice_comes_before_the_end_and_goes_when_the_session_goes_on(place):
    site = place.brief_site()
    page = place.sign_in(place.page(), origin=site.origin)
    is_welcome(page)
    equal(page.evaluate(NOTICE), "", "a notice is there from the first")
    until(lambda: page.evaluate(NOTICE), 14, "no notice came")
    said = page.evaluate(NOTICE)
    place.picture(page, "notice-light")
    true(any(word in said.lower() for word in ("end", "expire", "sign")), said)
    button = page.get_by_role("button").filter(visible=True)
    true(button.count() > 0, f"there is no button to stay: {said}")
    stay = [one for one in button.all() if any(word in (one.inner_text() or "").lower()
                                               for word in ("stay", "continue", "keep", "here"))]
    true(stay, f"there is no button to stay: {[one.inner_text() for one in button.all()]}")
    stay[0].click()
    until(lambda: not page.evaluate(NOTICE), 8, f"the notice stays: {page.evaluate(NOTICE)}")
    is_welcome(page)


@scenario
def a_page_that_nobody_uses_hides_itself_when_its_session_is_over(place):
    site = place.brief_site()
    page = place.sign_in(place.page(), origin=site.origin)
    is_welcome(page)
    until(lambda: not private(page), 40, f"it still shows {page.inner_text('body')!r}")
    place.picture(page, "ended-light")
    page.goto(site.origin + "/welcome")
    true(path(page).startswith("/sign-in"), page.url)
