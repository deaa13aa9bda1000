# SPDX-License-Identifier: Apache-2.0
"""One sign-in for the hosts of two domains, behind each proxy: the sign-in host hands its sessions over."""

import contextlib
import json
import os
import shutil
import tempfile
import time
import urllib.parse

from behind_proxies import load
from browser_fixture import SESSION, expect, expect_equal, fill, scenario
from signing_out import wait_until

SIGN_IN_HOST, APP, WIKI, SHOP = "auth.example.com", "app.example.com", "wiki.example.com", "shop.example.net"
KINDS = ("Nginx", "Caddy", "HAProxy")

# The page of the application registers this worker, which reports every request that it sees: its URL and its body.
WORKER = """
self.addEventListener("install", event => event.waitUntil(self.skipWaiting()));
self.addEventListener("activate", event => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", event => {
    const url = event.request.url;
    if (url.includes("/report")) { return; }
    event.respondWith((async () => {
        const body = event.request.method == "POST" ? await event.request.clone().text() : "";
        await fetch("/report", {method: "POST", body: JSON.stringify([url, body])});
        return fetch(event.request);
    })());
});
"""


def configuration(port, state_port):
    return f"""
default-realm town;
login storeRealm {{ StoreLoginModule required; }}
login twoSteps   {{ ScriptedLoginModule required password="first of two" code="314159" groups="User"; }}
realm town  {{ class StoreRealm; }}
realm steps {{ class StackRealm; jaas-context twoSteps; }}
passwords {{ hash argon2id memory=8MiB passes=1; }}
server {{
    listen 127.0.0.1:{state_port};
    state state;
    access-log off;
    trusted-proxies 127.0.0.1;
    throttle {{ failures 0; source-failures 0; delay 0s; longest-delay 0s; }}
    sign-in {{ host {SIGN_IN_HOST}:{port}; prefix /gatehouse; }}
}}
protect {APP}/      {{ auth form basic; require group Staff; }}
protect {APP}/steps {{ realm steps; auth form; require any; }}
protect {APP}/report {{ open; }}
protect {WIKI}/     {{ auth form; require group Staff; }}
protect {SHOP}/     {{ auth form; require any; }}
"""


class Proxied:
    """A Gatehouse with a sign-in host, and applications on three other hosts, behind one proxy."""

    def __init__(self, place, kind, folder):
        fixture = load("proxy_fixture")
        port = fixture.free_port()

        class Gatehouse(fixture.Gatehouse):
            def _configuration(self, **_):
                return configuration(port, self.port)

        class Application(fixture.Application):
            """Also serves the worker and its page, keeps the reports of the worker, and redirects from /elsewhere to another server."""

            def __init__(self):
                self.reports = []
                super().__init__()

            async def _serve(self, reader, writer):
                try:
                    while True:
                        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                        method, target, _ = head[0].split(" ", 2)
                        named = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:-2])}
                        body = await reader.readexactly(int(named.get("content-length", "0")))
                        if target == "/report":
                            self.reports.append(json.loads(body))
                        kind, text = ("text/javascript", WORKER) if target == "/worker.js" else ("text/html", json.dumps(named))
                        answer = text.encode()
                        if target == "/elsewhere":
                            writer.write(b"HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n" % (place.origin + "/health").encode())
                            continue
                        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n" % (kind.encode(), len(answer))
                                     + (b"" if method == "HEAD" else answer))
                        await writer.drain()
                except (OSError, ValueError, EOFError):
                    pass
                finally:
                    writer.close()

        self.stack = contextlib.ExitStack()
        self.application = self.stack.enter_context(Application())
        self.gatehouse = self.stack.enter_context(Gatehouse(place.program))
        # The proxy also serves WIKI and SIGN_IN_HOST.
        certificate = fixture.certificate(folder, APP, WIKI, SHOP, SIGN_IN_HOST)
        self.stack.enter_context(kind(folder, self.gatehouse, self.application, certificate, names=(APP, SHOP), port=port))
        self.place, self.port = place, port

    def url(self, host, path="/"):
        return f"https://{host}:{self.port}{path}"

    def open(self, page, host, path="/"):
        """Opens a page, and returns the number of redirects."""
        redirects = []

        def count(response):
            if response.request.is_navigation_request() and 300 <= response.status < 400:
                redirects.append(response.url)
        page.on("response", count)
        page.goto(self.url(host, path))
        page.remove_listener("response", count)
        return len(redirects)

    def sign_in(self, page, host=APP, path="/"):
        self.open(page, host, path)
        expect_equal(urllib.parse.urlsplit(page.url).hostname, SIGN_IN_HOST)
        fill(page, "ann", load("proxy_fixture").PASSWORDS["ann"])
        expect_equal(page.url, self.url(host, path))

    def close(self):
        self.place.close_contexts()
        self.stack.close()


