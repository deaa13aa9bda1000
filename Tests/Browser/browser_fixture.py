# SPDX-License-Identifier: Apache-2.0
"""The environment of the scenarios: a server, a browser, and the site of an attacker."""

import http.server
import os
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "Server"))

from server import Folder, Server  # noqa: E402

SESSION, SIGNING_IN = "__Host-gatehouse", "__Host-gatehouse-sign-in"
ANN, MALLORY = ("ann", "correct horse battery"), ("mallory", "password of mallory")
CODE, FIRST = "314159", "first of two"
CONFIGURATION = """
default-realm town;
login storeRealm {{ StoreLoginModule required; }}
login twoSteps   {{ ScriptedLoginModule required password="{first}" code="{code}" groups="User"; }}
realm town  {{ class StoreRealm; }}
realm steps {{ class StackRealm; jaas-context twoSteps; }}
passwords {{ hash argon2id memory=8MiB passes=1; }}
server {{
    listen 127.0.0.1:0;
    state state;
    access-log off;
    throttle {{ failures 0; source-failures 0; delay 0s; longest-delay 0s; }}
    sessions {{ {sessions} per-user 100; }}
}}
protect /welcome {{ realm town;  auth form basic; require group User; }}
protect /staff   {{ realm town;  auth form; require group Staff; }}
protect /steps   {{ realm steps; auth form; require any; }}
"""

SCENARIOS = []


def scenario(function):
    SCENARIOS.append(function)
    return function


def expect_equal(value, wanted, what=""):
    if value != wanted:
        raise AssertionError(f"{value!r} instead of {wanted!r} {what}")


def expect(value, what):
    if not value:
        raise AssertionError(what)


class Attacker(http.server.ThreadingHTTPServer):
    """A server with the pages of another site, in `pages` by path. For a browser, 127.0.0.1 and localhost are different sites."""

    def __init__(self):
        self.pages = {}
        super().__init__(("127.0.0.1", 0), Attacker.Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def origin(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = self.server.pages.get(self.path, "nothing").encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass


class Site:
    """A server with users, and with settings for its sessions."""

    def __init__(self, program, sessions):
        self.folder = Folder(program, CONFIGURATION.format(first=FIRST, code=CODE, sessions=sessions), "browser")
        for name, password in (ANN, MALLORY):
            self.folder.add(name, password, "--group", "User")
        self.server = Server(self.folder)
        self.origin = f"https://localhost:{self.server.port}"

    def command(self, *words):
        status, said = self.folder.run(*words)
        expect(status == 0, f"gatehouse {' '.join(words)}: status {status}: {said}")

    def close(self):
        self.server.__exit__()
        self.folder.__exit__()


class Place:
    """The server, the browser and the attacker of a run, with the pages that a scenario has opened."""

    def __init__(self, program, browser, screenshots):
        self.program, self.browser, self.screenshots = program, browser, screenshots
        self.site, self.brief = None, None
        self.contexts = []

    def __enter__(self):
        self.attacker = Attacker()
        self.site = Site(self.program, "idle 30m; absolute 12h; warning 2m;")
        self.origin = self.site.origin
        return self

    def __exit__(self, *_):
        self.close_contexts()
        self.attacker.shutdown()
        for site in (self.site, self.brief):
            if site is not None:
                site.close()

    def brief_site(self):
        """A server whose sessions expire soon, for scenarios that wait for that."""
        if self.brief is None:
            self.brief = Site(self.program, "idle 16s; absolute 10m; warning 10s;")
        return self.brief

    def page(self, **words):
        """A page of a browser without cookies."""
        context = self.browser.new_context(ignore_https_errors=True, **words)
        context.set_default_timeout(15_000)
        self.contexts.append(context)
        return context.new_page()

    def sign_in(self, page, who=ANN, at="/welcome", origin=None):
        page.goto((origin or self.origin) + at)
        fill(page, *who)
        return page

    def picture(self, page, name):
        page.screenshot(path=os.path.join(self.screenshots, f"{name}.png"), full_page=True)

    def picture_of_failure(self, name):
        for number, page in enumerate(page for context in self.contexts for page in context.pages):
            try:
                self.picture(page, f"failure-{name}-{number}")
                print(f"        at {page.url}: {page.inner_text('body')[:300]!r}")
            except Exception as error:  # noqa: BLE001 - the picture only helps to find the cause
                print(f"        there is no screenshot: {error}")

    def close_contexts(self):
        for context in self.contexts:
            context.close()
        self.contexts = []


def fill(page, name, password):
    page.fill("input[name=username]", name)
    page.fill("input[name=password]", password)
    page.press("input[name=password]", "Enter")
    page.wait_for_load_state()


def path(page):
    return "/" + page.url.split("/", 3)[3]


def has_session(page):
    return any(cookie["name"] == SESSION for cookie in page.context.cookies())


def is_welcome(page, name="ann"):
    expect(path(page).startswith("/welcome"), f"at {page.url}")
    expect(f"Welcome {name}" in page.inner_text("body"), page.inner_text("body"))
