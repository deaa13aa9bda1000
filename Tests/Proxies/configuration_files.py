# SPDX-License-Identifier: Apache-2.0
"""Tests of the files for Traefik and Envoy. They check the content of the files, because these proxies are not installed."""

import os
import re

import yaml

from client import FETCH, NAVIGATION, SESSION
from hosts_and_fields import MISLEADING, run_command, documented_commands
from proxy_fixture import NAME, SIGN_IN_HOST, WIKI
from proxy_processes import DOCS
from refusals import LANGUAGES
from scenarios import expect_equal, expect

SCENARIOS = []
IDENTITY = ["remote-user", "remote-groups", "remote-realm", "remote-email", "remote-name", "remote-token"]
# Fields that Traefik itself replaces.
BY_TRAEFIK = {"x-forwarded-port", "x-forwarded-server", "x-real-ip"}


def scenario(function):
    SCENARIOS.append(function)
    return function


def read(name):
    with open(os.path.join(DOCS, name)) as file:
        return yaml.safe_load(file)


def traefik_fields(http, router):
    """The fields that the middlewares of a router set before the authorization request, by lower-case name. None means removed."""
    fields = {}
    for name in router["middlewares"]:
        middleware = http["middlewares"][name]
        if "forwardAuth" in middleware:
            break
        fields |= {key.lower(): value or None for key, value in middleware["headers"]["customRequestHeaders"].items()}
    return fields


@scenario
def the_file_for_traefik_checks_every_request_and_removes_identity_fields(_):
    http = read("traefik.yml")["http"]
    to_application = [router for router in http["routers"].values() if router["service"] != "gatehouse"]
    expect_equal([router["service"] for router in to_application], ["application"] * 2 + ["wiki"] * 2)
    for router in to_application:
        expect_equal(router["middlewares"][-1], "gatehouse")
        fields = traefik_fields(http, router)
        for name in [*IDENTITY, *(name.replace("-", other) for name in IDENTITY for other in "_."),
                     *(name.lower() for name in MISLEADING if name.lower() not in BY_TRAEFIK)]:
            expect(name in fields and fields[name] is None, f"{name} of a client is not removed")
    asked = http["middlewares"]["gatehouse"]["forwardAuth"]
    expect_equal((asked["trustForwardHeader"], asked.get("authResponseHeadersRegex")), (False, None))
    expect_equal([name.lower() for name in asked["authResponseHeaders"]], IDENTITY)
    pages = http["routers"]["gatehouse-pages"]
    expect("!PathPrefix(`/gatehouse/auth/`)" in pages["rule"], "authorization requests of clients are passed on")
    # The pages are at the hosts of all applications, and at the sign-in host.
    hosts = {host for router in to_application for host in re.findall(r"Host\(`([^`]*)`\)", router["rule"])}
    expect_equal(set(re.findall(r"Host\(`([^`]*)`\)", pages["rule"])), hosts | {SIGN_IN_HOST})
    expect_equal(hosts, {NAME, WIKI})
    with open(os.path.join(DOCS, "traefik.yml")) as file:
        expect("aliasHeadersStrategy: delete" in file.read(), "other spellings of names are passed on")


@scenario
def the_files_for_traefik_and_envoy_pass_the_fields_of_a_cors_preflight_on(_):
    traefik = [name.lower() for name in read("traefik.yml")["http"]["middlewares"]["gatehouse"]["forwardAuth"]["authRequestHeaders"]]
    server, = [each["typed_config"]["http_service"] for each in envoy_manager()["http_filters"] if "ext_authz" in each["name"]]
    envoy = [each["exact"] for each in server["authorization_request"]["allowed_headers"]["patterns"]]
    for name in ("origin", "access-control-request-method"):
        expect(name in traefik and name in envoy, name)


