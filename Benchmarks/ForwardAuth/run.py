# SPDX-License-Identifier: Apache-2.0
"""Measures the cost of an authorization request of nginx: to a gatehouse with a session, to one with a session that a sign-in host has handed
over, and to an nginx that allows every request. Two builds of gatehouse can be compared.

    run.py GATEHOUSE [OTHER]

With OTHER, A is GATEHOUSE and B is OTHER, such as an earlier build. Both are measured in the same run, in turn. If B does not know sign-in hosts,
it is measured without a session that was handed over.

Environment: BENCH_ROUNDS (7), BENCH_SECONDS (4), BENCH_CONNECTIONS (32). The measured server runs alone on
the lowest core. The nginx that sends the authorization requests, and wrk, run on the highest core. The servers are measured in turn, in
alternating order. Requires nginx, wrk, openssl, Python 3.9 and Linux.
"""

import contextlib
import html
import json
import os
import re
import shutil
import signal
import ssl
import statistics
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "HTTP"))
sys.path.insert(0, os.path.join(HERE, "..", "..", "Tests", "Server"))

from fleet import free_port, make_certificates  # noqa: E402
from processes import Service, pinned, wait_until  # noqa: E402
from server import Folder  # noqa: E402

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "7"))
SECONDS = float(os.environ.get("BENCH_SECONDS", "4"))
CONNECTIONS = int(os.environ.get("BENCH_CONNECTIONS", "32"))
GOAL = 1.2
KINDS = (("session", ""), ("child session", "sign-in { host auth.example.com; }"))
PASSWORD = "correct horse battery"
CONFIGURATION = """
default-realm town;
login storeRealm {{ StoreLoginModule required; }}
realm town {{ class StoreRealm; }}
server {{
    listen 127.0.0.1:{port};
    state state;
    threads 1;
    access-log off;
    trusted-proxies 127.0.0.1;
    tls {{ certificate {certificate}; key {key}; minimum-version 1.3; }}
    {sign_in}
}}
protect app.example.com/ {{ auth form; require group Staff; }}
"""


def filled(name, **words):
    with open(os.path.join(HERE, name)) as file:
        text = file.read()
    for word, value in words.items():
        text = text.replace(f"@{word.upper()}@", str(value))
    return text


class Nginx(Service):
    def __init__(self, root, name, core, **words):
        folder = os.path.join(root, name)
        os.makedirs(os.path.join(folder, "pages"))
        with open(os.path.join(folder, "pages", "desk"), "w") as page:
            page.write("ok\n")
        self.port = free_port()
        for file, source in (("server.conf", f"server-{name.partition('-')[0]}.conf"), ("nginx.conf", "nginx.conf")):
            with open(os.path.join(folder, file), "w") as out:
                out.write(filled(source, folder=folder, port=self.port, **words))
        super().__init__(["nginx", "-e", f"{folder}/error.log", "-p", folder, "-c", f"{folder}/nginx.conf"], core,
                         f"{folder}/output.log")


class Browser:
    """A browser that finds every host at one port, and keeps the cookies of each host."""

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_):
            return None

    def __init__(self, port, authority):
        self.port, self.jars = port, {}
        handler = urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=authority))
        self.opener = urllib.request.build_opener(self.Stay, handler)

    def ask(self, url, data=None):
        """Sends a request, and follows redirects. Returns the last URL and its page."""
        for _ in range(8):
            parts = urllib.parse.urlsplit(url)
            jar = self.jars.setdefault(parts.hostname, {})
            request = urllib.request.Request(f"https://localhost:{self.port}{parts._replace(scheme='', netloc='').geturl()}", data, {
                "Cookie": "; ".join(f"{name}={value}" for name, value in jar.items()), "Accept": "text/html",
                "Host": parts.hostname, "Origin": f"https://{parts.hostname}", "Sec-Fetch-Site": "same-origin"})
            try:
                answer = self.opener.open(request, timeout=20)
            except urllib.error.HTTPError as error:
                answer = error
            for cookie in answer.headers.get_all("Set-Cookie") or []:
                name, _, value = cookie.split(";")[0].partition("=")
                jar[name] = value
            if "Location" not in answer.headers:
                break
            url, data = urllib.parse.urljoin(url, answer.headers["Location"]), None
        return url, answer.read().decode()


