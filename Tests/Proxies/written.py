# SPDX-License-Identifier: Apache-2.0
# Gatehouse
"""What the files for Traefik and Envoy, which are not at hand, have to say. It is what they say that is looked at, not what they do."""

import os
import re

import yaml

from hosts import MISLEADING, answers, commands
from peers import DOCS
from scenarios import equal, true

SCENARIOS = []
IDENTITY = ["remote-user", "remote-groups", "remote-realm"]
# Traefik replaces these by itself.
BY_TRAEFIK = {"x-forwarded-port", "x-forwarded-server", "x-real-ip"}


def scenario(function):
    SCENARIOS.append(function)
    return function


def read(name):
    with open(os.path.join(DOCS, name)) as file:
        return yaml.safe_load(file)


def traefik_fields(http, router):
    """What the middlewares of a router set before the question is asked: by the name in lower case; None for what is taken out."""
    fields = {}
    for name in router["middlewares"]:
        middleware = http["middlewares"][name]
        if "forwardAuth" in middleware:
            break
        fields |= {key.lower(): value or None for key, value in middleware["headers"]["customRequestHeaders"].items()}
    return fields


@scenario
def the_file_for_traefik_asks_before_every_request_and_takes_out_what_it_must(_):
    http = read("traefik.yml")["http"]
    to_application = [router for router in http["routers"].values() if router["service"] == "application"]
    equal(len(to_application), 2)
    for router in to_application:
        equal(router["middlewares"][-1], "gatehouse")
        fields = traefik_fields(http, router)
        for name in [*IDENTITY, *(name.replace("-", other) for name in IDENTITY for other in "_."),
                     *(name.lower() for name in MISLEADING if name.lower() not in BY_TRAEFIK)]:
            true(name in fields and fields[name] is None, f"{name} of a client stays")
    asked = http["middlewares"]["gatehouse"]["forwardAuth"]
    equal((asked["trustForwardHeader"], asked.get("authResponseHeadersRegex")), (False, None))
    equal([name.lower() for name in asked["authResponseHeaders"]], IDENTITY)
    pages = http["routers"]["gatehouse-pages"]
    true("!PathPrefix(`/gatehouse/auth/`)" in pages["rule"], "questions of clients are passed on")
    with open(os.path.join(DOCS, "traefik.yml")) as file:
        true("aliasHeadersStrategy: delete" in file.read(), "other spellings of names are passed on")


@scenario
def the_file_for_traefik_lets_nothing_but_a_websocket_through(_):
    http = read("traefik.yml")["http"]
    for name, router in http["routers"].items():
        fields = traefik_fields(http, router)
        true("!Method(`CONNECT`)" in router["rule"] or "Method(`GET`)" in router["rule"], f"{name}: CONNECT")
        if "HeaderRegexp(`Upgrade`" in router["rule"]:
            pattern = re.search(r"HeaderRegexp\(`Upgrade`, `([^`]*)`\)", router["rule"])[1]
            for protocol in ("websocket", "WebSocket"):
                true(re.search(pattern, protocol), pattern)
            for protocol in ("h2c", "websocket, h2c", "h2c, websocket", "websocket2", "", "TLS/1.0"):
                true(not re.search(pattern, protocol), f"{pattern}: {protocol}")
            # Of several fields one may match and another not: all of them give way to one.
            equal((fields["upgrade"], fields["connection"]), ("websocket", "Upgrade"))
        else:
            equal((fields["upgrade"], fields["connection"]), (None, None), name)
    equal([router["priority"] for router in http["routers"].values()], [1, 2, 3])


@scenario
def the_file_for_traefik_has_routers_for_paths_alone(_):
    for name, router in read("traefik.yml")["http"]["routers"].items():
        true("PathRegexp(`^/`)" in router["rule"] or "PathPrefix(`/gatehouse/`)" in router["rule"], f"{name}: an opaque address")


@scenario
def the_file_for_envoy_asks_before_every_request_and_takes_out_what_it_must(_):
    manager = envoy_manager()
    host, = manager["route_config"]["virtual_hosts"]
    removed = host["request_headers_to_remove"]
    for name in [*(name.lower() for name in MISLEADING), *(name.replace("-", ".") for name in IDENTITY)]:
        true(name in removed, f"{name} of a client stays")
    for name in IDENTITY:
        true(name not in removed, f"{name} of Gatehouse is taken out")
    equal(manager["common_http_protocol_options"]["headers_with_underscores_action"], "DROP_HEADER")
    equal([each["name"] for each in manager["http_filters"]], ["envoy.filters.http.ext_authz", "envoy.filters.http.router"])
    equal(manager["http_filters"][0]["typed_config"]["failure_mode_allow"], False)
    unasked = [route["match"] for route in host["routes"] if "typed_per_filter_config" in route]
    equal(unasked, [{"path_separated_prefix": "/gatehouse/auth"}, {"prefix": "/gatehouse/"}])


@scenario
def the_file_for_envoy_lets_nothing_but_a_websocket_through(_):
    manager = envoy_manager()
    equal(manager["upgrade_configs"], [{"upgrade_type": "websocket"}])
    equal(manager["http_protocol_options"]["enable_trailers"], False)
    host, = manager["route_config"]["virtual_hosts"]
    for route in host["routes"]:
        true("connect_matcher" not in route["match"], "CONNECT is let through")
        true("upgrade_configs" not in route.get("route", {}), "a route lets more through")


@scenario
def the_question_that_the_page_asks_by_hand_is_answered_as_it_says(place):
    command, comment = commands("Trying it")[-1]
    answer = answers(command.replace("--cacert gatehouse-ca.pem", ""), place.gatehouse.authority, {"localhost:8443": f"localhost:{place.gatehouse.port}"})
    equal(f"{answer.status}", comment.strip().partition(":")[0], answer)


def envoy_manager():
    listener, = read("envoy.yaml")["static_resources"]["listeners"]
    chain, = listener["filter_chains"]
    only, = chain["filters"]
    return only["typed_config"]