@scenario
def the_file_for_traefik_allows_only_websocket_upgrades(_):
    http = read("traefik.yml")["http"]
    for name, router in http["routers"].items():
        fields = traefik_fields(http, router)
        expect("!Method(`CONNECT`)" in router["rule"] or "Method(`GET`)" in router["rule"], f"{name}: CONNECT")
        if "HeaderRegexp(`Upgrade`" in router["rule"]:
            pattern = re.search(r"HeaderRegexp\(`Upgrade`, `([^`]*)`\)", router["rule"])[1]
            for protocol in ("websocket", "WebSocket"):
                expect(re.search(pattern, protocol), pattern)
            for protocol in ("h2c", "websocket, h2c", "h2c, websocket", "websocket2", "", "TLS/1.0"):
                expect(not re.search(pattern, protocol), f"{pattern}: {protocol}")
            # A request may have several Upgrade fields, of which only one matches. All are replaced by one field.
            expect_equal((fields["upgrade"], fields["connection"]), ("websocket", "Upgrade"))
        else:
            expect_equal((fields["upgrade"], fields["connection"]), (None, None), name)
    expect_equal([router["priority"] for router in http["routers"].values()], [1, 2, 1, 2, 3])


@scenario
def the_file_for_traefik_matches_only_targets_that_are_paths(_):
    for name, router in read("traefik.yml")["http"]["routers"].items():
        expect("PathRegexp(`^/`)" in router["rule"] or "PathPrefix(`/gatehouse/`)" in router["rule"], f"{name}: an opaque address")


@scenario
def the_file_for_envoy_checks_every_request_and_removes_identity_fields(_):
    manager = envoy_manager()
    for host in manager["route_config"]["virtual_hosts"]:
        unasked = [route["match"] for route in host["routes"] if "typed_per_filter_config" in route]
        clusters = {route["route"]["cluster"] for route in host["routes"] if "route" in route}
        if host["domains"] == [SIGN_IN_HOST]:
            expect_equal(clusters, {"gatehouse"})
            continue
        removed = host["request_headers_to_remove"]
        for name in [*(name.lower() for name in MISLEADING), *(name.replace("-", ".") for name in IDENTITY)]:
            expect(name in removed, f"{name} of a client is not removed")
        for name in IDENTITY:
            expect(name not in removed, f"{name} of Gatehouse is removed")
        expect_equal(unasked, [{"path_separated_prefix": "/gatehouse/auth"}, {"prefix": "/gatehouse/"}])
    expect_equal(manager["common_http_protocol_options"]["headers_with_underscores_action"], "DROP_HEADER")
    expect_equal([each["name"] for each in manager["http_filters"]], ["envoy.filters.http.ext_authz", "envoy.filters.http.router"])
    expect_equal(manager["http_filters"][0]["typed_config"]["failure_mode_allow"], False)


@scenario
def the_file_for_envoy_passes_on_all_fields_of_the_page_for_a_denied_request(place):
    server, = [each["typed_config"]["http_service"] for each in envoy_manager()["http_filters"] if "ext_authz" in each["name"]]
    passed = {each["exact"] for each in server["authorization_response"]["allowed_client_headers"]["patterns"]}
    answer = place.ask("envoy", "/desk", cookie=place.session("bob"), kind=NAVIGATION)
    expect_equal(answer.status, 403, answer)
    expect(b"signed in as bob" in answer.body, answer)
    missing = {name for name, _ in answer.fields} - passed - {"content-length", "date", "connection"}
    expect_equal(missing, set(), answer)


@scenario
def the_file_for_envoy_allows_only_websocket_upgrades(_):
    manager = envoy_manager()
    expect_equal(manager["upgrade_configs"], [{"upgrade_type": "websocket"}])
    expect_equal(manager["http_protocol_options"]["enable_trailers"], False)
    for host in manager["route_config"]["virtual_hosts"]:
        for route in host["routes"]:
            expect("connect_matcher" not in route["match"], "CONNECT is allowed")
            expect("upgrade_configs" not in route.get("route", {}), "a route allows other upgrades")
            # The default is 15 seconds, after which server-sent events would end.
            expect("route" not in route or route["route"]["timeout"] == "0s", "a route has a time limit")


