# SPDX-License-Identifier: Apache-2.0
"""Tests of the pages for users whose request is denied, and for the time when Gatehouse cannot be reached."""

from client import FETCH, NAVIGATION, SESSION, form
from http2_client import HTTP2
from scenarios import basic, expect, expect_denied, expect_equal, expect_rejected
from proxy_fixture import NAME, PREFIX, SIGN_IN_HOST, WIKI, received_request

SCENARIOS = []
UNAVAILABLE = b"Sign-in is not available"
HTML = "text/html; charset=utf-8"
# Values of Accept-Language, and a part of the page in that language.
LANGUAGES = (("de-DE,de;q=0.9,en;q=0.5", '<html lang="de"'), ("fr", '<html lang="fr"'), ("en-GB", '<html lang="en"'), ("xx", '<html lang="en"'))


def scenario(function):
    SCENARIOS.append(function)
    return function


def expect_page(answer, status, text):
    expect_rejected(answer, status)
    expect_equal(answer.field("content-type"), HTML, answer)
    expect(text in answer.body, answer)
    expect("no-store" in answer.field("cache-control"), answer)


@scenario
def a_user_who_is_not_allowed_gets_the_page_of_gatehouse(place):
    for method, body in (("GET", b""), ("POST", b"a=b"), ("PUT", b"x" * 100_000)):
        answer = place.member("bob").ask("/desk/page?x=1", method, body=body)
        expect_page(answer, 403, b"signed in as bob")
        expect_equal(form(answer, "csrf")[0], PREFIX + "/sign-out")
        for name in ("content-security-policy", "x-content-type-options", "referrer-policy"):
            expect_equal(len(answer.all(name)), 1, f"{name}: {answer}")
        expect_equal([name for name, _ in answer.fields if name.startswith("remote-")], [])
    answer = place.member("bob").ask("/desk", "HEAD")
    expect_equal((answer.status, answer.field("content-type"), answer.body), (403, HTML, b""))
    # The style sheet of the page.
    link = f'href="{PREFIX}/style.css"'.encode()
    answer = place.member("bob").ask("/desk")
    expect(link in answer.body, answer)
    expect_equal(place.member("bob").ask(PREFIX + "/style.css", kind={}).status, 200)


@scenario
def the_language_of_the_visitor_reaches_the_page_for_a_denied_request(place):
    for language, text in LANGUAGES:
        for fields in ([("Accept-Language", language)], [("accept-language", language), ("X-Accept-Language", "tr")]):
            answer = place.member("bob").ask("/desk", fields=fields)
            expect_page(answer, 403, text.encode())
        answer = place.browser().ask(PREFIX + "/sign-in", fields=[("Accept-Language", language)])
        expect(text.encode() in answer.body, f"{language}: {answer}")


@scenario
def a_program_whose_user_is_not_allowed_gets_text(place):
    for answer in (place.member("bob").ask("/desk", kind=FETCH), place.browser().ask("/desk", kind={}, fields=basic("bob"))):
        expect_rejected(answer, 403)
        expect_equal(answer.field("content-type"), "text/plain; charset=utf-8", answer)
        expect(answer.body and b"<" not in answer.body, answer)


@scenario
def a_user_who_is_not_allowed_by_http_basic_gets_the_page_without_a_button(place):
    answer = place.browser().ask("/desk", fields=basic("bob"))
    expect_page(answer, 403, b"signed in as bob")
    expect(b"<form" not in answer.body, answer)


@scenario
def the_page_for_a_method_that_no_rule_allows_is_a_page_of_gatehouse(place):
    """A browser that sends a form: the second check of nginx must be for the method of the form, or it would be allowed."""
    answer = place.browser().ask("/reading", "POST", body=b"a=b")
    expect_page(answer, 403 if place.proxy.flavour == "nginx" else 405, b"<main>")


@scenario
def a_request_that_cannot_be_decided_now_gets_503_and_never_an_empty_page(place):
    text = UNAVAILABLE if place.proxy.flavour == "nginx" else b"Try again later"
    for method, body in (("GET", b""), ("POST", b"a=b"), ("PUT", b"x" * 100_000)):
        answer = place.browser().ask("/down/x", method, basic("ann"), body)
        expect_page(answer, 503, text)
        expect_equal(answer.field("retry-after"), "5", answer)


