# SPDX-License-Identifier: Apache-2.0
# Gatehouse
"""The proxies under test. Each runs the configuration file of docs/forward-auth."""

import os
import shutil
import signal
import socket
import ssl
import subprocess
import time


from proxy_fixture import HERE, NAME, OPEN_HOST, bound, free_port

DOCS = os.path.join(HERE, "..", "..", "docs", "forward-auth")


def filled(name, replacements):
    """A file of docs/forward-auth with words replaced, such as ports. Each word must occur in the file."""
    with open(os.path.join(DOCS, name)) as file:
        text = file.read()
    for word, value in replacements.items():
        if word not in text:
            raise SystemExit(f"docs/forward-auth/{name} does not contain {word!r}")
        text = text.replace(word, value)
    return text


class Proxy:
    """A proxy. It is started once for all scenarios, and has its own folder."""

    title, package, program = "", "", ""

    @classmethod
    def missing(cls):
        return None if shutil.which(cls.program, path=os.environ["PATH"] + ":/usr/sbin") else \
            f"{cls.program} is not installed (apt-get install {cls.package})"

    def __init__(self, folder, gatehouse, application, certificate, names=(NAME, OPEN_HOST), port=None):
        self.folder = os.path.join(folder, f"{self.title}-{application.port}")
        os.makedirs(self.folder, mode=0o755)
        self.port = port or free_port()
        # All hosts that the proxy serves.
        self.names = names
        self.gatehouse, self.application, self.certificate = gatehouse, application, certificate
        self.process = None

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def common(self):
        """The replacements for the file of every proxy."""
        return {"127.0.0.1:8443": f"127.0.0.1:{self.gatehouse.port}",
                "127.0.0.1:3000": f"127.0.0.1:{self.application.port}"}

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
            path = os.path.join(self.folder, name)
            if os.path.exists(path):
                with open(path, errors="replace") as file:
                    text += file.read()[-4000:]
        return text

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
        site = self.write("app.conf", filled("nginx.conf", self.common() | {
            "443 ssl": f"127.0.0.1:{self.port} ssl",
            "server_name app.example.com;": f"server_name {' '.join(self.names)};",
            "/etc/nginx/app.example.com.pem": self.certificate[0],
            "/etc/nginx/app.example.com.key": self.certificate[1],
            "/etc/nginx/gatehouse-ca.pem": self.gatehouse.authority,
        }))
        temporary = "".join(f"{name}_temp_path {self.folder}/{name};\n"
                            for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        return ["nginx", "-e", f"{self.folder}/error.log", "-p", self.folder, "-c", self.write("nginx.conf", f"""
            daemon off; worker_processes 1; worker_rlimit_nofile 20000;
            pid {self.folder}/pid; error_log {self.folder}/error.log warn;
            events {{ worker_connections 16384; }}
            http {{ access_log off; keepalive_requests 100000; {temporary} include {site}; }}""")]


class Caddy(Proxy):
    title, package, program, flavour = "caddy", "caddy", "caddy", "caddy"

    def prepare(self):
        site = self.write("site", filled("Caddyfile", self.common() | {
            "app.example.com {": ", ".join(f"https://{name}:{self.port}" for name in self.names) + " {\n\tbind 127.0.0.1",
            "/etc/caddy/app.example.com.pem": self.certificate[0],
            "/etc/caddy/app.example.com.key": self.certificate[1],
            "/etc/caddy/gatehouse-ca.pem": self.gatehouse.authority,
        }))
        settings = "{\n\tadmin off\n\tauto_https off\n}\n"
        return ["caddy", "run", "--adapter", "caddyfile", "--config",
                self.write("Caddyfile", f"{settings}import {site}\n")]

    def environment(self):
        return os.environ | {"HOME": self.folder, "XDG_DATA_HOME": self.folder, "XDG_CONFIG_HOME": self.folder}


class HAProxy(Proxy):
    title, package, program, flavour = "haproxy", "haproxy", "haproxy", "haproxy"

    def prepare(self):
        # Abstract socket names are shared by the whole machine, so the name must be unique to this run.
        checks = f"abns@gatehouse-checks-{os.getpid()}-{self.port}"
        script = self.write("gatehouse.lua", filled("gatehouse.lua", {}))
        site = self.write("site.cfg", filled("haproxy.cfg", self.common() | {
            "bind :443": f"bind 127.0.0.1:{self.port}",
            "-m str app.example.com": f"-m str {' '.join(self.names)}",
            "/etc/haproxy/gatehouse.lua": script,
            "/etc/haproxy/app.example.com.pem": self.certificate[2],
            "/etc/haproxy/gatehouse-ca.pem": self.gatehouse.authority,
            "abns@gatehouse-checks": checks,
        }))
        machine = self.write("machine.cfg", "global\n    maxconn 8000\n    nbthread 1\n    log stdout format raw local0 err\n")
        return ["haproxy", "-db", "-f", machine, "-f", site]


ALL = [Nginx, Caddy, HAProxy]
