# SPDX-License-Identifier: Apache-2.0
"""The proxies under test. Each runs the configuration file of docs/forward-auth."""

import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import time


from proxy_fixture import HERE, NAME, OPEN_HOST, SIGN_IN_HOST, WIKI, bound, free_port

DOCS = os.path.join(HERE, "..", "..", "docs", "forward-auth")


def filled(name, replacements):
    """A file of docs/forward-auth with words replaced, such as ports. Each word must occur in the file."""
    with open(os.path.join(DOCS, name)) as file:
        return replaced(file.read(), replacements, f"docs/forward-auth/{name}")


def replaced(text, replacements, name="the file"):
    for word, value in replacements.items():
        if word not in text:
            raise SystemExit(f"{name} does not contain {word!r}")
        text = text.replace(word, value)
    return text


class Proxy:
    """A proxy. It is started once for all scenarios, and has its own folder."""

    title, package, program = "", "", ""

    @classmethod
    def missing(cls):
        return None if shutil.which(cls.program, path=os.environ["PATH"] + ":/usr/sbin") else \
            f"{cls.program} is not installed (apt-get install {cls.package})"

    def __init__(self, folder, gatehouse, application, certificate, names=(NAME, OPEN_HOST), port=None, wiki=None, has_log=False, changes=()):
        """A proxy for an application with the hosts `names`, a second application at WIKI, and the sign-in host.

        With `has_log`, nginx and HAProxy log every request. Caddy always does. `changes` are changes of the files, such as mistakes: the
        name of the file, a text in it, and the text that replaces it.
        """
        self.folder = os.path.join(folder, f"{self.title}-{application.port}")
        os.makedirs(self.folder, mode=0o755)
        self.port = port or free_port()
        self.names, self.wiki, self.has_log = names, wiki or application, has_log
        self.gatehouse, self.application, self.certificate = gatehouse, application, certificate
        self.changes, self.process = changes, None

    def write(self, name, text):
        for file, old, new in self.changes:
            if file == name:
                text = replaced(text, {old: new}, name)
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def addresses(self, *documented):
        """The replacements for the addresses of Gatehouse and of applications."""
        ports = {"127.0.0.1:3000": self.application.port, "127.0.0.1:3001": self.wiki.port, "127.0.0.1:8443": self.gatehouse.port}
        return {address: f"127.0.0.1:{ports[address]}" for address in documented}

    def start(self):
        command = self.prepare()
        log_name = os.path.join(self.folder, "output.log")
        with open(log_name, "w") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                            start_new_session=True, preexec_fn=bound(), env=self.environment())
        until = time.monotonic() + 30
        while time.monotonic() < until and self.process.poll() is None:
            try:
                context = ssl.create_default_context(cafile=self.certificate[0])
                with socket.create_connection(("127.0.0.1", self.port), 1) as plain:
                    context.wrap_socket(plain, server_hostname=NAME).close()
                return
            except OSError:
                time.sleep(0.05)
        self.stop()
        raise SystemExit(f"{self.title} did not start:\n{self.log()}")

    def environment(self):
        return None

    def log(self):
        text = ""
        for name in ("output.log", "error.log"):
            text += self.text(name)[-4000:]
        return text

    def text(self, name):
        """The content of a file in the folder; empty if there is none."""
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            return ""
        with open(path, errors="replace") as file:
            return file.read()

    def all_logs(self):
        """Everything that the proxy has logged, with a line for each request."""
        return "".join(self.text(name) for name in ("output.log", "error.log", "access.log"))

    def stop(self):
        if self.process is not None:
            if self.process.poll() is None:
                os.killpg(self.process.pid, signal.SIGTERM)
                try:
                    self.process.wait(5)
                except subprocess.TimeoutExpired:
                    pass
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.process.wait()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()


