# SPDX-License-Identifier: Apache-2.0
"""Checks docs/openapi.yaml against a running server.

    openapi.py GATEHOUSE

Each response of the file is produced by a request, and each response of the server is one of the file: its status, its media type,
its required fields and its body. run.sh installs the packages and starts this program.
"""

import http.client
import json
import os
import re
import signal
import sys
import threading
import time

import jsonschema
import yaml
from openapi_spec_validator import validate

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "Tests", "Server"))

from server import Folder, Server, tls_context  # noqa: E402 - its folder is in the path from here on

MAIL = "7c0f1f1ea8b5d3c5a1e29d6b54d2f0a9"
DETAILS = "0f9a2d45b6d92e1a5c3d5b8ae1f1f0c7"
FAR = "AbCdEfGhIjKlMnOpQrStUvWxYz012345"
PASSWORD = "correct horse battery"
# One worker and one place in its queue, so that parallel checks of passwords make the realm unavailable.
CONFIGURATION = f"""
default-realm people;
login storeRealm {{ StoreLoginModule required; }}
realm people {{ class StoreRealm; }}
realm others {{ class StoreRealm; }}
passwords {{ hash bcrypt cost=11; workers 1; queue 1; wait 100ms; }}
server {{
    listen 127.0.0.1:0;
    credential-cache 0s;
    throttle {{ failures 0; source-failures 0; delay 0s; }}
    sessions {{ streams-per-session 1; }}
    realm-api {{
        client mail    {{ realm people; token {MAIL}; may-name-address on; }}
        client details {{ realm people; token {DETAILS}; show-reasons on; }}
        client far     {{ realm people; token {FAR}; networks 192.0.2.0/24; }}
    }}
}}
protect /welcome {{ auth form; require any; }}
"""


class Document:
    """The OpenAPI file, and the responses that have been seen."""

    def __init__(self, path):
        with open(path) as file:
            self.root = yaml.safe_load(file)
        validate(self.root)
        self.seen = set()

    def resolve(self, part):
        while isinstance(part, dict) and "$ref" in part:
            target = self.root
            for name in part["$ref"].removeprefix("#/").split("/"):
                target = target[name]
            part = target
        return part

    def responses(self):
        """Yields each response as (operation, status, media type, response). The media type is None without a body."""
        for path, item in self.root["paths"].items():
            for method in ("get", "post", "delete"):
                for status, response in item.get(method, {}).get("responses", {}).items():
                    response = self.resolve(response)
                    for kind in response.get("content", {None: None}):
                        yield f"{method.upper()} {path}", int(status), kind, response

    def validator(self, schema):
        # The references of the schema are into the document.
        return jsonschema.Draft202012Validator({**schema, "components": self.root["components"]})

    def check(self, operation, answer):
        method, path = operation.split(" ")
        responses = self.root["paths"][path][method.lower()]["responses"]
        response = self.resolve(responses.get(str(answer.status)))
        assert response, f"{operation}: the status {answer.status} is not in the file: {answer.body!r}"
        kind = answer.kind
        content = response.get("content", {None: None})
        assert kind in content, f"{operation} {answer.status}: the media type {kind} is not in the file"
        for name, field in response.get("headers", {}).items():
            value = answer.fields.get(name)
            assert value is not None or not field.get("required"), f"{operation} {answer.status}: there is no {name}"
            if value is not None:
                self.validator(field["schema"]).validate(value)
        if kind == "application/json":
            self.validator(content[kind]["schema"]).validate(json.loads(answer.body))
        self.seen.add((operation, answer.status, kind))


class Answer:
    def __init__(self, response, body):
        self.status = response.status
        self.fields = response.headers
        self.kind = (response.headers.get("Content-Type") or "").split(";")[0] or None
        self.body = body


