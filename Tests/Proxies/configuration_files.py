# SPDX-License-Identifier: Apache-2.0
# Gatehouse
"""Tests of the files for Traefik and Envoy. They check the content of the files, because these proxies are not installed."""

import os
import re

import yaml

from client import NAVIGATION
from hosts_and_fields import MISLEADING, run_command, documented_commands
from proxy_fixture import NAME, SIGN_IN_HOST, WIKI
from proxy_processes import DOCS
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
    host, = manager["route_config"]["virtual_hosts"]
    removed = host["request_headers_to_remove"]
    for name in [*(name.lower() for name in MISLEADING), *(name.replace("-", ".") for name in IDENTITY)]:
        expect(name in removed, f"{name} of a client is not removed")
    for name in IDENTITY:
        expect(name not in removed, f"{name} of Gatehouse is removed")
    expect_equal(manager["common_http_protocol_options"]["headers_with_underscores_action"], "DROP_HEADER")
    expect_equal([each["name"] for each in manager["http_filters"]], ["envoy.filters.http.ext_authz", "envoy.filters.http.router"])
    expect_equal(manager["http_filters"][0]["typed_config"]["failure_mode_allow"], False)
    unasked = [route["match"] for route in host["routes"] if "typed_per_filter_config" in route]
    expect_equal(unasked, [{"path_separated_prefix": "/gatehouse/auth"}, {"prefix": "/gatehouse/"}])


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
    host, = manager["route_config"]["virtual_hosts"]
    for route in host["routes"]:
        expect("connect_matcher" not in route["match"], "CONNECT is allowed")
        expect("upgrade_configs" not in route.get("route", {}), "a route allows other upgrades")


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
