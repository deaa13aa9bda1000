# SPDX-License-Identifier: Apache-2.0
"""The servers that are compared: how each is found, configured in a folder, and started."""

import base64
import hashlib
import os
import re
import shutil
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
WELCOME = b"Welcome zed\n"
USER, PASSWORD = "zed", "secret"


def _output(command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    return result.stdout.decode(errors="replace")


def _program(name):
    """Returns the path of a program. Servers are in sbin, which may not be in PATH."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin")


def _fill(template, target, values):
    with open(os.path.join(HERE, template)) as file:
        text = file.read()
    filled = re.sub(r"@([A-Z]+)@", lambda match: str(values.get(match.group(1), match.group(0))), text)
    with open(target, "w") as file:
        file.write(filled)
    return target


def _pages(folder, index):
    pages = os.path.join(folder, "pages")
    os.makedirs(pages)
    for name, content in (("welcome", WELCOME), ("index.html", index)):
        with open(os.path.join(pages, name), "wb") as file:
            file.write(content)


class Peer:
    """A server. `name` is its word in BENCH_PEERS, `title` its name in the tables."""

    name = title = ""
    packages = ""
    requests = ("basic", "challenge", "index")
    # The factor for the time of warming up. It is 1 for a JVM, which compiles while it serves.
    warmth = 0.1
    environment = None
    # The maximum number of idle connections in the measurement of memory.
    holds = 1_000_000

    def available(self):
        """Returns whether the server is installed."""
        raise NotImplementedError

    def missing(self):
        """Returns how to install the server."""
        return f"not installed. Debian: apt-get install {self.packages}"

    def version(self):
        raise NotImplementedError

    def prepare(self, folder, port, certificate, key, index):
        """Writes the configuration into the folder and returns the command that runs the server in the foreground."""
        raise NotImplementedError

    def log(self, folder):
        return os.path.join(folder, "output.log")


# Settings of the server block for the access log, and for the limits: all connections come from one address.
BOUNDS = "limits { connections 20000; connections-per-address 20000; header-time 10m; idle-time 10m; }"
OFF, ON = "access-log off; " + BOUNDS, BOUNDS
# Each request is a login through the modules of the realm.
NO_CACHE = "credential-cache 0s; " + OFF
# nginx may ask about requests that it forwards.
FOR_PROXY = "trusted-proxies 127.0.0.1; " + OFF


class Gatehouse(Peer):
    requests = ("basic", "session", "challenge", "index")

    def __init__(self, name, title, variable, *log_lines, requests=requests):
        self.requests = requests
        self.name, self.title, self.variable, self.log_lines = name, title, variable, log_lines
        self.binary = os.environ.get(variable, "")
        self.log_line = self.refusal = ""

    def missing(self):
        return f"{self.variable} names no program"

    def available(self):
        return bool(self.binary) and os.access(self.binary, os.X_OK)

    def settle(self, folder):
        """Chooses the first setting of the log that this binary accepts. An older binary may not know all settings."""
        for line in self.log_lines:
            self.log_line = line
            configuration = self._configure(folder, 8443, f"{folder}/ecdsa.certificate.pem", f"{folder}/ecdsa.key.pem")
            result = subprocess.run([self.binary, "check", "--config", configuration], stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if result.returncode == 0:
                if line == ON and len(self.log_lines) > 1:
                    self.title += ", access log on"
                return True
            self.refusal = (result.stdout.decode(errors="replace").strip().splitlines() or ["(nothing)"])[0]
        return False

    def _configure(self, folder, port, certificate, key):
        return _fill("gatehouse/realms.conf", os.path.join(folder, "realms.conf"),
                     {"PORT": port, "LOG": self.log_line, "CERTIFICATE": certificate, "KEY": key})

    def version(self):
        with open(self.binary, "rb") as file:
            return "binary " + hashlib.sha256(file.read()).hexdigest()[:12]

    def prepare(self, folder, port, certificate, key, index):
        configuration = self._configure(folder, port, certificate, key)
        return [self.binary, "serve", "--config", configuration]

    def log(self, folder):
        # The log has a line for each request. It goes to /dev/null, so that no disk is measured.
        return os.devnull


class Nginx(Peer):
    name, title, packages = "nginx", "nginx auth_basic", "nginx-light"
    requests = ("basic", "challenge", "index", "plain", "nothing")

    def available(self):
        return _program("nginx") is not None

    def version(self):
        return "nginx " + _output([_program("nginx"), "-v"]).strip().rpartition("/")[2]

    def prepare(self, folder, port, certificate, key, index):
        _pages(folder, index)
        with open(os.path.join(folder, "users"), "w") as file:
            file.write(f"{USER}:{{PLAIN}}{PASSWORD}\n")
        configuration = _fill("nginx/nginx.conf", os.path.join(folder, "nginx.conf"),
                              {"FOLDER": folder, "PORT": port, "CERTIFICATE": certificate, "KEY": key})
        return [_program("nginx"), "-e", os.path.join(folder, "error.log"), "-c", configuration]


class Apache(Peer):
    name, title, packages = "apache", "Apache httpd, mod_auth_basic", "apache2"
    MODULES = "/usr/lib/apache2/modules"

    def available(self):
        return _program("apache2") is not None and os.path.isdir(self.MODULES)

    def version(self):
        return "Apache httpd " + _output([_program("apache2"), "-v"]).split("Apache/")[1].split()[0]

    def prepare(self, folder, port, certificate, key, index):
        _pages(folder, index)
        digest = base64.b64encode(hashlib.sha1(PASSWORD.encode()).digest()).decode()
        with open(os.path.join(folder, "users"), "w") as file:
            file.write(f"{USER}:{{SHA}}{digest}\n")
        configuration = _fill("apache/httpd.conf", os.path.join(folder, "httpd.conf"),
                              {"FOLDER": folder, "PORT": port, "CERTIFICATE": certificate, "KEY": key,
                               "MODULES": self.MODULES})
        return [_program("apache2"), "-f", configuration, "-D", "FOREGROUND"]


class Caddy(Peer):
    name, title, packages = "caddy", "Caddy basicauth", "caddy"
    warmth = 0.2

    def available(self):
        return _program("caddy") is not None

    def version(self):
        return "Caddy " + _output([_program("caddy"), "version"]).split()[0]

    def prepare(self, folder, port, certificate, key, index):
        _pages(folder, index)
        password = _output([_program("caddy"), "hash-password", "--plaintext", PASSWORD]).strip()
        configuration = _fill("caddy/Caddyfile", os.path.join(folder, "Caddyfile"),
                              {"FOLDER": folder, "PORT": port, "CERTIFICATE": certificate, "KEY": key,
                               "HASH": password})
        self.environment = dict(os.environ, HOME=folder, XDG_DATA_HOME=folder, XDG_CONFIG_HOME=folder)
        return [_program("caddy"), "run", "--config", configuration, "--adapter", "caddyfile"]


class Tomcat(Peer):
    name, title, packages = "tomcat", "Tomcat 10, JAAS realm", "tomcat10 default-jdk-headless"
    warmth = 1
    # Tomcat does some 300 handshakes a second, so 10,000 connections would take minutes for each sample.
    holds = 1000
    HOME = "/usr/share/tomcat10"
    JAVA = ("UserPrincipal", "GroupPrincipal", "StartWithModule", "WelcomeServlet")

    def available(self):
        return all(map(_program, ("java", "javac"))) and os.path.isfile(f"{self.HOME}/bin/bootstrap.jar")

    def version(self):
        tomcat = re.search(r"Server number:\s*(\S+)", _output(
            [_program("java"), "-cp", f"{self.HOME}/lib/catalina.jar:{self.HOME}/lib/tomcat-util.jar",
             "org.apache.catalina.util.ServerInfo"]))
        java = re.search(r'version "([^"]+)"', _output([_program("java"), "-version"]))
        return "Tomcat {} on JDK {}".format(*(match.group(1) if match else "?" for match in (tomcat, java)))

    def prepare(self, folder, port, certificate, key, index):
        application = os.path.join(folder, "webapps", "ROOT")
        for name in ("conf", "logs", "temp", "work", "classes", "webapps/ROOT/WEB-INF/classes"):
            os.makedirs(os.path.join(folder, name))
        subprocess.run([_program("javac"), "-cp", f"{self.HOME}/lib/servlet-api.jar", "-d", f"{folder}/classes"]
                       + [os.path.join(HERE, "tomcat", f"{name}.java") for name in self.JAVA], check=True)
        # The login module belongs to the server, the servlet to the application.
        shutil.move(f"{folder}/classes/WelcomeServlet.class", f"{application}/WEB-INF/classes")
        with open(os.path.join(application, "index.html"), "wb") as file:
            file.write(index)
        _fill("tomcat/web.xml", os.path.join(application, "WEB-INF", "web.xml"), {})
        _fill("tomcat/login.conf", os.path.join(folder, "conf", "login.conf"), {})
        _fill("tomcat/server.xml", os.path.join(folder, "conf", "server.xml"),
              {"PORT": port, "CERTIFICATE": certificate, "KEY": key})
        return [_program("java"), f"-Djava.security.auth.login.config={folder}/conf/login.conf",
                f"-Dcatalina.home={self.HOME}", f"-Dcatalina.base={folder}", f"-Djava.io.tmpdir={folder}/temp",
                "-cp", f"{self.HOME}/bin/bootstrap.jar:{self.HOME}/bin/tomcat-juli.jar:{folder}/classes",
                "org.apache.catalina.startup.Bootstrap", "start"]


def all_peers():
    """Returns all servers, in the order of the tables."""
    return [
        Gatehouse("gatehouse", "**gatehouse**", "GATEHOUSE_BINARY", OFF),
        Gatehouse("gatehouse-log", "gatehouse, access log on", "GATEHOUSE_BINARY", ON),
        Gatehouse("gatehouse-login", "gatehouse, a login each", "GATEHOUSE_BINARY", NO_CACHE, requests=("basic",)),
        Gatehouse("gatehouse-ask", "gatehouse", "GATEHOUSE_BINARY", FOR_PROXY, requests=("question",)),
        Gatehouse("gatehouse-before-ask", "gatehouse, before", "GATEHOUSE_BEFORE", FOR_PROXY, requests=("question",)),
        Gatehouse("gatehouse-before-login", "gatehouse, before, a login each", "GATEHOUSE_BEFORE", NO_CACHE, requests=("basic",)),
        Gatehouse("gatehouse-before", "gatehouse, before", "GATEHOUSE_BEFORE", OFF, ON),
        Nginx(),
        Apache(),
        Caddy(),
        Tomcat(),
    ]
