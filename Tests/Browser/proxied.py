# SPDX-License-Identifier: Apache-2.0
# Gatehouse
"""The same through a proxy: the browser knows the application's name only, and speaks HTTP/2 to what is in front of it."""

import importlib.util
import os
import shutil
import sys
import tempfile

from leaving import until
from place import HERE, SESSION, equal, fill, path, scenario, true

PROXIES = os.path.join(HERE, "..", "Proxies")


def load(name):
    """A module of Tests/Proxies."""
    if PROXIES not in sys.path:
        sys.path.append(PROXIES)
    spec = importlib.util.find_spec(name)
    module = sys.modules.get(name) or importlib.util.module_from_spec(spec)
    if name not in sys.modules:
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return module


def through(place, kind_name, visit):
    """Has `visit` look at a page behind a proxy, if that is installed."""
    world, peers = load("world"), load("peers")
    kind = getattr(peers, kind_name)
    if kind.missing():
        print(f"SKIPPED {kind.title}: {kind.missing()}")
        return
    folder = tempfile.mkdtemp(prefix="gatehouse-proxied-")
    os.chmod(folder, 0o755)
    try:
        with world.Application() as application, world.Gatehouse(place.program) as gatehouse:
            with kind(folder, gatehouse, application, world.certificate(folder, world.NAME)) as proxy:
                visit(world, gatehouse, place.page(), f"https://{world.NAME}:{proxy.port}")
                place.close_contexts()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def visit(world, gatehouse, page, origin):
    name, password = "ann", world.PASSWORDS["ann"]
    page.goto(origin + "/desk?x=1")
    true(path(page).startswith("/gatehouse/sign-in"), page.url)
    fill(page, name, "wrong")
    true(page.inner_text("[role=alert]").strip(), "nothing is said")
    fill(page, name, password)
    equal(page.url, origin + "/desk?x=1")
    shown = page.inner_text("body")
    true('"remote-user", "ann"' in shown.lower(), shown)
    cookies = page.context.cookies()
    equal([(cookie["domain"], cookie["secure"]) for cookie in cookies if cookie["name"] == SESSION], [("app.example.com", True)])
    true(next(cookie["value"] for cookie in cookies if cookie["name"] == SESSION) not in shown, "the application has the session")
    answer = page.evaluate("fetch('/form').then(answer => answer.status)")
    equal(answer, 200)
    # A page of ours, whose script hears of the end through the proxy.
    page.goto(origin + "/gatehouse/account")
    true("ann" in page.inner_text("main"), page.inner_text("body"))
    page.wait_for_timeout(1000)
    gatehouse.end_sessions(name)
    until(lambda: "Night shift" not in page.evaluate("document.body.innerText"), 20, f"it still shows {page.inner_text('body')!r}")
    equal(page.evaluate("fetch('/form').then(answer => answer.status)"), 401)
    page.goto(origin + "/desk")
    true(path(page).startswith("/gatehouse/sign-in"), page.url)
    fill(page, name, password)
    page.goto(origin + "/gatehouse/account")
    page.locator("form[action$='/sign-out'] button").first.click()
    page.wait_for_load_state()
    true("signed out" in page.inner_text("body").lower(), page.inner_text("body"))
    page.goto(origin + "/desk")
    true(path(page).startswith("/gatehouse/sign-in"), page.url)


# Answers with a word if the browser asks for a password by a window of its own: the script would wait for it for ever.
STATUS = """path => Promise.race([fetch(path).then(answer => answer.status),
    new Promise(done => setTimeout(() => done("the browser has opened a window"), 5000))])"""


def visit_by_script(world, gatehouse, page, origin):
    page.goto(origin + "/public/page")
    equal(page.evaluate(STATUS, "/form"), 401)
    equal(page.evaluate(STATUS, "/desk"), 401, "where the rule offers basic, too")


@scenario
def a_script_whose_session_is_over_is_told_401_and_no_window_asks_for_a_password(place):
    for kind in ("Nginx", "Caddy", "HAProxy"):
        through(place, kind, visit_by_script)


@scenario
def all_of_it_works_through_nginx(place):
    through(place, "Nginx", visit)


@scenario
def all_of_it_works_through_caddy(place):
    through(place, "Caddy", visit)


@scenario
def all_of_it_works_through_haproxy(place):
    through(place, "HAProxy", visit)