class Envoy:
    """Handles requests as the documented file for Envoy states: virtual host, route, and the check with its fields."""

    def __init__(self, place):
        self.place, self.manager = place, envoy_manager()
        self.filter, = [each["typed_config"]["http_service"] for each in self.manager["http_filters"] if "ext_authz" in each["name"]]

    def route(self, host, path):
        """The first route that matches, and its virtual host."""
        name = host.rpartition(":")[0] if ":" in host and self.manager["route_config"]["ignore_port_in_host_matching"] else host
        for virtual in self.manager["route_config"]["virtual_hosts"]:
            if name not in virtual["domains"]:
                continue
            for route in virtual["routes"]:
                match = route["match"]
                separated = match.get("path_separated_prefix")
                if path == match.get("path") or separated and (path == separated or path.startswith(f"{separated}/")) \
                        or "prefix" in match and path.startswith(match["prefix"]):
                    return virtual, route
        return None, None

    def ask(self, host, path, fields=()):
        """Returns (cluster, answer): the cluster that gets the request, or the answer without a cluster."""
        _, route = self.route(host, path)
        if route is None:
            return None, "404"
        if "route" not in route:
            return None, str(route.get("direct_response", {}).get("status", "redirect"))
        if "typed_per_filter_config" not in route:
            allowed = {each["exact"] for each in self.filter["authorization_request"]["allowed_headers"]["patterns"]} | {"authorization"}
            sent = [(name, value) for name, value in fields if name.lower() in allowed]
            answer = self.place.ask("envoy", path, host=host, more=sent, kind={})
            if answer.status != 200:
                return None, answer
            return route["route"]["cluster"], answer
        return route["route"]["cluster"], None


class Traefik:
    """Handles requests as the documented file for Traefik states: router, middlewares, and the check with its fields."""

    def __init__(self, place):
        self.place, self.http = place, read("traefik.yml")["http"]

    def router(self, host, path, fields):
        found = []
        for router in self.http["routers"].values():
            rule = router["rule"]
            if host.partition(":")[0] not in re.findall(r"Host\(`([^`]*)`\)", rule):
                continue
            if any(path.startswith(prefix) for prefix in re.findall(r"!PathPrefix\(`([^`]*)`\)", rule)):
                continue
            needed = re.findall(r"(?<!!)PathPrefix\(`([^`]*)`\)", rule)
            if needed and not any(path.startswith(prefix) for prefix in needed):
                continue
            upgrade = re.search(r"HeaderRegexp\(`Upgrade`, `([^`]*)`\)", rule)
            if upgrade and not any(name.lower() == "upgrade" and re.search(upgrade[1], value) for name, value in fields):
                continue
            found.append(router)
        return max(found, key=lambda router: router["priority"], default=None)

    def ask(self, host, path, fields=()):
        router = self.router(host, path, fields)
        if router is None:
            return None, "404"
        if "gatehouse" not in router["middlewares"]:
            return router["service"], None
        asked = self.http["middlewares"]["gatehouse"]["forwardAuth"]
        allowed = {name.lower() for name in asked["authRequestHeaders"]}
        sent = [(name, value) for name, value in fields if name.lower() in allowed]
        answer = self.place.ask("traefik", path, host=host, more=sent, kind={})
        return (router["service"], answer) if answer.status == 200 else (None, answer)