class Tester:
    def __init__(self, document, server):
        self.document = document
        self.server = server
        self.cookie = None

    def connection(self):
        return http.client.HTTPSConnection("localhost", self.server.port, timeout=60, context=tls_context())

    def ask(self, operation, path=None, body=None, token=None, kind="application/json", cookie=True, fields=()):
        """Sends a request, checks the response against the file, and returns it."""
        method, template = operation.split(" ")
        headers = dict(fields)
        if token:
            headers["Authorization"] = f"Bearer {token}"
        if cookie and self.cookie:
            headers["Cookie"] = self.cookie
        if body is not None:
            headers["Content-Type"] = kind
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection = self.connection()
        connection.request(method, path or template, body, headers)
        response = connection.getresponse()
        is_stream = (response.headers.get("Content-Type") or "").startswith("text/event-stream")
        answer = Answer(response, b"" if is_stream else response.read())
        answer.connection = connection
        self.document.check(operation, answer)
        return answer

    def expect(self, status, operation, **options):
        answer = self.ask(operation, **options)
        assert answer.status == status, f"{operation}: {answer.status} and not {status}: {answer.body!r}"
        return answer

    def sign_in(self):
        login = {"username": "ann", "password": PASSWORD}
        answer = self.expect(201, "POST /session", body=login)
        self.cookie = next(
            field.split(";")[0] for field in answer.fields.get_all("Set-Cookie")
            if field.startswith("__Host-gatehouse="))
        return json.loads(answer.body)


LIST = "GET /realms"
CHECK = "POST /realms/{realm}/check"
RIGHT = {"username": "ann", "password": PASSWORD}


def realm_api(tester):
    def check(status, body, realm="people", token=MAIL, **options):
        return tester.expect(status, CHECK, path=f"/realms/{realm}/check", body=body, token=token, **options)

    listed = json.loads(tester.expect(200, LIST, token=MAIL).body)
    assert listed == {"realms": [{"name": "people", "auth_type": listed["realms"][0]["auth_type"]}]}
    tester.expect(401, LIST)
    tester.expect(401, LIST, token="wrong")
    tester.expect(403, LIST, token=FAR)

    accepted = json.loads(check(200, RIGHT).body)
    assert (accepted["outcome"], accepted["user"], accepted["groups"]) == ("accepted", "ann", ["Staff"])
    more = {**RIGHT, "codes": ["1"], "service": "imap", "address": "2001:db8::1"}
    assert json.loads(check(200, more).body)["outcome"] == "accepted"
    refused = {check(200, {"username": name, "password": password}).body
               for name, password in [("ann", "wrong"), ("bob", PASSWORD), ("nobody", "x"), ("n" * 2000, "x"), ("", "")]}
    assert len(refused) == 1, refused
    reasons = [json.loads(check(200, {"username": name, "password": PASSWORD}, token=DETAILS).body)["reason"]
               for name in ("bob", "nobody")]
    assert reasons == ["disabled", "unknown-user"], reasons
    check(401, RIGHT, token=None)
    check(401, RIGHT, token="wrong")
    hidden = {check(403, RIGHT, realm=realm).body for realm in ("others", "nowhere", "people%20")}
    assert len(hidden) == 1
    check(403, RIGHT, token=FAR)
    check(403, {**RIGHT, "address": "192.0.2.1"}, token=DETAILS)
    check(413, {"username": "ann", "password": "p" * 40_000})
    check(415, RIGHT, kind="text/plain")
    malformed = [
        (b"", "at byte 0"), (b"{", "at byte 1"), (b'{"username":"ann","password":"x"} ,', "at byte 34"),
        (b'{"username":"\xff","password":"x"}', "not UTF-8, at byte 13"),
        (b'{"username":"\xc3\x28","password":"x"}', "not UTF-8, at byte 13"),
        (b'{"username":"a\\u0000","password":"x"}', "NUL character, at byte 14"),
        (b'{"username":"a\x00","password":"x"}', "control character in a string, at byte 14"),
        (b'{"username":"ann","password":"x","password":"y"}', "duplicate name, at byte 33"),
        (b'{"username":"ann","user\\u006eame":"bob","password":"y"}', "duplicate name, at byte 18"),
        (b'{"username":"ann"}', "password is missing"), (b'{"username":"ann","password":"x","adress":"y"}', "unknown"),
        (b'{"username":"ann","password":"x","address":"localhost"}', "address"),
        (b'{"username":"ann","password":"x","service":"a/b"}', "service"),
    ]
    for body, place in malformed:
        reason = json.loads(check(400, body).body)["reason"]
        assert place in reason, f"{body}: {reason}"


