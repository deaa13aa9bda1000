# SPDX-License-Identifier: Apache-2.0
"""Signing in behind a proxy. The browser uses the host of the application, and HTTP/2."""

import importlib.util
import os
import shutil
import sys
import tempfile

from signing_out import wait_until
from browser_fixture import HERE, SESSION, expect_equal, fill, path, scenario, expect

PROXIES = os.path.join(HERE, "..", "Proxies")


def load(name):
    """Loads a module of Tests/Proxies."""
    if PROXIES not in sys.path:
        sys.path.append(PROXIES)
    spec = importlib.util.find_spec(name)
    module = sys.modules.get(name) or importlib.util.module_from_spec(spec)
    if name not in sys.modules:
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return module


def behind_proxy(place, kind_name, visit):
    """Calls `visit` with a page behind a proxy, if the proxy is installed."""
    fixture, processes = load("proxy_fixture"), load("proxy_processes")
    kind = getattr(processes, kind_name)
    if kind.missing():
        print(f"SKIPPED {kind.title}: {kind.missing()}")
        return
    folder = tempfile.mkdtemp(prefix="gatehouse-proxied-")
    os.chmod(folder, 0o755)
    try:
        with fixture.Application() as application, fixture.Gatehouse(place.program) as gatehouse:
            with kind(folder, gatehouse, application, fixture.certificate(folder, fixture.NAME)) as proxy:
                visit(fixture, gatehouse, place.page(), f"https://{fixture.NAME}:{proxy.port}")
                place.close_contexts()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def visit(fixture, gatehouse, page, origin):
    name, password = "ann", fixture.PASSWORDS["ann"]
    page.goto(origin + "/desk?x=1")
    expect(path(page).startswith("/gatehouse/sign-in"), page.url)
    fill(page, name, "wrong")
    expect(page.inner_text("[role=alert]").strip(), "nothing is said")
    fill(page, name, password)
    expect_equal(page.url, origin + "/desk?x=1")
    shown = page.inner_text("body")
    expect('"remote-user", "ann"' in shown.lower(), shown)
    cookies = page.context.cookies()
    expect_equal([(cookie["domain"], cookie["secure"]) for cookie in cookies if cookie["name"] == SESSION], [("app.example.com", True)])
    expect(next(cookie["value"] for cookie in cookies if cookie["name"] == SESSION) not in shown, "the application has received the session cookie")
    answer = page.evaluate("fetch('/form').then(answer => answer.status)")
    expect_equal(answer, 200)
    # The script of the account page receives the end of the session through the proxy.
    page.goto(origin + "/gatehouse/account")
    expect("ann" in page.inner_text("main"), page.inner_text("body"))
    page.wait_for_timeout(1000)
    gatehouse.end_sessions(name)
    wait_until(lambda: "Night shift" not in page.evaluate("document.body.innerText"), 20, f"it still shows {page.inner_text('body')!r}")
    expect_equal(page.evaluate("fetch('/form').then(answer => answer.status)"), 401)
    page.goto(origin + "/desk")
    expect(path(page).startswith("/gatehouse/sign-in"), page.url)
    fill(page, name, password)
    page.goto(origin + "/gatehouse/account")
    page.locator("form[action$='/sign-out'] button").first.click()
    page.wait_for_load_state()
    expect("signed out" in page.inner_text("body").lower(), page.inner_text("body"))
    page.goto(origin + "/desk")
    expect(path(page).startswith("/gatehouse/sign-in"), page.url)


# If the browser opens a password window, fetch() never returns. Then the result is this text instead of a status.
STATUS = """path => Promise.race([fetch(path).then(answer => answer.status),
    new Promise(done => setTimeout(() => done("the browser has opened a window"), 5000))])"""


def visit_by_script(fixture, gatehouse, page, origin):
    page.goto(origin + "/public/page")
    expect_equal(page.evaluate(STATUS, "/form"), 401)
    expect_equal(page.evaluate(STATUS, "/desk"), 401, "where the rule offers basic, too")


@scenario
def a_script_without_a_session_gets_401_without_a_password_window(place):
    for kind in ("Nginx", "Caddy", "HAProxy"):
        behind_proxy(place, kind, visit_by_script)


@scenario
def signing_in_and_out_works_behind_nginx(place):
    behind_proxy(place, "Nginx", visit)


@scenario
def signing_in_and_out_works_behind_caddy(place):
    behind_proxy(place, "Caddy", visit)


@scenario
def signing_in_and_out_works_behind_haproxy(place):
    behind_proxy(place, "HAProxy", visit)