def behind_each_proxy(place, visit):
    for name in KINDS:
        kind = getattr(load("proxy_processes"), name)
        if kind.missing():
            print(f"SKIPPED {kind.title}: {kind.missing()}")
            continue
        folder = tempfile.mkdtemp(prefix="gatehouse-one-sign-in-")
        os.chmod(folder, 0o755)
        try:
            proxied = Proxied(place, kind, folder)
            try:
                visit(proxied)
            except Exception:
                place.picture_of_failure(f"one-sign-in-{name}")
                raise
            finally:
                proxied.close()
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@scenario
def one_sign_in_is_enough_for_hosts_of_two_domains(place):
    def visit(proxied):
        for words in ({}, {"java_script_enabled": False}):
            page = place.page(**words)
            proxied.sign_in(page, APP, "/desk?x=1")
            expect('"remote-user": "ann"' in page.inner_text("body").lower(), page.inner_text("body"))
            for host in (WIKI, SHOP):
                # To the sign-in host and back, and from the address with the code to the page.
                expect_equal(proxied.open(page, host, "/page?y=2"), 3)
                expect_equal(page.url, proxied.url(host, "/page?y=2"))
                expect_equal(proxied.open(page, host, "/other"), 0)
            cookies = [(cookie["domain"], cookie["value"]) for cookie in page.context.cookies() if cookie["name"] == SESSION]
            expect_equal(sorted(domain for domain, _ in cookies), sorted((SIGN_IN_HOST, APP, WIKI, SHOP)))
            expect_equal(len({value for _, value in cookies}), 4)
            received = page.inner_text("body")
            expect("__Host-" not in received, received)
    behind_each_proxy(place, visit)


@scenario
def a_sign_out_at_one_host_signs_the_user_out_at_all(place):
    def visit(proxied):
        page = place.page()
        proxied.sign_in(page, APP)
        proxied.open(page, SHOP)
        other = page.context.new_page()
        other.goto(proxied.url(WIKI))
        expect_equal(other.evaluate("fetch('/x').then(answer => answer.status)"), 200)
        csrf = page.evaluate("fetch('/gatehouse/session').then(answer => answer.json()).then(session => session.csrf)")
        page.evaluate("""csrf => { document.body.innerHTML = '<form method=post action=/gatehouse/sign-out><input name=csrf></form>';
            document.querySelector("input").value = csrf; document.querySelector("form").submit() }""", csrf)
        page.wait_for_url(proxied.url(SIGN_IN_HOST, "/gatehouse/sign-in?notice=signed-out"))
        begin = time.monotonic()
        expect("signed out" in page.inner_text("body"), page.inner_text("body"))
        wait_until(lambda: other.evaluate("fetch('/x').then(answer => answer.status)") == 401, 1, "the other host still answers")
        expect(time.monotonic() - begin < 5, "the end took too long")
        proxied.open(page, SHOP)
        expect_equal(urllib.parse.urlsplit(page.url).hostname, SIGN_IN_HOST)
    behind_each_proxy(place, visit)


@scenario
def no_tab_and_no_stale_page_loses_the_way(place):
    def visit(proxied):
        page = place.page()
        second, third = page.context.new_page(), page.context.new_page()
        proxied.open(page, APP, "/1")
        proxied.open(second, WIKI, "/2")
        proxied.open(third, APP, "/3")
        fill(page, "ann", load("proxy_fixture").PASSWORDS["ann"])
        expect_equal(page.url, proxied.url(APP, "/1"))
        fill(second, "ann", "not even the password: the browser is signed in")
        expect_equal(second.url, proxied.url(WIKI, "/2"))
        third.reload()
        expect_equal(third.url, proxied.url(APP, "/3"))
        # After a restart the page of the form is stale.
        stale = place.page()
        proxied.open(stale, SHOP, "/4")
        proxied.gatehouse.stop()
        proxied.gatehouse.start()
        fill(stale, "ann", load("proxy_fixture").PASSWORDS["ann"])
        expect_equal(stale.url, proxied.url(SHOP, "/4"))
        # The sessions have survived the restart.
        expect_equal(proxied.open(page, WIKI, "/5"), 0)
    behind_each_proxy(place, visit)


