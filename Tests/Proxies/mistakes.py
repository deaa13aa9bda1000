# SPDX-License-Identifier: Apache-2.0
"""Tests of the mistakes that docs/proxies and docs/forward-auth-reference.md list: what a browser gets, what the logs say, and that nothing is
open.

The expected statuses, texts and log lines are those of the tables in the documentation.
"""

import contextlib
import os
import re
import socket
import tempfile
import time

import authorization_requests
import proxy_fixture
from client import FETCH, SESSION, Browser
from proxy_fixture import NAME, Application, certificate, free_port, identity
from proxy_processes import DOCS
from scenarios import expect, expect_equal, identity_fields

FORGED = [("Remote-User", "root"), ("Remote-Groups", "Staff"), ("Remote-Realm", "town")]
PLAIN = "the proxy listens without TLS too"
HTTPS = "http instead of https in the address of Gatehouse"


class Gatehouse(proxy_fixture.Gatehouse):
    """A Gatehouse with an access log, and with changes of its configuration."""

    def __init__(self, program, *changes):
        self.changes = changes
        super().__init__(program)

    def _configuration(self, **_):
        text = super()._configuration().replace("access-log off;", "")
        for old, new in self.changes:
            expect(old in text, old)
            text = text.replace(old, new)
        return text


def rows(proxy):
    """The rows of the tables for a proxy, and for every proxy: mistake, what a browser gets, what the logs contain."""
    found = []
    for page in (f"proxies/{proxy}.md", "forward-auth-reference.md"):
        with open(os.path.join(DOCS, "..", page)) as file:
            section = file.read().partition("\n## Mistakes\n")[2].partition("\n## ")[0]
        lines = [line for line in section.splitlines() if line.startswith("| ")]
        expect(len(lines) > 1, f"{page} has no table of mistakes")
        found += [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines[1:]]
    return found


def quoted(text):
    return re.findall(r"`([^`]+)`", text)


def changes_of(kind, gatehouse, application):
    """The changes of the files of a proxy, by the mistake as the table names it. A string is the change of realms.conf."""
    nowhere, ours, theirs = (f"127.0.0.1:{port}" for port in (free_port(), gatehouse.port, application.port))
    server, located, shared, site = "snippets/gatehouse-server.conf", "snippets/gatehouse-application.conf", "gatehouse.conf", f"{NAME}.conf"
    caddy, haproxy, lua = "gatehouse.caddy", "site.cfg", "gatehouse.lua"
    tls = f" ssl verify required ca-file {gatehouse.authority} sni str(localhost) verifyhost localhost"

    def nginx_without(field):
        with open(os.path.join(DOCS, "nginx", "gatehouse-server.conf")) as file:
            line = re.search(rf"    proxy_set_header {field} .*\n", file.read())[0]
        return [(server, line, "")]

    return {
        "nginx": {
            "wrong port of Gatehouse": [(shared, ours, nowhere)],
            "port of the application instead of the port of Gatehouse": [(shared, ours, theirs)],
            "wrong port of the application": [(site, theirs, nowhere)],
            "port of Gatehouse instead of the port of the application": [(site, theirs, ours)],
            HTTPS: [(server, "https://gatehouse", "http://gatehouse")],
            "another name than that in the certificate of Gatehouse": [(server, "localhost;", "gatehouse.example.com;")],
            "`include snippets/gatehouse-server.conf` is missing": [(site, "    include snippets/gatehouse-server.conf;\n", "")],
            "`gatehouse.conf` is missing": [("nginx.conf", f"include {{folder}}/gatehouse.conf;", "")],
            "the check has no `X-Original-URL`": nginx_without("X-Original-URL"),
            "the check has no `X-Original-Method`": nginx_without("X-Original-Method"),
            "the check has no `X-Forwarded-For`": nginx_without("X-Forwarded-For"),
            "the check has no `Cookie`": [(server, "    proxy_set_header Cookie            $http_cookie;\n", "")],
            "the check has the path of another proxy": [(server, "auth/nginx", "auth/caddy")],
            PLAIN: [(site, "    listen 127.0.0.1:{port} ssl http2;", "    listen 127.0.0.1:{port} ssl http2;\n    listen 127.0.0.1:{plain};")],
        },
        "caddy": {
            "wrong port of Gatehouse": [(caddy, ours, nowhere)],
            "port of the application instead of the port of Gatehouse": [(caddy, ours, theirs)],
            "wrong port of the application": [("Caddyfile", theirs, nowhere)],
            "port of Gatehouse instead of the port of the application": [("Caddyfile", theirs, ours)],
            HTTPS: [(caddy, f"https://{ours}", f"http://{ours}"), (caddy, "\t\ttls_trusted_ca_certs", "\t\t#"),
                    (caddy, "\t\ttls_server_name localhost\n", "")],
            "another name than that in the certificate of Gatehouse": [(caddy, "tls_server_name localhost", "tls_server_name gatehouse.example.com")],
            "`import gatehouse.caddy` is missing": [("Caddyfile", "import gatehouse.caddy\n", "")],
            "`import gatehouse_application` is missing": [("Caddyfile", f"\timport gatehouse_application {theirs}\n", "")],
            "`import gatehouse_pages` is missing": [(caddy, "\timport gatehouse_pages\n\troute {\n\t\timport gatehouse_check", "\troute {\n\t\timport gatehouse_check")],
            "the check has no `X-Forwarded-Method`": [(caddy, "\t\theader_up X-Forwarded-Method {method}\n", "")],
            "the check has no `X-Forwarded-Uri`": [(caddy, "\t\theader_up X-Forwarded-Uri {uri}\n", "")],
            "the check has the path of another proxy": [(caddy, "auth/caddy", "auth/nginx")],
            PLAIN: [("Caddyfile", "# A second application.", f"http://{NAME}:{{plain}} {{\n\tbind 127.0.0.1\n\timport gatehouse_application {theirs}\n}}")],
        },
        "haproxy": {
            "wrong port of Gatehouse": [(haproxy, ours, nowhere)],
            "port of the application instead of the port of Gatehouse": [(haproxy, ours, theirs)],
            "wrong port of the application": [(haproxy, theirs, nowhere)],
            "port of Gatehouse instead of the port of the application": [(haproxy, theirs, ours)],
            HTTPS: [(haproxy, tls, "")],
            "another name than that in the certificate of Gatehouse": [(haproxy, "verifyhost localhost", "verifyhost gatehouse.example.com"),
                                                                       (haproxy, "sni str(localhost)", "sni str(gatehouse.example.com)")],
            "`lua-load-per-thread` is missing": [(haproxy, "    lua-load-per-thread", "    #")],
            "`http-request lua.gatehouse` is missing": [(haproxy, "    http-request lua.gatehouse", "    #")],
            "the host is missing in `hosts.map`": [("hosts.map", f"{NAME}   app\n", "")],
            "the check has no `x-forwarded-uri`": [(lua, '        ["x-forwarded-uri"] = { txn.sf:pathq() },\n', "")],
            "the check has no `x-forwarded-for`": [(lua, '        ["x-forwarded-for"] = { txn.sf:src() },\n', "")],
            "the check has no `cookie`": [(lua, '    "cookie", "authorization",', '    "authorization",')],
            "the check has the path of another proxy": [(haproxy, "auth/haproxy", "auth/nginx")],
            PLAIN: [(haproxy, "    bind 127.0.0.1:{port} ", "    bind 127.0.0.1:{plain}\n    bind 127.0.0.1:{port} ")],
        },
    }[kind.title]


