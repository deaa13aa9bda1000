# SPDX-License-Identifier: Apache-2.0
# Gatehouse
"""What Gatehouse's own pages and session API promise, as seen through a trusted proxy's connection."""

import json
import time

from client import FETCH, NAVIGATION, SESSION
from replay import Place
from scenarios import equal, true
from world import NAME, PASSWORDS, PREFIX

SCENARIOS = []


def scenario(function):
    SCENARIOS.append(function)
    return function


def signed_in(place: Place, name="ann"):
    browser = place.browser()
    browser.host = NAME
    browser.cookies[SESSION] = place.session(name)
    return browser


def same_site(more=()):
    return [("Origin", f"https://{NAME}"), ("Sec-Fetch-Site", "same-origin"), ("Content-Type", "application/json"), *more]


@scenario
def every_page_and_answer_carries_the_fields_that_keep_it_to_itself(place):
    browser = signed_in(place)
    for path, kind in (("/sign-in", NAVIGATION), ("/account", NAVIGATION), ("/session", FETCH), ("/sessions", FETCH),
                       ("/nothing", NAVIGATION)):
        answer = browser.ask(PREFIX + path, kind=kind)
        policy = answer.field("content-security-policy") or ""
        for word in ("default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"):
            true(word in policy, f"{path}: {answer}")
        true("unsafe" not in policy and "*" not in policy, policy)
        equal(answer.field("x-content-type-options"), "nosniff", path)
        equal(answer.field("cross-origin-opener-policy"), "same-origin", path)
        true(answer.field("referrer-policy") in ("no-referrer", "same-origin"), answer)
        true("no-store" in answer.field("cache-control"), answer)
        true("charset=utf-8" in answer.field("content-type").lower() or "json" in answer.field("content-type"), answer)
        for name in ("access-control-allow-origin", "server", "x-powered-by"):
            equal(answer.field(name), None, path)


@scenario
def a_certificate_of_ones_own_has_browsers_come_by_tls_the_next_time(place):
    """Not the development certificate: a browser that is told so lets nobody past its warning any more."""
    equal(signed_in(place).ask(PREFIX + "/sign-in").field("strict-transport-security"), None)
    place.close()
    place.gatehouse.stop()
    try:
        place.gatehouse.start(has_certificate=True)
        found = signed_in(place).ask(PREFIX + "/sign-in").field("strict-transport-security") or ""
        true("max-age=" in found and int(found.split("max-age=")[1].split(";")[0]) >= 31_536_000, f"HSTS: {found!r}")
    finally:
        place.close()
        place.gatehouse.stop()
        place.gatehouse.start()


@scenario
def nothing_is_changed_by_another_site_or_by_another_method(place):
    browser = signed_in(place)
    elsewhere = [[("Origin", "https://evil.example")], [("Sec-Fetch-Site", "cross-site")], [("Sec-Fetch-Site", "same-site")],
                 [("Origin", "null")], [("Origin", f"http://{NAME}")], [("Origin", f"https://{NAME}.evil.example")]]
    for fields in elsewhere:
        for method, path in (("DELETE", "/session"), ("POST", "/session/refresh"), ("POST", "/session"), ("POST", "/sign-out"),
                             ("POST", "/account/end"), ("POST", "/sign-in")):
            answer = browser.ask(PREFIX + path, method, fields, kind=FETCH)
            true(400 <= answer.status < 500, f"{method} {path} {fields}: {answer}")
    for method, path in (("GET", "/sign-out"), ("HEAD", "/sign-out"), ("TRACE", "/sign-in"), ("PUT", "/session"), ("GET", "/account/end"),
                         ("PATCH", "/session"), ("GET", "/session/refresh")):
        equal(browser.ask(PREFIX + path, method, kind=FETCH).status, 405, f"{method} {path}")
    equal(browser.ask(PREFIX + "/session", kind=FETCH).status, 200)


