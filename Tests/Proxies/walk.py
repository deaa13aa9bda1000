# SPDX-License-Identifier: Apache-2.0
"""Runs the commands and configurations of the documentation as they are, with the addresses, ports and paths of the documentation.

    walk.py GATEHOUSE PROXY FOLDER

The program changes /etc, /var and /run. It must run in a mount namespace and a network namespace of its own, in which these folders are overlays
and no network is reachable; `run` starts it so, as root. Otherwise the walk is skipped.
"""

import contextlib
import glob
import html
import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time

from proxy_fixture import HERE, NAME, PASSWORDS, SIGN_IN_HOST, WIKI, Application, bound, certificate, identity_of
from client import form
from scenarios import expect, expect_equal

ROOT = os.path.realpath(os.path.join(HERE, "..", ".."))
HOSTS = (NAME, WIKI, SIGN_IN_HOST, "wiki.example.org")
REALM = """
default-realm town;
login storeRealm { StoreLoginModule required; }
realm town { class StoreRealm; }
"""
STEPS = []


def step(function):
    STEPS.append(function)
    return function


def document(name):
    with open(os.path.join(ROOT, "docs", name)) as file:
        return file.read()


def section(heading, name):
    return document(name).partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def blocks(text, kind=""):
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def shell(text, **words):
    done = subprocess.run(["sh", "-e", "-c", text], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=60, **words)
    expect(done.returncode == 0, f"{text}\n{done.stdout}")
    return done.stdout


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, command, folder):
        self.process, self.text = None, ""
        number, self.number = pty.fork()
        if number == 0:
            os.chdir(folder)
            os.execvp(command[0], command)
        self.process = number

    def until(self, text, seconds=20):
        """Reads until the output contains a text, and returns what is before it."""
        end = time.monotonic() + seconds
        while text not in self.text:
            expect(self._read(max(0.0, end - time.monotonic())), f"{text!r} does not follow: {self.text!r}")
        before, _, self.text = self.text.partition(text)
        return before

    def _read(self, seconds):
        if not select.select([self.number], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.number, 65536)
        except OSError:
            return False
        self.text += data.decode(errors="replace").replace("\r\n", "\n")
        return bool(data)

    def type(self, text):
        os.write(self.number, text.encode() + b"\n")

    def rest(self):
        """Returns the status and the rest of the output."""
        while self._read(30):
            pass
        _, status = os.waitpid(self.process, 0)
        os.close(self.number)
        return os.waitstatus_to_exitcode(status), self.text