class Nginx(Proxy):
    title, package, program, flavour = "nginx", "nginx-light", "nginx", "nginx"

    def prepare(self):
        os.makedirs(os.path.join(self.folder, "snippets"), exist_ok=True)
        listen = {"443 ssl": f"127.0.0.1:{self.port} ssl"}
        page = {"/etc/nginx/gatehouse-unavailable.html": self.write("unavailable.html", filled("unavailable.html", {}))}
        authority = {"/etc/nginx/gatehouse-ca.pem": self.gatehouse.authority}
        self.write("snippets/gatehouse-server.conf", filled("nginx/gatehouse-server.conf", authority | page))
        self.write("snippets/gatehouse-application.conf", filled("nginx/gatehouse-application.conf", {}))
        # As documented, the second application has a copy of the file with another host and another address.
        copy = self.documented_copy()
        sites = {
            "gatehouse": filled("nginx/gatehouse.conf", self.addresses("127.0.0.1:8443")),
            NAME: replaced(filled("nginx/app.conf", self.addresses("127.0.0.1:3000")),
                           {f"server_name {NAME};": f"server_name {' '.join(self.names)};"}),
            WIKI: replaced(copy, self.addresses("127.0.0.1:3001")),
            SIGN_IN_HOST: filled("nginx/sign-in-host.conf", {}),
        }
        for host, text in sites.items():
            files = {f"/etc/nginx/{host}.{end}": file for end, file in zip(("pem", "key"), self.certificate)}
            self.write(f"{host}.conf", replaced(text, listen | (files if host != "gatehouse" else {})))
        temporary = "".join(f"{name}_temp_path {self.folder}/{name};\n"
                            for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        log = f"{self.folder}/access.log" if self.has_log else "off"
        included = "".join(f"include {self.folder}/{host}.conf; " for host in sites)
        return ["nginx", "-e", f"{self.folder}/error.log", "-p", self.folder, "-c", self.write("nginx.conf", f"""
            daemon off; worker_processes 1; worker_rlimit_nofile 20000;
            pid {self.folder}/pid; error_log {self.folder}/error.log warn;
            events {{ worker_connections 16384; }}
            http {{ access_log {log}; keepalive_requests 100000; {temporary} {included} }}""")]

    def documented_copy(self):
        """The output of the sed command in docs/proxies/nginx.md."""
        with open(os.path.join(DOCS, "..", "proxies", "nginx.md")) as file:
            found = re.search(r"sed '([^']+)' (app\.conf) >", file.read())
        return subprocess.run(["sed", found[1], os.path.join(DOCS, "nginx", found[2])], check=True, capture_output=True, text=True).stdout


class Caddy(Proxy):
    title, package, program, flavour = "caddy", "caddy", "caddy", "caddy"

    def prepare(self):
        self.write("unavailable.html", filled("unavailable.html", {}))
        self.write("gatehouse.caddy", filled("caddy/gatehouse.caddy", self.addresses("127.0.0.1:8443") | {
            "/etc/caddy/gatehouse-ca.pem": self.gatehouse.authority,
            "root * /etc/caddy/gatehouse": f"root * {self.folder}",
        }))
        words = self.addresses("127.0.0.1:3000", "127.0.0.1:3001")
        for host, names in ((NAME, self.names), (WIKI, [WIKI]), (SIGN_IN_HOST, [SIGN_IN_HOST])):
            words |= {f"/etc/caddy/{host}.{end}": file for end, file in zip(("pem", "key"), self.certificate)}
            words[f"\n{host} {{"] = "\n" + ", ".join(f"https://{name}:{self.port}" for name in names) + " {\n\tbind 127.0.0.1"
        settings = "{\n\tadmin off\n\tauto_https off\n}\n"
        return ["caddy", "run", "--adapter", "caddyfile", "--config",
                self.write("Caddyfile", settings + filled("caddy/Caddyfile", words))]

    def environment(self):
        return os.environ | {"HOME": self.folder, "XDG_DATA_HOME": self.folder, "XDG_CONFIG_HOME": self.folder}


class HAProxy(Proxy):
    title, package, program, flavour = "haproxy", "haproxy", "haproxy", "haproxy"

    def prepare(self):
        level = "info" if self.has_log else "err"
        # Abstract socket names are shared by the whole machine, so the name must be unique to this run.
        checks = f"abns@gatehouse-checks-{os.getpid()}-{self.port}"
        further = "".join(f"{name} app\n" for name in self.names if name != NAME)
        site = self.write("site.cfg", filled("haproxy/haproxy.cfg", self.addresses("127.0.0.1:8443", "127.0.0.1:3000", "127.0.0.1:3001") | {
            # The tests need not run as root.
            "    user haproxy\n    group haproxy\n    log /dev/log local0\n": f"    log stdout format raw local0 {level}\n",
            "bind :443": f"bind 127.0.0.1:{self.port}",
            "/etc/haproxy/hosts.map": self.write("hosts.map", filled("haproxy/hosts.map", {}) + further),
            "/etc/haproxy/gatehouse.lua": self.write("gatehouse.lua", filled("haproxy/gatehouse.lua", {})),
            "/etc/haproxy/unavailable.html": self.write("unavailable.html", filled("unavailable.html", {})),
            "/etc/haproxy/certificates": self.certificate[2],
            "/etc/haproxy/gatehouse-ca.pem": self.gatehouse.authority,
            "abns@gatehouse-checks": checks,
        }))
        machine = self.write("machine.cfg", "global\n    maxconn 8000\n    nbthread 1\n")
        return ["haproxy", "-db", "-f", machine, "-f", site]


ALL = [Nginx, Caddy, HAProxy]
