# SPDX-License-Identifier: Apache-2.0
"""Signing out, ends of sessions, and expiry."""

import re
import time

from browser_fixture import expect_equal, has_session, is_welcome, path, scenario, expect


def shows_user(page, name="ann"):
    """Whether the page shows the name of a signed-in user."""
    return f"Welcome {name}" in page.evaluate("document.body.innerText")


def wait_until(condition, seconds, what):
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
def signing_out_is_confirmed_on_the_sign_in_page(place):
    page = place.sign_in(place.page())
    is_welcome(page)
    sign_out(page, place.origin)
    expect(path(page).startswith("/sign-in"), page.url)
    expect("signed out" in page.inner_text("body").lower(), page.inner_text("body"))
    expect(not has_session(page), "the cookie is still there")
    page.goto(place.origin + "/welcome")
    expect(path(page).startswith("/sign-in"), page.url)


@scenario
def after_signing_out_the_back_button_shows_no_private_page(place):
    page = place.sign_in(place.page())
    page.goto(place.origin + "/account")
    page.goto(place.origin + "/welcome")
    is_welcome(page)
    sign_out(page, place.origin)
    for _ in range(3):
        page.go_back(wait_until="commit")
        page.wait_for_load_state()
        # A page from the back-forward cache is shown at once, so the page must hide itself before it is painted.
        expect(not shows_user(page), f"{page.url} shows {page.inner_text('body')!r}")


@scenario
def without_scripts_the_back_button_shows_no_private_page_either(place):
    page = place.sign_in(place.page(java_script_enabled=False))
    page.goto(place.origin + "/account")
    sign_out(page, place.origin)
    for _ in range(2):
        page.go_back(wait_until="commit")
        page.wait_for_load_state()
        expect("Welcome ann" not in page.inner_text("body"), f"{page.url} shows {page.inner_text('body')!r}")


@scenario
def the_account_page_can_end_other_sessions(place):
    here, there = place.sign_in(place.page()), place.sign_in(place.page())
    here.goto(place.origin + "/account")
    button = here.locator("form[action$='/account/end']:has([name=others]) button").first
    button.click()
    here.wait_for_load_state()
    here.goto(place.origin + "/welcome")
    is_welcome(here)
    there.goto(place.origin + "/welcome")
    expect(path(there).startswith("/sign-in"), there.url)


@scenario
def a_page_hides_itself_when_its_session_is_ended_elsewhere(place):
    page = place.sign_in(place.page())
    is_welcome(page)
    requests = []
    page.on("request", lambda request: requests.append(request) if request.is_navigation_request() else None)
    time.sleep(1)
    place.site.command("sessions", "end", "--user", "ann")
    wait_until(lambda: not shows_user(page), 20, f"it still shows {page.inner_text('body')!r}")
    expect_equal([request.url for request in requests if request.url.endswith("/welcome")], [])
    text = page.evaluate("document.body.innerText").strip()
    expect("end" in text.lower() or "sign" in text.lower(), f"the page does not show the reason: {text!r}")


@scenario
def a_message_of_the_administrator_is_shown(place):
    page = place.sign_in(place.page())
    time.sleep(1)
    text = "Back in ten minutes <b>&amp;"
    place.site.command("sessions", "message", "--user", "ann", text)
    wait_until(lambda: text in page.evaluate("document.body.innerText"), 20, f"it shows {page.inner_text('body')!r}")


NOTICE = """() => [...document.querySelectorAll('[role=alert], [role=status], [role=alertdialog], dialog, [aria-live]')]
    .filter(one => one.checkVisibility() && one.innerText.trim()).map(one => one.innerText.trim()).join(' | ')"""


@scenario
def a_notice_is_shown_before_a_session_expires_and_can_extend_it(place):
    site = place.brief_site()
    page = place.sign_in(place.page(), origin=site.origin)
    is_welcome(page)
    expect_equal(page.evaluate(NOTICE), "", "a notice is shown at the beginning")
    wait_until(lambda: page.evaluate(NOTICE), 14, "no notice was shown")
    said = page.evaluate(NOTICE)
    place.picture(page, "notice-light")
    expect(any(word in said.lower() for word in ("end", "expire", "sign")), said)
    button = page.get_by_role("button").filter(visible=True)
    expect(button.count() > 0, f"there is no button to stay: {said}")
    stay = [one for one in button.all() if any(word in (one.inner_text() or "").lower()
                                               for word in ("stay", "continue", "keep", "here"))]
    expect(stay, f"there is no button to stay: {[one.inner_text() for one in button.all()]}")
    stay[0].click()
    wait_until(lambda: not page.evaluate(NOTICE), 8, f"the notice is still shown: {page.evaluate(NOTICE)}")
    is_welcome(page)


@scenario
def an_unused_page_hides_itself_when_its_session_expires(place):
    site = place.brief_site()
    page = place.sign_in(place.page(), origin=site.origin)
    is_welcome(page)
    wait_until(lambda: not shows_user(page), 40, f"it still shows {page.inner_text('body')!r}")
    place.picture(page, "ended-light")
    page.goto(site.origin + "/welcome")
    expect(path(page).startswith("/sign-in"), page.url)


APPLICATION = """<!DOCTYPE html><html><head><title>Application</title>
<script src="/session.js" data-prefix="" defer></script></head><body><p>Welcome ann, this is private.</p></body></html>"""


@scenario
def the_script_works_in_a_page_of_an_application_without_main(place):
    """The notice counts down, and a screen reader does not read every second. At the end the page hides its content."""
    site = place.brief_site()
    page = place.sign_in(place.page(), origin=site.origin)
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.route(site.origin + "/application", lambda route: route.fulfill(content_type="text/html", body=APPLICATION))
    page.goto(site.origin + "/application")
    wait_until(lambda: page.evaluate(NOTICE), 14, "no notice was shown")

    def seconds():
        found = re.search(r"ends in (\d+) second", page.evaluate(NOTICE))
        return int(found[1]) if found else None
    first = seconds()
    expect(first is not None and first <= 10, page.evaluate(NOTICE))
    wait_until(lambda: seconds() is not None and seconds() < first, 5, "the notice does not count down")
    expect_equal(page.locator("#session-notice [aria-live=off]").count(), 1)
    wait_until(lambda: not shows_user(page), 40, f"it still shows {page.inner_text('body')!r}")
    expect_equal(page.get_by_role("link").get_attribute("href"), "/sign-in?return=%2Fapplication")
    expect_equal(errors, [])


@scenario
def a_link_to_the_sign_out_asks_once_and_leads_to_its_target(place):
    page = place.sign_in(place.page())
    page.goto(place.origin + "/sign-out?return=/health")
    expect("Sign out?" in page.inner_text("main") and has_session(page), page.inner_text("body"))
    place.picture(page, "sign-out-light")
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_load_state()
    expect_equal((path(page), has_session(page)), ("/health", False))
    page.goto(place.origin + "/sign-out?return=/health")
    expect_equal(path(page), "/health")
    page.goto(place.origin + "/sign-out")
    expect("You are signed out" in page.inner_text("main"), page.inner_text("body"))