class Walk:
    def __init__(self, program, proxy, folder):
        self.program, self.proxy, self.folder = program, proxy, folder
        self.configuration = "/etc/gatehouse"
        self.processes = []

    def start(self, *command, until=lambda: True, cwd=None):
        log = open(os.path.join(self.folder, f"{os.path.basename(command[0])}.log"), "ab")
        process = subprocess.Popen(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=bound())
        self.processes.append(process)
        end = time.monotonic() + 20
        while not until():
            expect(time.monotonic() < end and process.poll() is None, f"{command} did not start:\n{open(log.name).read()[-3000:]}")
            time.sleep(0.05)
        return process

    def curl(self, *words):
        """The head and the body of the last response of curl."""
        done = subprocess.run(["curl", "--silent", "--show-error", "--max-time", "20", *words], cwd=self.configuration, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True)
        expect(done.returncode == 0, f"curl {words}: {done.stderr}")
        return done.stdout

    def gatehouse(self, configuration):
        """Starts Gatehouse in /etc/gatehouse, with a configuration of the documentation and the realm."""
        os.makedirs(self.configuration, exist_ok=True)
        with open(os.path.join(self.configuration, "realms.conf"), "w") as file:
            file.write(REALM + configuration)
        for name, groups in (("ann", ["Staff"]), ("bob", [])):
            subprocess.run(["gatehouse", "user", "add", name, "--password-stdin", *(word for group in groups for word in ("--group", group))],
                           cwd=self.configuration, input=PASSWORDS[name] + "\n", text=True, check=True, capture_output=True)
        log = os.path.join(self.folder, "gatehouse.log")
        self.start("gatehouse", "serve", cwd=self.configuration, until=lambda: "listening on" in open(log).read())

    def page(self, jar, url, *words):
        """Opens a URL as a browser does, and returns the last URL and its page."""
        said = self.curl("--location", "--cookie", jar, "--cookie-jar", jar, "--header", "Accept: text/html", "--header", "Sec-Fetch-Mode: navigate",
                         "--header", "Sec-Fetch-Dest: document", "--write-out", "\n%{url_effective}\n%{num_redirects}\n%{http_code}", *words, url)
        body, last, redirects, status = said.rsplit("\n", 3)
        return last, body, int(redirects), int(status)

    def sign_in(self, jar, url, name):
        last, body, redirects, _ = self.page(jar, url)

        class Answer:
            pass
        Answer.body = body.encode()
        action, values = form(Answer)
        target = re.match("https://[^/]+", last)[0]
        data = [word for key, value in (values | {"username": name, "password": PASSWORDS[name]}).items()
                for word in ("--data-urlencode", f"{key}={value}")]
        page = self.page(jar, target + (action or ""), "--header", f"Origin: {target}", "--header", "Sec-Fetch-Site: same-origin", *data)
        return page[0], page[1], redirects + page[2], page[3]

    def close(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
        for process in self.processes:
            process.kill()
            process.wait()
        shell("pid=$(cat /run/haproxy.pid 2>/dev/null) && kill $pid || true")


def commands_of(proxy):
    """The commands of the documentation to set up a proxy."""
    return blocks(section("By hand", f"proxies/{proxy}.md"), "sh")


def install_certificates(walk):
    """What an administrator has beforehand: a certificate and a key for each host, whose authority the clients trust."""
    bundle = os.path.join(walk.folder, "authorities.pem")
    for host in HOSTS:
        own, key, both = certificate(walk.folder, host)
        with open(bundle, "a") as out, open(own) as part:
            out.write(part.read())
        if walk.proxy == "haproxy":
            os.makedirs("/etc/haproxy/certificates", exist_ok=True)
            shutil.copy(both, f"/etc/haproxy/certificates/{host}.pem")
        else:
            shutil.copy(own, f"/etc/{walk.proxy}/{host}.pem")
            shutil.copy(key, f"/etc/{walk.proxy}/{host}.key")
    os.environ["CURL_CA_BUNDLE"] = bundle


def start_proxy(walk):
    # There is no systemd here.
    commands = {"reload-or-restart nginx": "nginx -s reload", "reload-or-restart haproxy": "haproxy -D -p /run/haproxy.pid -f /etc/haproxy/haproxy.cfg"}
    with open("/usr/local/bin/systemctl", "w") as file:
        file.write("#!/bin/sh\n" + "".join(f'[ "$*" = "{words}" ] && exec {command}\n' for words, command in commands.items()) + "exit 1\n")
    os.chmod("/usr/local/bin/systemctl", 0o755)
    if walk.proxy == "nginx":
        walk.start("nginx", "-g", "daemon off;", until=lambda: os.path.exists("/run/nginx.pid"))
    elif walk.proxy == "caddy":
        walk.start("caddy", "run", "--config", "/etc/caddy/Caddyfile", until=lambda: responds(2019))


def responds(port):
    import socket
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


@step
def every_configuration_of_the_pages_is_accepted(walk):
    text = document("forward-auth.md") + document("forward-auth-reference.md")
    found = [block for block in blocks(text, "realms.conf") if re.match(r"server \{", block)]
    expect(len(found) >= 4, found)
    with contextlib.suppress(FileExistsError):
        os.makedirs(walk.configuration)
    shell(f"cd {walk.configuration}; " + re.search(r"^ *(\(umask 077; openssl genpkey .*)$", text, re.MULTILINE)[1])
    for block in found:
        with open(os.path.join(walk.configuration, "realms.conf"), "w") as file:
            file.write(REALM + block + ("" if "protect" in block else "protect app.example.com/ { auth form; require any; }\n"))
        done = subprocess.run(["gatehouse", "check"], cwd=walk.configuration, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        expect(done.returncode == 0 and "warning" not in done.stderr, f"{block}\n{done.stdout}{done.stderr}")


@step
def the_commands_for_several_applications_set_up_the_proxy(walk):
    configuration, = (block for block in blocks(section("Several applications", "forward-auth-reference.md"), "realms.conf") if block.startswith("server {"))
    walk.gatehouse(configuration)
    start_proxy(walk)
    # The examples of the packages. The commands replace no file.
    for example in ("/etc/caddy/Caddyfile", "/etc/haproxy/haproxy.cfg"):
        with contextlib.suppress(FileNotFoundError):
            os.remove(example)
    commands = commands_of(walk.proxy)
    expect(commands, "the documentation has no commands")
    for command in commands:
        said = shell(command)
        expect("warn" not in said.lower() and "emerg" not in said.lower() and "duplicate" not in said.lower(), said)
    end = time.monotonic() + 10
    while not responds(443):
        expect(time.monotonic() < end, "the proxy does not listen")
        time.sleep(0.05)


@step
def one_sign_in_opens_both_applications(walk):
    jar = os.path.join(walk.folder, "jar")
    url, body, redirects, status = walk.sign_in(jar, "https://app.example.com/desk?x=1", "ann")
    expect_equal((url, status, redirects), ("https://app.example.com/desk?x=1", 200, 3), body)
    expect_equal(identity_of(json.loads(body)["fields"]), [("remote-groups", "Staff"), ("remote-realm", "town"), ("remote-user", "ann")])
    url, body, redirects, status = walk.page(jar, "https://wiki.example.com/page")
    expect_equal((url, status, redirects), ("https://wiki.example.com/page", 200, 3), body)
    expect_equal([request["target"] for request in walk.applications[0].requests], ["/desk?x=1"])
    expect_equal([request["target"] for request in walk.applications[1].requests], ["/page"])
    # bob may open the wiki only.
    jar = os.path.join(walk.folder, "jar-of-bob")
    expect_equal(walk.sign_in(jar, "https://wiki.example.com/page", "bob")[3], 200)
    url, body, _, status = walk.page(jar, "https://app.example.com/desk")
    expect_equal((status, "signed in as bob" in html.unescape(body)), (403, True), body)


@step
def the_commands_to_try_it_give_the_statuses_of_their_comments(walk):
    shutil.copy("/etc/gatehouse/var/development-authority.pem", "/etc/gatehouse/gatehouse-ca.pem")
    text = section("Trying it", "forward-auth.md").replace("\\\n", " ")
    commands = [line.partition(" # ")[::2] for line in text.splitlines() if line.startswith("curl ")]
    expect_equal(len(commands), 8)
    for command, comment in commands:
        terminal = Terminal(["sh", "-c", command], walk.configuration)
        if " -u ann" in command:
            terminal.until("password for user 'ann':")
            terminal.type(PASSWORDS["ann"])
        status, said = terminal.rest()
        heads = re.findall(r"HTTP/[\d.]+ (\d{3})", said)
        expect(status == 0 and heads, f"{command}: {status} {said}")
        wanted = [int(number) for number in re.findall(r"\b[1-5]\d\d\b", comment.partition("(")[0].partition("never")[0])]
        # The last command is the check of nginx: the rules of the page above it are not these, but its host is the same.
        expect(int(heads[-1]) in wanted, f"{command}: {comment}: {said}")
    explain, = re.findall(r"`(gatehouse explain [^`]*)`", text)
    expect("realms.conf:" in shell(explain.replace("gatehouse explain", f"cd {walk.configuration}; gatehouse explain")), explain)


@step
def before_it_goes_live_a_stopped_gatehouse_means_no_access(walk):
    gatehouse = next(process for process in walk.processes if "gatehouse" in process.args[0])
    gatehouse.terminate()
    gatehouse.wait(20)
    _, body, _, status = walk.page(os.path.join(walk.folder, "jar"), "https://app.example.com/desk")
    expect_equal((status, "Sign-in is not available" in body), (503, True), body)


@step
def gatehouse_init_makes_what_getting_started_shows(walk):
    walk.close()
    walk.processes = []
    text = section("A configuration of your own", "getting-started.md")
    transcript, = blocks(text, "console")
    first, *lines = transcript.splitlines()
    expect_equal(first, "$ gatehouse init")
    folder = os.path.join(walk.folder, "init")
    os.makedirs(folder)
    terminal = Terminal(["gatehouse", "init"], folder)
    end = lines.index("")
    for line in lines[:end]:
        asked = re.match(r"^(.*(?:\] |\) |: ?$))(.*)$", line)
        if line.startswith("made ") or line.endswith("added (realm people)"):
            terminal.until(line + "\n")
            continue
        expect(asked, f"neither a question nor an output: {line!r}")
        terminal.until(asked[1].rstrip())
        terminal.type(PASSWORDS["ann"] if asked[1].rstrip().endswith(("for ann:", "Once more:")) else asked[2])
    status, said = terminal.rest()
    expect_equal(status, 0, said)
    expect("\n".join(lines[end + 1:]) in said.replace("\r\n", "\n"), said)
    # The files of the folder, installed as proxies/nginx.md says.
    town, host = os.path.join(folder, "town"), "wiki.example.org"
    walk.start("gatehouse", "serve", cwd=town, until=lambda: glob.glob(f"{town}/var/development-certificate.pem") and responds(8443))
    for name in glob.glob("/etc/nginx/conf.d/*"):
        os.remove(name)
    shell(f"""cd {town}/nginx
        cp gatehouse.conf /etc/nginx/conf.d/
        cp gatehouse-server.conf gatehouse-application.conf /etc/nginx/snippets/
        cp unavailable.html /etc/nginx/gatehouse-unavailable.html
        cp {host}.conf /etc/nginx/conf.d/
        cp ../var/development-authority.pem /etc/nginx/gatehouse-ca.pem""")
    with contextlib.suppress(FileNotFoundError):
        os.remove("/run/nginx.pid")
    start_proxy(walk)
    walk.configuration = town
    answer = walk.curl("--include", f"https://{host}/staff", "--header", "Accept: text/html")
    expect(re.match(r"HTTP/\S+ 30[23]", answer), answer)
    _, body, _, status = walk.sign_in(os.path.join(walk.folder, "jar-of-init"), f"https://{host}/staff", "ann")
    expect_equal((status, json.loads(body)["target"]), (200, "/staff"), body)


def main():
    program, proxy, folder = sys.argv[1:]
    for target in ("/etc", "/var", "/usr/local"):
        name = target.strip("/").replace("/", "-")
        for kind in ("upper", "work"):
            os.makedirs(f"{folder}/overlay/{name}-{kind}")
        shell(f"mount -t overlay overlay -o lowerdir={target},upperdir={folder}/overlay/{name}-upper,workdir={folder}/overlay/{name}-work {target}")
    shell("mount -t tmpfs tmpfs /run && ip link set lo up")
    shutil.copy(program, "/usr/local/bin/gatehouse")
    os.environ["PATH"] = f"/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:{os.environ['PATH']}"
    with open("/etc/hosts", "w") as file:
        file.write("127.0.0.1 localhost\n" + "".join(f"127.0.0.1 {host}\n" for host in HOSTS))
    # Caddy stores files in the home folder.
    os.environ["HOME"] = folder
    walk = Walk(program, proxy, folder)
    failed = 0
    with Application(3000) as application, Application(3001) as wiki:
        walk.applications = [application, wiki]
        install_certificates(walk)
        for each in STEPS:
            if each is gatehouse_init_makes_what_getting_started_shows and proxy != "nginx":
                continue
            name = each.__name__.replace("_", " ")
            try:
                each(walk)
                print(f"ok      {name}", flush=True)
            except Exception as error:  # noqa: BLE001 - the steps follow each other
                failed += 1
                print(f"FAILED  {name}: {error}", flush=True)
                for log in glob.glob(f"{folder}/*.log"):
                    with open(log, errors="replace") as file:
                        print(f"        {os.path.basename(log)}:\n{file.read()[-3000:]}", flush=True)
                break
            finally:
                application.requests.clear()
                wiki.requests.clear()
        walk.close()
    return 1 if failed else 0


NAMESPACES = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c"]


def has_namespaces(folder):
    """Whether this process may make the namespaces and overlays of a walk."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        return False
    probe = ('mount --make-rprivate / && mount -t tmpfs tmpfs "$0" && mkdir "$0/u" "$0/w" && ip link set lo up && '
             'mount -t overlay overlay -o "lowerdir=/etc,upperdir=$0/u,workdir=$0/w" /etc')
    return subprocess.run([*NAMESPACES, probe, folder], stdin=subprocess.DEVNULL, capture_output=True).returncode == 0


def run(kind, program, count, folder):
    """Runs the walk of a proxy in namespaces of its own. Its lines count as scenarios."""
    if count.words and count.words != "walk":
        return
    print(f"== {kind.title}, by the commands of the documentation", flush=True)
    inner = os.path.join(folder, f"walk-{kind.title}")
    os.makedirs(inner, mode=0o755)
    if not has_namespaces(inner):
        print("SKIPPED the walk through the documentation: it needs root, unshare and overlays")
        return
    # An overlay cannot have its upper folder on another overlay, so the folder is a file system of its own.
    command = ('mount --make-rprivate / && mount -t tmpfs -o mode=755 tmpfs "$3" && exec "$0" -B "$4" "$1" "$2" "$3"')
    done = subprocess.run([*NAMESPACES, command, sys.executable, program, kind.title, inner, os.path.abspath(__file__)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=300, preexec_fn=bound())
    print(done.stdout.rstrip("\n"), flush=True)
    count.passed += len(re.findall(r"^ok ", done.stdout, re.MULTILINE))
    failed = len(re.findall(r"^FAILED ", done.stdout, re.MULTILINE))
    if not failed and (done.returncode != 0 or "ok " not in done.stdout):
        print(f"FAILED  the walk has ended with status {done.returncode}", flush=True)
        failed = 1
    count.failed += failed


if __name__ == "__main__":
    sys.exit(main())
