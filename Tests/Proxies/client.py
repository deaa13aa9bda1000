# SPDX-License-Identifier: Apache-2.0
"""An HTTP/1.1 client that sends exactly the given bytes over verified TLS, and a simple browser with cookies."""

import html
import re
import socket
import ssl
import urllib.parse

NAVIGATION = {"Accept": "text/html,application/xhtml+xml", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
FETCH = {"Accept": "application/json", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}
SESSION = "__Host-gatehouse"


class Answer:
    """A response: status, fields in their order, body."""

    def __init__(self, head, body):
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split()[1])
        self.fields = [(name.strip().lower(), value.strip())
                       for name, _, value in (line.partition(":") for line in lines[1:])]
        self.body = body

    def all(self, name):
        return [value for key, value in self.fields if key == name.lower()]

    def field(self, name):
        values = self.all(name)
        return values[0] if values else None

    def __repr__(self):
        return f"{self.status} {dict(self.fields)} {self.body[:200]!r}"


class Connection:
    """One TLS connection that stays open."""

    def __init__(self, port, authority, name, source="127.0.0.1"):
        self.name, self.port = name, port
        self.context = ssl.create_default_context(cafile=authority)
        self.source = source
        self.tls, self.rest = None, b""

    def open(self):
        plain = socket.create_connection(("127.0.0.1", self.port), 30, source_address=(self.source, 0))
        self.tls, self.rest = self.context.wrap_socket(plain, server_hostname=self.name), b""

    def close(self):
        if self.tls is not None:
            self.tls.close()
            self.tls = None

    def raw(self, data, is_head=False):
        """Sends bytes and returns the response, or None if the connection ends without one."""
        if self.tls is None:
            self.open()
        try:
            try:
                self.tls.sendall(data)
            except ConnectionError:
                pass  # A proxy that rejects a request does not read its body; the answer is there already.
            answer = self._answer(is_head)
        except (ConnectionError, ssl.SSLError):
            answer = None
        if answer is None or (answer.field("connection") or "").lower() == "close":
            self.close()
        return answer

    def _answer(self, is_head):
        while b"\r\n\r\n" not in self.rest:
            if not self._more():
                return None
        head, _, self.rest = self.rest.partition(b"\r\n\r\n")
        answer = Answer(head, b"")
        if 100 <= answer.status < 200:
            return self._answer(is_head)
        if is_head or answer.status in (204, 304):
            return answer
        if (answer.field("transfer-encoding") or "").lower() == "chunked":
            answer.body = self._chunks()
        elif answer.field("content-length") is not None:
            answer.body = self._exactly(int(answer.field("content-length")))
        else:
            while self._more():
                pass
            answer.body, self.rest = self.rest, b""
            self.close()
        return answer

    def _chunks(self):
        body = b""
        while True:
            while b"\r\n" not in self.rest:
                if not self._more():
                    return body
            size, _, self.rest = self.rest.partition(b"\r\n")
            chunk = self._exactly(int(size.split(b";")[0], 16) + 2)
            if len(chunk) == 2:
                return body
            body += chunk[:-2]

    def _exactly(self, length):
        while len(self.rest) < length and self._more():
            pass
        taken, self.rest = self.rest[:length], self.rest[length:]
        return taken

    def _more(self):
        data = self.tls.recv(65536) if self.tls else b""
        self.rest += data
        return data


class Browser:
    """Sends requests as a browser does. It keeps cookies and follows no redirects."""

    def __init__(self, port, authority, name, source="127.0.0.1"):
        self.connection = Connection(port, authority, name, source)
        self.host = f"{name}:{port}"
        self.cookies = {}

    def ask(self, path, method="GET", fields=(), body=b"", kind=NAVIGATION, version="1.1", cookies=True, host=None):
        """Sends a request. `fields` is a list of pairs, so a name may occur twice. `path` may be bytes."""
        target = path if isinstance(path, bytes) else path.encode()
        lines = [method.encode() + b" " + target + b" HTTP/" + version.encode(),
                 f"Host: {host or self.host}".encode()]
        for name, value in [*kind.items(), *fields]:
            lines.append(f"{name}: {value}".encode("latin-1"))
        if cookies and self.cookies:
            lines.append(("Cookie: " + "; ".join(f"{k}={v}" for k, v in self.cookies.items())).encode())
        if body or method in ("POST", "PUT"):
            lines.append(f"Content-Length: {len(body)}".encode())
        answer = self.connection.raw(b"\r\n".join(lines) + b"\r\n\r\n" + body, is_head=method == "HEAD")
        if answer is not None:
            self._keep(answer)
        return answer

    def _keep(self, answer):
        for cookie in answer.all("set-cookie"):
            pair, *attributes = [part.strip() for part in cookie.split(";")]
            name, _, value = pair.partition("=")
            gone = any(attribute.lower() == "max-age=0" for attribute in attributes) or value == ""
            if gone:
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = value

    def path_of(self, location):
        """The path of a redirect, which must be at the same host."""
        parts = urllib.parse.urlsplit(location)
        if parts.scheme not in ("", "https") or (parts.netloc or self.host) != self.host:
            raise AssertionError(f"a redirect to another host: {location}")
        return parts.path + ("?" + parts.query if parts.query else "")

    def submit(self, action, values):
        body = urllib.parse.urlencode(values).encode()
        fields = [("Content-Type", "application/x-www-form-urlencoded"), ("Origin", f"https://{self.host}"),
                  ("Sec-Fetch-Site", "same-origin")]
        return self.ask(action, "POST", fields, body)

    def sign_in(self, page, name, password):
        """Submits the sign-in form at `page` and returns the response."""
        shown = self.ask(page)
        action, values = form(shown)
        return self.submit(action or page, values | {"username": name, "password": password})

    def close(self):
        self.connection.close()


def form(answer, wanted="password"):
    """The action and the hidden values of the form that has a field of this name."""
    text = answer.body.decode(errors="replace")
    for attributes, inside in re.findall(r"<form\b([^>]*)>(.*?)</form>", text, re.S | re.I):
        inputs = [dict(re.findall(r'([\w-]+)="([^"]*)"', tag)) for tag in re.findall(r"<input\b([^>]*)>", inside, re.I)]
        if wanted in (value.get("name") for value in inputs):
            action = dict(re.findall(r'([\w-]+)="([^"]*)"', attributes)).get("action")
            values = {value["name"]: html.unescape(value.get("value", "")) for value in inputs
                      if value.get("type") == "hidden"}
            return html.unescape(action) if action else None, values
    raise AssertionError(f"no form with {wanted}: {answer}")