@scenario
def two_applications_and_the_sign_in_host_in_the_files_for_traefik_and_envoy(place):
    """wiki.example.com has a rule of its own, by which bob is allowed."""
    ann, bob = ([("Cookie", f"{SESSION}={place.session(name)}")] for name in ("ann", "bob"))
    wiki = [("Cookie", f"{SESSION}={place.session('bob', WIKI)}")]
    for kind, first in ((Envoy, "application"), (Traefik, "application")):
        proxy = kind(place)
        for port in ("", ":8443"):
            expect_equal(proxy.ask(NAME + port, "/desk", ann)[0], first)
            expect_equal(proxy.ask(WIKI + port, "/page", wiki)[0], "wiki")
            for host, fields, status in ((NAME, bob, 403), (NAME, wiki, 401), (WIKI, bob, 401), (WIKI, [], 401)):
                cluster, answer = proxy.ask(host + port, "/desk", [*fields, *FETCH.items()])
                expect_equal((cluster, answer.status), (None, status), f"{kind.__name__} {host} {answer}")
            for host in (NAME, WIKI, SIGN_IN_HOST):
                expect_equal(proxy.ask(host + port, "/gatehouse/sign-in")[0], "gatehouse")
                # Traefik reads gatehouse/auth/ as a path of the application, which is checked.
                cluster, answer = proxy.ask(host + port, "/gatehouse/auth/envoy", FETCH.items())
                expect(cluster is None, f"{kind.__name__} {host}: {cluster} gets a check of a client")
            for path in ("/", "/desk"):
                expect_equal(proxy.ask(SIGN_IN_HOST + port, path, ann)[0], None)
        expect_equal(proxy.ask("other.example.com", "/", ann)[0], None)


@scenario
def every_host_in_the_files_for_traefik_and_envoy_has_a_service_with_its_own_address(_):
    services = read("traefik.yml")["http"]["services"]
    addresses = [server["url"] for service in services.values() for server in service["loadBalancer"]["servers"]]
    expect_equal(sorted(addresses), ["http://127.0.0.1:3000", "http://127.0.0.1:3001", "https://127.0.0.1:8443"])
    resources = read("envoy.yaml")["static_resources"]
    ports = {}
    for cluster in resources["clusters"]:
        endpoint, = cluster["load_assignment"]["endpoints"][0]["lb_endpoints"]
        ports[cluster["name"]] = endpoint["endpoint"]["address"]["socket_address"]["port_value"]
    expect_equal(ports, {"application": 3000, "wiki": 3001, "gatehouse": 8443})
    manager = envoy_manager()
    used = {route["route"]["cluster"] for host in manager["route_config"]["virtual_hosts"] for route in host["routes"] if "route" in route}
    expect_equal(used, set(ports))
    hosts = [name for host in manager["route_config"]["virtual_hosts"] for name in host["domains"]]
    expect_equal(hosts, [NAME, WIKI, SIGN_IN_HOST])
    certificates = resources["listeners"][0]["filter_chains"][0]["transport_socket"]["typed_config"]["common_tls_context"]["tls_certificates"]
    expect_equal([each["certificate_chain"]["filename"] for each in certificates], [f"/etc/envoy/{name}.pem" for name in hosts])


@scenario
def the_language_of_the_visitor_reaches_the_page_for_a_denied_request_by_the_files_for_traefik_and_envoy(place):
    cookie = [("Cookie", f"{SESSION}={place.session('bob')}")]
    for kind in (Envoy, Traefik):
        for language, text in LANGUAGES:
            _, answer = kind(place).ask(NAME, "/desk", [*cookie, *NAVIGATION.items(), ("Accept-Language", language)])
            expect_equal(answer.status, 403, answer)
            expect(text.encode() in answer.body, f"{kind.__name__} {language}: {answer.body}")


@scenario
def the_authorization_request_of_the_documentation_gives_the_documented_answer(place):
    command, comment = documented_commands("Trying it")[-1]
    replacements = {"localhost:8443": f"localhost:{place.gatehouse.port}"}
    answer = run_command(command.replace("--cacert gatehouse-ca.pem", ""), place.gatehouse.authority, replacements)
    expect_equal(f"{answer.status}", comment.strip().partition(":")[0], answer)


def envoy_manager():
    listener, = read("envoy.yaml")["static_resources"]["listeners"]
    chain, = listener["filter_chains"]
    only, = chain["filters"]
    return only["typed_config"]