def unavailable(tester):
    """Checks passwords in parallel until the realm has no place for a further check."""
    def many(operation, **options):
        def one(number):
            # A password that was verified before needs no place, so all passwords are different and wrong.
            body = {"username": f"user-{number}", "password": f"wrong {number}"}
            tester.ask(operation, body=body, cookie=False, **options)

        until = time.monotonic() + 60
        while (operation, 503, "application/json") not in tester.document.seen:
            assert time.monotonic() < until, f"{operation}: the realm was always available"
            threads = [threading.Thread(target=one, args=(number,)) for number in range(16)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

    many(CHECK, path="/realms/people/check", token=MAIL)
    many("POST /session")


def session_api(tester):
    foreign = {"Sec-Fetch-Site": "cross-site"}
    for operation in ("GET /session", "POST /session/refresh", "GET /session/events", "GET /sessions"):
        tester.expect(401, operation)
    tester.expect(401, "DELETE /sessions/{id}", path="/sessions/x")
    tester.expect(404, "DELETE /session")
    tester.expect(401, "POST /session", body={"username": "ann", "password": "wrong"})
    tester.expect(400, "POST /session", body=b"{")
    tester.expect(403, "POST /session", body=RIGHT, fields=foreign)
    tester.expect(409, "POST /session", body={"number": 1, "answers": ["1"]})
    tester.expect(413, "POST /session", body={"username": "ann", "password": "p" * 40_000})
    tester.expect(415, "POST /session", body=b"x", kind="text/plain")
    first = tester.sign_in()
    first_cookie, tester.cookie = tester.cookie, None
    second = tester.sign_in()
    assert first["id"] != second["id"]
    tester.expect(200, "GET /session")
    tester.expect(200, "POST /session/refresh")
    listed = json.loads(tester.expect(200, "GET /sessions").body)["sessions"]
    assert {one["id"] for one in listed} == {first["id"], second["id"]}
    stream = tester.expect(200, "GET /session/events")
    tester.expect(429, "GET /session/events")
    stream.connection.close()
    for operation in ("POST /session/refresh", "DELETE /session"):
        tester.expect(403, operation, fields=foreign)
    tester.expect(403, "DELETE /sessions/{id}", path=f"/sessions/{first['id']}", fields=foreign)
    tester.expect(404, "DELETE /sessions/{id}", path="/sessions/x")
    tester.expect(204, "DELETE /sessions/{id}", path=f"/sessions/{first['id']}")
    tester.expect(204, "DELETE /session")
    tester.cookie = first_cookie
    tester.expect(401, "GET /session")


def other_methods(tester):
    """Sends all other methods to all paths: 405 with the methods of the file."""
    for path, item in tester.document.root["paths"].items():
        allowed = {method.upper() for method in item if method in ("get", "post", "delete")}
        for method in {"GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"} - allowed:
            connection = tester.connection()
            connection.request(method, re.sub(r"\{.*?\}", "x", path))
            response = connection.getresponse()
            response.read()
            fields = {name.strip() for name in (response.headers.get("Allow") or "").split(",")}
            assert (response.status, fields - {"HEAD"}) == (405, allowed), f"{method} {path}: {response.status} {fields}"


def produced(document):
    """Checks that each response of the file was produced, here or by the Swift test that it names."""
    tests = ""
    for folder, _, names in os.walk(os.path.join(ROOT, "Tests")):
        for name in names:
            if name.endswith(".swift"):
                with open(os.path.join(folder, name)) as file:
                    tests += file.read()
    count = 0
    missing = []
    for operation, status, kind, response in document.responses():
        count += 1
        test = response.get("x-tested-by")
        is_produced = f"func `{test}`" in tests if test else (operation, status, kind) in document.seen
        if not is_produced:
            missing.append(f"{operation} {status} {kind}")
    assert not missing, f"no test produces {', '.join(missing)}"
    return count


def main():
    signal.signal(signal.SIGTERM, lambda *_: os._exit(143))
    document = Document(os.path.join(ROOT, "docs", "openapi.yaml"))
    with Folder(sys.argv[1], CONFIGURATION, "openapi") as folder:
        folder.add("ann", PASSWORD, "--group", "Staff")
        folder.add("bob", PASSWORD)
        folder.must("user", "disable", "bob")
        with Server(folder) as server:
            tester = Tester(document, server)
            for test in (realm_api, session_api, other_methods, unavailable):
                test(tester)
                print(f"ok      {test.__name__.replace('_', ' ')}", flush=True)
            log = server.log
    for secret in (MAIL, DETAILS, FAR, PASSWORD):
        assert secret not in log, "a secret is in the log"
    print(f"openapi: {produced(document)} responses of docs/openapi.yaml, {len(document.seen)} of them produced here")


if __name__ == "__main__":
    try:
        main()
    except AssertionError as error:
        sys.exit(f"FAILED  {error}")