@scenario
def a_session_that_is_deleted_is_gone_before_the_answer(place):
    browser = signed_in(place)
    kept = dict(browser.cookies)
    answer = browser.ask(PREFIX + "/session", "DELETE", same_site(), kind=FETCH)
    equal(answer.status, 204, answer)
    true(SESSION not in browser.cookies, "the cookie was not taken back")
    browser.cookies = kept
    equal(browser.ask(PREFIX + "/session", kind=FETCH).status, 401)
    equal(browser.ask(PREFIX + "/session", "DELETE", same_site(), kind=FETCH).status, 404)


@scenario
def a_session_tells_who_and_until_when_and_never_its_own_name(place):
    browser = signed_in(place)
    answer = browser.ask(PREFIX + "/session", kind=FETCH)
    told = json.loads(answer.body)
    equal((told["user"], told["realm"], told["groups"]), ("ann", "town", ["Staff", "Night shift"]))
    true(told["now"] < told["warn_at"] < told["idle_expires_at"] <= told["absolute_expires_at"], told)
    cookie = browser.cookies[SESSION]
    true(cookie.encode() not in answer.body and told["id"] not in cookie, "the session's name is told")
    refreshed = json.loads(browser.ask(PREFIX + "/session/refresh", "POST", same_site([("X-CSRF", told["csrf"])]), kind=FETCH).body)
    equal(refreshed["absolute_expires_at"], told["absolute_expires_at"])
    true(len(f"{SESSION}={cookie}") < 100, "long")


@scenario
def a_user_sees_and_ends_only_his_own_sessions(place):
    ann, other, bob = signed_in(place), signed_in(place), signed_in(place, "bob")
    listed = json.loads(other.ask(PREFIX + "/session", kind=FETCH).body)["id"]
    mine = json.loads(ann.ask(PREFIX + "/sessions", kind=FETCH).body)["sessions"]
    true(listed in [one["id"] for one in mine], mine)
    equal(bob.ask(f"{PREFIX}/sessions/{listed}", "DELETE", same_site(), kind=FETCH).status, 404)
    equal(ann.ask(f"{PREFIX}/sessions/{listed}", "DELETE", same_site(), kind=FETCH).status, 204)
    equal(other.ask(PREFIX + "/session", kind=FETCH).status, 401)
    equal(ann.ask(PREFIX + "/session", kind=FETCH).status, 200)


@scenario
def whoever_is_disabled_gets_other_groups_or_another_password_is_out_within_two_seconds(place):
    for change, back in ((("disable", "bob"), ("enable", "bob")),
                         (("groups", "bob", "--add", "Others"), ("groups", "bob", "--remove", "Others"))):
        browser = signed_in(place, "bob")
        place.gatehouse.folder.must("user", *change)
        gone(browser, change)
        place.gatehouse.folder.must("user", *back)
        time.sleep(1.5)
    browser = signed_in(place, "bob")
    place.gatehouse.folder.must("user", "set-password", "bob", "--password-stdin", typed=PASSWORDS["bob"] + "\n")
    gone(browser, "set-password")


def gone(browser, change):
    until = time.monotonic() + 2.5
    while browser.ask(PREFIX + "/session", kind=FETCH).status == 200:
        true(time.monotonic() < until, f"still in after {change}")
        time.sleep(0.1)


@scenario
def sign_ins_and_their_ends_are_in_the_log_and_no_secret_is(place):
    browser = signed_in(place)
    cookie = browser.cookies[SESSION]
    told = json.loads(browser.ask(PREFIX + "/session", kind=FETCH).body)
    browser.sign_in(f"{PREFIX}/sign-in?return=/shared", "ann", "a wrong password of ann")
    browser.ask(PREFIX + "/session", "DELETE", same_site(), kind=FETCH)
    log = place.gatehouse.server.log
    for secret in (cookie, *PASSWORDS.values(), "a wrong password of ann", told["csrf"]):
        true(secret not in log, "a secret is in the log")
    lines = [line for line in log.splitlines() if told["id"] in line]
    true(any("begun" in line or "signed in" in line for line in lines), f"no line of the beginning: {lines}")
    true(any("ended" in line for line in lines), f"no line of the end: {lines}")