@scenario
def the_page_for_a_request_that_cannot_be_checked_names_its_host_and_path(place):
    for kind in (NAVIGATION, FETCH):
        answer = place.browser().ask("/desk/a%2fb?token=secret", kind=kind)
        expect_rejected(answer, 403)
        expect(b"app.example.com" in answer.body and b"/desk/a%2fb" in answer.body, answer)
        expect(b"secret" not in answer.body, answer)


@scenario
def over_http_2_too_a_user_who_is_not_allowed_gets_the_page_of_gatehouse(place):
    client = HTTP2(place.proxy.port, place.proxy.certificate[0], NAME)
    place.open_browsers.append(client)
    cookie = "; ".join(f"{name}={value}" for name, value in place.member("bob").cookies.items())
    answer = client.begin().ask([(":method", "GET"), (":scheme", "https"), (":authority", NAME), (":path", "/desk"), ("cookie", cookie),
                                 *((name.lower(), value) for name, value in NAVIGATION.items())])
    expect_page(answer, 403, b"signed in as bob")


@scenario
def error_answers_of_the_application_are_passed_on_unchanged(place):
    for status in (400, 401, 403, 404, 500, 502, 503, 504):
        answer = place.member("ann").ask(f"/desk?status={status}")
        expect_equal((answer.status, answer.field("x-application")), (status, "yes"), answer)
        expect_equal(answer.field("content-type"), "application/json")


@scenario
def cookies_that_do_not_fit_into_the_check_are_rejected(place):
    """Over HTTP/2 a browser sends each cookie in a field of its own, and the check has all of them in one field."""
    token = place.member("ann").cookies[SESSION]
    fields = [(":method", "GET"), (":scheme", "https"), (":authority", NAME), (":path", "/desk"), ("cookie", f"{SESSION}={token}")]
    client = HTTP2(place.proxy.port, place.proxy.certificate[0], NAME)
    place.open_browsers.append(client)
    answer = client.begin().ask([*fields, *(("cookie", f"application-{number}={'x' * 3000}") for number in range(7))])
    expect_denied(answer)
    if place.proxy.flavour == "nginx":
        expect_equal(answer.status, 503, answer)


@scenario
def a_client_cannot_request_the_internal_addresses_of_the_proxy(place):
    if place.proxy.flavour != "nginx":
        return
    for path in ("/gatehouse-check", "/gatehouse-check/page", "/gatehouse-check/x", "/gatehouse-checkers", "/gatehouse-unavailable"):
        expect_rejected(place.member("ann").ask(path), 404)
        expect_rejected(place.member("ann").ask(path, kind=FETCH), 404)


@scenario
def a_page_says_that_gatehouse_cannot_be_reached(place):
    ann = place.member("ann")
    expect_equal(received_request(ann.ask("/desk"))["target"], "/desk")
    place.gatehouse.stop()
    try:
        for path in ("/desk", "/public/x?y=1", PREFIX + "/sign-in", PREFIX + "/style.css"):
            for method, body in (("GET", b""), ("POST", b"a=b")):
                for fields in ([], [("If-Modified-Since", "Fri, 31 Dec 2100 00:00:00 GMT"), ("If-None-Match", "*"), ("Range", "bytes=1-2")]):
                    answer = place.browser().ask(path, method, fields, body)
                    expect_page(answer, 503, UNAVAILABLE)
        answer = place.browser().ask("/desk", "HEAD")
        expect_equal((answer.status, answer.body), (503, b""))
        for host in (WIKI, SIGN_IN_HOST):
            browser = place.browser()
            browser.connection.name, browser.host = host, f"{host}:{place.proxy.port}"
            expect_page(browser.ask(PREFIX + "/sign-in"), 503, UNAVAILABLE)
        expect_equal(place.browser().ask("/desk", kind=FETCH).status, 503)
    finally:
        place.gatehouse.start()
    expect(UNAVAILABLE not in place.browser().ask(PREFIX + "/sign-in").body, "the page is still there")