def session(port, authority):
    """Signs ann in as a browser does that opens the application, and returns the session cookie of the application."""
    browser = Browser(port, authority)
    url, page = browser.ask("https://app.example.com/desk")
    ticket = html.unescape(re.search(r'name="ticket" value="([^"]*)"', page).group(1))
    form = urllib.parse.urlencode({"ticket": ticket, "username": "ann", "password": PASSWORD}).encode()
    browser.ask(urllib.parse.urljoin(url, "/sign-in"), form)
    if "__Host-gatehouse" not in browser.jars["app.example.com"]:
        sys.exit("bench-forward-auth: the sign-in has failed")
    return browser.jars["app.example.com"]["__Host-gatehouse"]


def answers(port, cookie):
    """Sends one request to the proxy. Returns the status and the identity that the proxy received."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/desk", headers={"Cookie": f"__Host-gatehouse={cookie}"})
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.status, answer.headers["X-Seen"]
    except OSError as error:
        return error, None


def load(front, cookie, core, seconds):
    summary = os.path.join(HERE, "..", "HTTP", "client", "summary.lua")
    result = subprocess.run(
        ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds:g}s", "--latency", "-s", summary, "-H",
         f"Cookie: __Host-gatehouse={cookie}", f"http://127.0.0.1:{front.port}/desk"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds + 60, preexec_fn=pinned(core))
    line = next((line for line in result.stdout.splitlines() if line.startswith("SUMMARY ")), None)
    if line is None:
        sys.exit(f"bench-forward-auth: wrk failed: {result.stdout}{result.stderr}")
    summary = json.loads(line[len("SUMMARY "):])
    if any(summary[kind] for kind in ("status", "connect", "read", "write", "timeout")):
        said = open(os.path.join(os.path.dirname(front.log), "error.log")).read()[-1500:]
        sys.exit(f"bench-forward-auth: wrk saw errors: {summary}\n{said}")
    return summary


def main():
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    for program in ("nginx", "wrk", "openssl"):
        if shutil.which(program) is None and not os.path.exists(f"/usr/sbin/{program}"):
            sys.exit(f"bench-forward-auth: {program} is needed. Debian: apt-get install nginx-light wrk openssl")
    os.environ["PATH"] += ":/usr/sbin"
    cores = sorted(os.sched_getaffinity(0))
    root = tempfile.mkdtemp(prefix="gatehouse-bench-")
    os.chmod(root, 0o755)
    make_certificates(root)
    certificate, key = f"{root}/ecdsa.certificate.pem", f"{root}/ecdsa.key.pem"
    services, asked, fronts, cookies = [], {}, {}, {}
    programs = dict(zip(("A ", "B "), sys.argv[1:3])) if len(sys.argv) > 2 else {"": sys.argv[1]}
    try:
        with contextlib.ExitStack() as folders:
            for build, kind, sign_in in [(build, *each) for build in programs for each in KINDS]:
                name = build + kind
                port = free_port()
                text = CONFIGURATION.format(port=port, certificate=certificate, key=key, sign_in=sign_in)
                folder = folders.enter_context(Folder(programs[build], text, f"forward-auth-{name.replace(' ', '-')}"))
                status, said = folder.run("check")
                if status != 0 and build == "B " and sign_in:
                    print(f"{name} is not measured: {said.splitlines()[0]}")
                    continue
                folder.add("ann", PASSWORD, "--group", "Staff")
                gatehouse = Service(folder.command("serve"), cores[0], os.path.join(folder.path, "log"))
                services.append(gatehouse)
                if not wait_until(lambda: "listening on" in open(gatehouse.log).read(), 20):
                    sys.exit(open(gatehouse.log).read())
                asked[name] = (gatehouse, port)
                cookies[name] = session(port, certificate)
            yes = Nginx(root, "yes", cores[0], certificate=certificate, key=key)
            services.append(yes)
            asked["nginx 204"] = (yes, yes.port)
            cookies["nginx 204"] = cookies[next(iter(cookies))]
            for name, (_, port) in asked.items():
                fronts[name] = Nginx(root, f"front-{name.replace(' ', '-')}", cores[-1], asked=port, certificate=certificate)
                services.append(fronts[name])
                seen = (200, "ann Staff town")
                if not wait_until(lambda: answers(fronts[name].port, cookies[name]) == seen, 10):
                    sys.exit(f"bench-forward-auth: {name} answers {answers(fronts[name].port, cookies[name])}")
            for name in asked:
                if name != "nginx 204" and answers(fronts[name].port, "x" * 43)[1] is not None:
                    sys.exit("bench-forward-auth: gatehouse allows an invalid session")
            measure({name: service for name, (service, _) in asked.items()}, fronts, cookies, cores)
    finally:
        for service in services:
            service.end()
        shutil.rmtree(root, ignore_errors=True)


def measure(asked, fronts, cookies, cores):
    taken = {name: [] for name in asked}
    print(f"each request of wrk causes one authorization request over TLS 1.3; {CONNECTIONS} connections, {ROUNDS} rounds of {SECONDS:g} s")
    print(f"load average {os.getloadavg()[0]:.2f}, cores {cores[0]} (measured server) and {cores[-1]} (proxy, wrk)")
    for name in asked:
        load(fronts[name], cookies[name], cores[-1], 1)
    for number in range(ROUNDS):
        for name in list(asked) if number % 2 else list(asked)[::-1]:
            before = asked[name].cpu()
            summary = load(fronts[name], cookies[name], cores[-1], SECONDS)
            cpu = (asked[name].cpu() - before) * 1e6 / summary["requests"]
            taken[name].append((cpu, summary["requests"] * 1e6 / summary["microseconds"], summary["p50"], summary["p99"]))
    print(f"{'server':15} {'CPU us':>8} {'requests/s':>11} {'p50 us':>8} {'p99 us':>8}")
    for name, samples in taken.items():
        cpu, rate, p50, p99 = (statistics.median(column) for column in zip(*samples))
        print(f"{name:15} {cpu:8.1f} {rate:11.0f} {p50:8.0f} {p99:8.0f}")
    first = next(iter(taken)).removesuffix("session")
    cpu, whole = ratios(taken[f"{first}session"], taken["nginx 204"])
    print(f"CPU time of an authorization request, ratio of gatehouse to nginx 204: {cpu:.2f} (goal {GOAL}: {'reached' if cpu <= GOAL else 'missed'})")
    print(f"time of the whole request, ratio: {whole:.2f} (goal {GOAL}: {'reached' if whole <= GOAL else 'missed'})")
    for ours, theirs in (("child session", "session"), ("A child session", "A session"), ("A session", "B session"),
                         ("A child session", "B session"), ("A child session", "B child session")):
        if ours in taken and theirs in taken:
            cpu, whole = ratios(taken[ours], taken[theirs])
            print(f"{ours} to {theirs}: CPU time {cpu:.2f}, time of the whole request {whole:.2f} (medians of the ratios of the rounds)")


def ratios(ours, theirs):
    """Returns the medians of the ratios of CPU time and of time per request over the rounds."""
    pairs = list(zip(ours, theirs))
    return (statistics.median(one[0] / other[0] for one, other in pairs), statistics.median(other[1] / one[1] for one, other in pairs))


if __name__ == "__main__":
    main()