CONFIGURATIONS = {
    "`trusted-proxies` is missing": ("trusted-proxies 127.0.0.1;", ""),
    "`trusted-proxies` has another address": ("trusted-proxies 127.0.0.1;", "trusted-proxies 192.0.2.1;"),
    "no rule for the host": ("app.example.com/", "intranet.example.com/"),
    "`sign-in { prefix /gatehouse; }` is missing": ("sign-in { prefix /gatehouse; }", ""),
}


def run(kind, program, count, folder):
    """Runs all mistakes of a proxy."""
    if count.words and not count.words.startswith("mistake"):
        return
    print(f"== {kind.title}, with mistakes in its files and in realms.conf", flush=True)
    names = certificate(folder, NAME, "www.example.com", "wiki.example.com", "auth.example.com")
    with Application() as application, Gatehouse(program) as gatehouse:
        visitors = authorization_requests.Place(gatehouse)
        cookies = {name: visitors.session(name) for name in ("ann", "bob")}
        visitors.close()
        files = changes_of(kind, gatehouse, application)
        for mistake, gets, logs in rows(kind.title):
            with contextlib.ExitStack() as stack:
                if mistake in CONFIGURATIONS:
                    changed = stack.enter_context(Gatehouse(program, CONFIGURATIONS[mistake]))
                    place = Place(kind, folder, changed, application, names, [], cookies)
                else:
                    place = Place(kind, folder, gatehouse, application, names, files.pop(mistake, None), cookies)
                count.run(scenario(mistake, gets, logs), place)
        if kind.title == "nginx":
            for each in (a_location_without_the_snippet_is_checked, a_location_with_fields_of_its_own_must_include_the_snippet):
                site = f"{NAME}.conf"
                line = "        include snippets/gatehouse-application.conf;\n"
                instead = "" if each is a_location_without_the_snippet_is_checked else "        proxy_set_header X-Any any;\n"
                count.run(each, Place(kind, folder, gatehouse, application, names, [(site, line, instead)], cookies))
        if kind.title == "caddy":
            change = ("Caddyfile", f"import gatehouse_application 127.0.0.1:{application.port}",
                      'import gatehouse_pages\n\troute {\n\t\timport gatehouse_check\n\t\trespond "hello {http.request.header.Remote-User}"\n\t}')
            count.run(a_caddy_site_with_directives_of_its_own_is_checked, Place(kind, folder, gatehouse, application, names, [change], cookies))
        missing = list(files)
        if missing and not count.words:
            count.failed += 1
            print(f"FAILED  not in the table of docs/proxies/{kind.title}.md: {missing}")


