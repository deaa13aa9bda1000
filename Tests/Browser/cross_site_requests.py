# SPDX-License-Identifier: Apache-2.0
"""Attacks by pages of another site."""

import html
import json
import urllib.parse

from browser_fixture import ANN, MALLORY, SESSION, expect_equal, fill, has_session, is_welcome, path, scenario, expect


def form(action, values, encoding="application/x-www-form-urlencoded", target="_top"):
    fields = "".join(f'<input type="hidden" name="{html.escape(name)}" value="{html.escape(value)}">'
                     for name, value in values.items())
    return (f'<form id="f" method="post" action="{action}" enctype="{encoding}" target="{target}">{fields}</form>'
            "<script>document.getElementById('f').submit()</script>")


def visit(place, page, text):
    """Opens a page of the attacker and waits until its requests are done."""
    place.attacker.pages["/attack"] = "<!doctype html><title>attack</title>" + text
    page.goto(place.attacker.origin + "/attack", wait_until="commit")
    page.wait_for_timeout(700)
    page.wait_for_load_state()


def ticket_of_the_attacker(place):
    page = place.page()
    page.goto(place.origin + "/sign-in")
    return page.input_value("input[name=ticket]")


@scenario
def a_form_of_another_site_cannot_sign_a_user_in(place):
    values = {"username": MALLORY[0], "password": MALLORY[1]}
    for ticket in ("", ticket_of_the_attacker(place)):
        for own_cookie in (False, True):
            page = place.page()
            if own_cookie:
                page.goto(place.origin + "/sign-in")
            visit(place, page, form(place.origin + "/sign-in", values | {"ticket": ticket}))
            expect(not has_session(page), f"signed in as the attacker: {page.url}")
            page.goto(place.origin + "/welcome")
            expect(path(page).startswith("/sign-in"), page.url)


@scenario
def another_site_cannot_sign_a_user_in_by_the_session_api(place):
    values = {"username": MALLORY[0], "password": MALLORY[1]}
    page = place.page()
    visit(place, page, form(place.origin + "/session", values))
    expect(not has_session(page), "by a form")
    page = place.page()
    text = json.dumps(values)
    visit(place, page, form(place.origin + "/session", {text[:-1] + ', "x":"': '"}'}, "text/plain"))
    expect(not has_session(page), "by a form that looks like JSON")
    page = place.page()
    visit(place, page, f"""<script>
        for (const kind of ["text/plain", "application/json", "application/x-www-form-urlencoded"])
            for (const mode of ["no-cors", "cors"])
                fetch("{place.origin}/session", {{method: "POST", mode, credentials: "include",
                    headers: {{"Content-Type": kind}},
                    body: kind.endsWith("urlencoded") ? "username={MALLORY[0]}&password={urllib.parse.quote(MALLORY[1])}"
                        : {json.dumps(text)} }}).catch(() => 0);
        navigator.sendBeacon("{place.origin}/session", {json.dumps(text)});
        </script>""")
    expect(not has_session(page), "by a script")


@scenario
def another_site_cannot_sign_a_user_out(place):
    other = place.sign_in(place.page())
    page = place.sign_in(place.page())
    for attack in (form(place.origin + "/sign-out", {"csrf": "x"}), form(place.origin + "/sign-out", {}),
                   form(place.origin + "/account/end", {"others": "all"}),
                   f'<img src="{place.origin}/sign-out"><iframe src="{place.origin}/sign-out"></iframe>',
                   f"""<script>
                       fetch("{place.origin}/sign-out", {{method: "POST", mode: "no-cors", credentials: "include"}});
                       fetch("{place.origin}/session", {{method: "DELETE", credentials: "include"}}).catch(() => 0);
                       fetch("{place.origin}/session/refresh", {{method: "POST", mode: "no-cors", credentials: "include"}});
                       </script>""", f'<meta http-equiv="refresh" content="0;url={place.origin}/sign-out">'):
        visit(place, page, attack)
        for signed_in in (page, other):
            signed_in.goto(place.origin + "/welcome")
            is_welcome(signed_in)


@scenario
def no_page_is_shown_in_a_frame_of_another_site(place):
    page = place.sign_in(place.page())
    for shown in ("/welcome", "/sign-in", "/account", "/"):
        visit(place, page, f'<iframe src="{place.origin}{shown}"></iframe>')
        frames = page.main_frame.child_frames
        expect_equal(len(frames), 1)
        text = frames[0].evaluate("document.documentElement.innerText")
        expect("ann" not in text and "Sign in" not in text, f"{shown} is shown in a frame: {text!r}")
        expect(frames[0].url.startswith("chrome-error:"), frames[0].url)


@scenario
def another_site_cannot_read_any_answer(place):
    page = place.sign_in(place.page())
    visit(place, page, f"""<script>
        window.got = [];
        for (const path of ["/session", "/sessions", "/welcome", "/session.js"])
            fetch("{place.origin}" + path, {{credentials: "include"}})
                .then(answer => answer.text()).then(text => got.push(path + " " + text)).catch(() => 0);
        const other = window.open("{place.origin}/welcome");
        setTimeout(() => {{ try {{ got.push(other.document.body.innerText) }} catch {{ }} }}, 500);
        </script>""")
    expect_equal(page.evaluate("window.got"), [])


ELSEWHERE = [
    "//evil.example", "/\\evil.example", "\\\\evil.example", "/\t/evil.example", "/%09/evil.example", "/a/../\\evil.example",
    "https:evil.example", "https://evil.example", "https://localhost@evil.example", "https://localhost\\@evil.example",
    "https://localhost.evil.example", "http://localhost", "javascript:alert(1)", "JaVaScRiPt:alert(1)",
    "data:text/html,x", "///evil.example", "////evil.example", "/\n/evil.example", "\t//evil.example", " //evil.example",
    "/.//evil.example", "/..//evil.example", "/welcome\r\nLocation: https://evil.example", "%2f%2fevil.example", "evil.example",
    "https://localhost:1/welcome", "@evil.example", ".evil.example", "/%5cevil.example", "/%2f%2fevil.example", "?//evil.example",
]


@scenario
def no_return_address_leads_to_another_site(place):
    for wanted in ELSEWHERE:
        page = place.page()
        page.goto(place.origin + "/sign-in?return=" + urllib.parse.quote(wanted, safe=""))
        fill(page, *ANN)
        expect(page.url.startswith(place.origin + "/"), f"{wanted!r} led to {page.url}")
        expect(has_session(page), f"{wanted!r}: not signed in, at {page.url}")
        page.context.close()
        place.contexts.remove(page.context)


@scenario
def a_return_address_may_have_a_url_in_its_query(place):
    page = place.page()
    wanted = "/welcome?next=https://evil.example/&x=//a"
    page.goto(place.origin + "/sign-in?return=" + urllib.parse.quote(wanted, safe=""))
    fill(page, *ANN)
    expect_equal(path(page), wanted)


@scenario
def a_repeated_session_cookie_is_ignored(place):
    page = place.sign_in(place.page())
    # Another host of the domain could set the second cookie. The browser sends both.
    value = next(cookie["value"] for cookie in page.context.cookies() if cookie["name"] == SESSION)
    answer = page.context.request.get(place.origin + "/session", headers={"Cookie": f"{SESSION}={value}; {SESSION}=x"})
    expect_equal(answer.status, 401)