@scenario
def a_code_of_the_wrong_digits_can_be_corrected(place):
    def visit(proxied):
        page = place.page()
        proxied.open(page, APP, "/steps/x")
        fill(page, "carl", "first of two")
        expect("carl" in page.inner_text("main"), page.inner_text("main"))
        page.fill("input[name=answer-0]", "000000")
        page.press("input[name=answer-0]", "Enter")
        page.wait_for_load_state()
        expect("not accepted" in page.inner_text("[role=alert]"), page.inner_text("main"))
        page.fill("input[name=answer-0]", "314 159")
        page.press("input[name=answer-0]", "Enter")
        page.wait_for_load_state()
        expect_equal(page.url, proxied.url(APP, "/steps/x"))
    behind_each_proxy(place, visit)


@scenario
def the_fragment_of_an_address_survives_the_sign_in(place):
    def visit(proxied):
        page = place.page()
        proxied.open(page, APP, "/steps/x#part-2")
        fill(page, "carl", "first of two")
        page.fill("input[name=answer-0]", "314159")
        page.press("input[name=answer-0]", "Enter")
        page.wait_for_load_state()
        expect_equal(page.url, proxied.url(APP, "/steps/x#part-2"))
        page = place.page()
        proxied.sign_in(page, APP, "/desk#one")
        proxied.open(page, WIKI, "/page#two")
        expect_equal(page.url, proxied.url(WIKI, "/page#two"))
    behind_each_proxy(place, visit)


@scenario
def an_application_may_redirect_to_any_other_server_after_the_sign_in(place):
    def visit(proxied):
        for words in ({}, {"java_script_enabled": False}):
            page = place.page(**words)
            proxied.open(page, SHOP, "/elsewhere")
            fill(page, "ann", load("proxy_fixture").PASSWORDS["ann"])
            page.wait_for_url(place.origin + "/health")
    behind_each_proxy(place, visit)


@scenario
def a_second_session_cookie_that_a_script_has_set_does_not_lock_the_user_out(place):
    def visit(proxied):
        page = place.page()
        proxied.sign_in(page, APP)
        page.evaluate("document.cookie = '__Host-gatehouse=x; Secure; Path=/; SameSite=None; Partitioned'")
        expect_equal(len([one for one in page.context.cookies(proxied.url(APP)) if one["name"] == SESSION]), 2)
        proxied.open(page, APP, "/desk")
        expect_equal(page.url, proxied.url(APP, "/desk"))
        expect_equal(proxied.open(page, APP, "/desk"), 0)
    behind_each_proxy(place, visit)


@scenario
def a_service_worker_of_an_application_sees_no_password(place):
    def visit(proxied):
        page = place.page()
        proxied.sign_in(page, APP, "/page")
        page.evaluate("navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready).then(() => true)")
        wait_until(lambda: page.evaluate("navigator.serviceWorker.controller != null"), 10, "the worker does not control the page")
        page.context.clear_cookies()
        proxied.application.reports.clear()
        proxied.sign_in(page, APP, "/page")
        reports = json.dumps(proxied.application.reports)
        # The worker was in place: it has seen the end of the hand-over.
        expect("/gatehouse/enter?code=" in reports, f"the worker has reported {reports}")
        expect(load("proxy_fixture").PASSWORDS["ann"] not in urllib.parse.unquote_plus(reports), "the worker has seen the password")
        expect("password" not in reports, reports)
    behind_each_proxy(place, visit)


@scenario
def a_user_who_is_not_allowed_signs_out_on_the_page_that_says_so(place):
    def visit(proxied):
        page = place.page()
        proxied.open(page, APP, "/desk")
        fill(page, "bob", load("proxy_fixture").PASSWORDS["bob"])
        expect_equal(page.url, proxied.url(APP, "/desk"))
        expect("signed in as bob" in page.inner_text("main"), page.inner_text("body"))
        # The style sheet is loaded from the host of the application.
        expect_equal(page.evaluate("getComputedStyle(document.body).display"), "flex")
        page.get_by_role("button", name="Sign out").click()
        page.wait_for_url(proxied.url(SIGN_IN_HOST, "/gatehouse/sign-in?notice=signed-out"))
        proxied.sign_in(page, APP, "/desk")
    behind_each_proxy(place, visit)


@scenario
def a_page_with_its_own_style_says_that_gatehouse_cannot_be_reached(place):
    def visit(proxied):
        page = place.page()
        proxied.sign_in(page, APP, "/desk")
        proxied.gatehouse.stop()
        try:
            proxied.open(page, APP, "/desk")
            expect("not available" in page.inner_text("h1"), page.inner_text("body"))
            expect_equal(page.evaluate("getComputedStyle(document.body).display"), "flex")
        finally:
            proxied.gatehouse.start()
        page.reload()
        expect('"remote-user": "ann"' in page.inner_text("body").lower(), page.inner_text("body"))
    behind_each_proxy(place, visit)