class Place:
    """A proxy with a mistake, which is started by the scenario."""

    def __init__(self, kind, folder, gatehouse, application, names, changes, cookies):
        self.gatehouse, self.application, self.cookies, self.changes = gatehouse, application, cookies, changes
        folder = tempfile.mkdtemp(dir=folder)
        os.chmod(folder, 0o755)
        self.proxy = kind(folder, gatehouse, application, names, names=(NAME,), has_log=True, changes=changes or ())
        self.plain = None
        if any("{plain}" in new for _, _, new in changes or ()):
            self.plain = free_port()

        def filled(text):
            return text.replace("{folder}", self.proxy.folder).replace("{port}", str(self.proxy.port)).replace("{plain}", str(self.plain))
        self.proxy.changes = [(file, filled(old), filled(new)) for file, old, new in changes or ()]

    def ask(self, who=None, **words):
        browser = Browser(self.plain or self.proxy.port, self.proxy.certificate[0], NAME)
        if self.plain:
            browser.connection.tls = socket.create_connection(("127.0.0.1", self.plain), 10)
        if who:
            browser.cookies = {SESSION: self.cookies[who]}
        try:
            return browser.ask("/desk", **words)
        finally:
            browser.close()

    def close(self):
        self.proxy.stop()


def a_location_without_the_snippet_is_checked(place):
    place.proxy.start()
    for who, status in ((None, 401), ("bob", 403)):
        expect_equal(place.ask(who, fields=FORGED, kind=FETCH).status, status)
    expect_equal(identity(place.ask("ann", fields=FORGED, kind=FETCH)), identity_fields("ann"))
    answer = place.ask()
    expect_equal((answer.status, "/gatehouse/sign-in" in answer.field("location")), (303, True), answer)


def a_location_with_fields_of_its_own_must_include_the_snippet(place):
    """The documentation warns of this: nobody is let in without permission, but the fields of the client arrive."""
    place.proxy.start()
    for who, status in ((None, 401), ("bob", 403)):
        expect_equal(place.ask(who, fields=FORGED, kind=FETCH).status, status)
    expect_equal(dict(identity(place.ask("ann", fields=FORGED, kind=FETCH)))["remote-user"], "root")


def a_caddy_site_with_directives_of_its_own_is_checked(place):
    """As the documentation says for an application that is not an HTTP server."""
    place.proxy.start()
    for who, status in ((None, 401), ("bob", 403)):
        expect_equal(place.ask(who, fields=FORGED, kind=FETCH).status, status)
    answer = place.ask("ann", fields=FORGED, kind=FETCH)
    expect_equal((answer.status, answer.body), (200, b"hello ann"), answer)


def scenario(mistake, gets, logs):
    def check(place):
        expect(place.changes is not None, "the test has no change for this row of the table")
        # Gatehouse writes its log some milliseconds later.
        time.sleep(0.1)
        begin = len(place.gatehouse.server.log)
        before = len(place.application.requests)
        wanted = [int(status) for status in re.findall(r"\b[1-5]\d\d\b", gets)]
        try:
            place.proxy.start()
        except SystemExit as error:
            expect("does not start" in gets, f"the proxy does not start: {error}")
            check_logs(place, begin, logs, str(error))
            return
        expect("does not start" not in gets, "the proxy starts")
        # A program and a user without permission never reach the application, whatever they send.
        for fields in ([], FORGED):
            for who in (None, "bob"):
                answer = place.ask(who, fields=fields, kind=FETCH)
                expect(answer is None or answer.field("x-application") is None, f"{who} is let in: {answer}")
        expect_equal(len(place.application.requests), before, "requests without permission have reached the application")
        who = "ann" if "signed in" in gets else None
        answer = place.ask(who)
        expect(answer is not None and answer.status in wanted, f"{answer}")
        for text in quoted(gets):
            expect(text.encode() in answer.body or text in str(answer.fields), f"{text!r} is not in {answer}: {answer.body}")
        expect_equal(len(place.application.requests), before, "the application has received a request")
        check_logs(place, begin, logs, "")
    name = "without its mistakes" if not mistake else re.sub(r"[^a-z0-9 ./_-]", "", mistake.lower())
    check.__name__ = f"mistake: {name}"
    return check


def check_logs(place, begin, logs, output):
    wanted = [(part, words) for part in logs.split("; ") for words in quoted(part)]

    def missing():
        ours, theirs = place.gatehouse.server.log[begin:], place.proxy.all_logs() + output
        texts = ((part, words, ours if part.startswith("Gatehouse") else theirs) for part, words in wanted)
        return next(((part, words, text) for part, words, text in texts if words not in text), None)

    # Both write their lines after the answer, and a proxy that is told to end may not write them at all.
    end = time.monotonic() + 10
    while missing() and time.monotonic() < end:
        time.sleep(0.05)
    found = missing()
    place.proxy.stop()
    if found:
        part, words, text = found
        expect(False, f"{words!r} is not in the log of {part.partition(':')[0]}: {text[-3000:]}")
    time.sleep(0.1)
    ours = place.gatehouse.server.log[begin:]
    if logs.startswith("Gatehouse: nothing"):
        expect("access:" not in ours, ours)
