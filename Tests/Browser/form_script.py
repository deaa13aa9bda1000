# SPDX-License-Identifier: Apache-2.0
"""The scripts of the pages: the button that shows the password, the hint about Caps Lock, the busy form, local times."""

import datetime
import gzip
import urllib.parse

from browser_fixture import ANN, expect, expect_equal, fill, is_welcome, scenario


@scenario
def the_password_can_be_shown_and_is_sent_as_a_password(place):
    page = place.page()
    page.goto(place.origin + "/welcome")
    field = page.locator("#password")
    field.fill(ANN[1])
    page.get_by_role("button", name="Show password").click()
    expect_equal(field.get_attribute("type"), "text")
    page.get_by_role("button", name="Hide password").click()
    expect_equal(field.get_attribute("type"), "password")
    page.get_by_role("button", name="Show password").click()
    page.fill("#username", ANN[0])
    # A browser offers to store a password only from a password field.
    page.evaluate("""document.forms[0].addEventListener("submit", () => { window.name = document.getElementById("password").type; })""")
    page.get_by_role("button", name="Sign in").click()
    is_welcome(page)
    expect_equal(page.evaluate("window.name"), "password")


@scenario
def a_hint_shows_that_caps_lock_is_on(place):
    page = place.page()
    page.goto(place.origin + "/welcome")
    hint = page.locator("form [role=status]")
    expect_equal(hint.inner_text(), "")
    press = """isOn => document.getElementById("password").dispatchEvent(
        new KeyboardEvent("keydown", {key: "A", bubbles: true, modifierCapsLock: isOn}))"""
    page.evaluate(press, True)
    expect_equal(hint.inner_text(), "Caps Lock is on.")
    page.evaluate(press, False)
    expect_equal(hint.inner_text(), "")


@scenario
def a_form_is_sent_once_and_is_usable_after_the_back_button(place):
    page = place.page()
    page.goto(place.origin + "/welcome")
    page.fill("#username", ANN[0])
    page.fill("#password", ANN[1])
    # The form is not sent, because Playwright waits for the response before it reads the page.
    page.evaluate("""() => { window.sent = 0; document.forms[0].addEventListener("submit", event => {
        if (!event.defaultPrevented) window.sent++;
        event.preventDefault();
    }); }""")
    button = page.locator("button[type=submit]")
    button.click()
    expect_equal(button.inner_text(), "Please wait...")
    expect_equal(button.get_attribute("aria-disabled"), "true")
    button.click(force=True)
    page.locator("#password").press("Enter")
    expect_equal(page.evaluate("window.sent"), 1)
    page.evaluate("window.dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
    expect_equal(button.inner_text(), "Sign in")
    button.click()
    expect_equal(page.evaluate("window.sent"), 2)


@scenario
def a_sign_in_without_scripts_works(place):
    page = place.page(java_script_enabled=False)
    page.goto(place.origin + "/welcome")
    expect_equal(page.locator("button").count(), 1)
    fill(page, *ANN)
    is_welcome(page)


@scenario
def a_page_loads_few_files_of_its_own_server_once(place):
    page = place.page()
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(place.origin + "/sign-in")
    page.wait_for_load_state("networkidle")
    # The icon is a data URL, which needs no request.
    sent = [url for url in requests if not url.startswith("data:")]
    expect(all(url.startswith(place.origin) for url in sent), requests)
    expect_equal(sorted(urllib.parse.urlsplit(url).path for url in sent), ["/sign-in", "/style.css"])
    requests.clear()
    # A second page takes all other files from the cache.
    fresh = []
    page.on("response", lambda answer: fresh.append(answer))
    page.goto(place.origin + "/sign-in?return=/welcome")
    page.wait_for_load_state("networkidle")
    answers = [one for one in fresh if not one.url.startswith("data:")]
    sizes = {urllib.parse.urlsplit(one.url).path: one.request.sizes()["responseBodySize"] for one in answers}
    expect_equal([name for name, size in sizes.items() if size > 0], ["/sign-in"])


@scenario
def a_sign_in_page_is_small_and_allows_no_script_but_its_own(place):
    for language in ("en", "de", "fr"):
        page = place.page(locale=language)
        answer = page.goto(place.origin + "/sign-in?return=/welcome")
        length = len(gzip.compress(answer.body(), 9))
        expect(length < 2048, f"{language}: {len(answer.body())} bytes, {length} compressed")
        # The script of the page has run, and the browser reports no violation of the policy.
        expect_equal(page.locator("button.secondary").count(), 1)
        page.evaluate("""() => {
            window.violations = [];
            document.addEventListener("securitypolicyviolation", one => window.violations.push(one.effectiveDirective));
            const inline = document.createElement("script");
            inline.textContent = "window.injected = 1";
            const file = document.createElement("script");
            file.src = "/session.js";
            document.body.append(inline, file);
        }""")
        page.wait_for_function("window.violations.length === 2")
        expect_equal(page.evaluate("[window.injected === undefined, ...window.violations]"), [True] + ["script-src-elem"] * 2)


@scenario
def times_are_in_the_time_zone_of_the_browser(place):
    page = place.page(timezone_id="Asia/Tokyo", locale="en-GB")
    place.sign_in(page)
    page.goto(place.origin + "/account")
    time = page.locator("time").first
    moment = datetime.datetime.fromisoformat(time.get_attribute("datetime").replace("Z", "+00:00"))
    local = moment.astimezone(datetime.timezone(datetime.timedelta(hours=9)))
    expect(local.strftime("%H:%M") in time.inner_text(), f"{time.inner_text()} for {moment}")
    expect("UTC" in time.get_attribute("title"), time.get_attribute("title"))


@scenario
def buttons_have_an_edge_in_forced_colors(place):
    page = place.page(forced_colors="active")
    page.goto(place.origin + "/sign-in")
    edges = """() => [...document.querySelectorAll("button")].map(one => {
        const style = getComputedStyle(one);
        return style.borderTopStyle + " " + parseFloat(style.borderTopWidth) + " "
            + (style.borderTopColor !== getComputedStyle(document.body).backgroundColor);
    })"""
    place.picture(page, "sign-in-forced-colors")
    expect_equal(page.evaluate(edges), ["solid 1 true", "solid 1 true"])
    place.sign_in(page)
    page.goto(place.origin + "/account")
    place.picture(page, "account-forced-colors")
    expect_equal(set(page.evaluate(edges)), {"solid 1 true"})


@scenario
def a_page_has_at_most_one_button_of_the_main_style(place):
    page = place.page()
    for go in (lambda: page.goto(place.origin + "/sign-in"), lambda: place.sign_in(page), lambda: page.goto(place.origin + "/account")):
        go()
        expect_equal(page.locator("main button:not(.secondary)").count(), 1, page.url)
