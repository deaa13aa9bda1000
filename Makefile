# SPDX-License-Identifier: Apache-2.0
# Gatehouse

CONFIG ?= realms.conf
CONFIGURATION ?= debug
SWIFT_FILES = Package.swift Sources Tests Examples Benchmarks
# What a build needs, and what the tests need besides, as Debian packages.
BUILD_PACKAGES = libssl-dev libargon2-dev libcrypt-dev libsqlite3-dev pkg-config
TEST_PACKAGES = curl openssl
# What is put before the server in test-proxies, and what signs in at it in test-browser.
PROXY_PACKAGES = nginx-light caddy haproxy python3-venv
BROWSER_PACKAGES = chromium python3-venv

.PHONY: help serve check test test-proxies test-browser bench-forward-auth asvs interop soak lint format bench bench-http examples smoke scanners stalls flood timing durability deps test-deps proxy-deps browser-deps clean

help:
	@echo "make serve     build, and serve https://localhost:8443/welcome with $(CONFIG)"
	@echo "make check     print the errors of $(CONFIG), or a summary of it"
	@echo "make test      run all tests"
	@echo "make interop   check passwords hashed by other programs with ours, and the other way round"
	@echo "make soak      put SOAK connections through the TLS layer under the address and leak sanitizers"
	@echo "make lint      check format, documentation comments, that text of clients is compared as bytes, and that targets declare what they import"
	@echo "make asvs      check that every test that docs/asvs.md names exists"
	@echo "make format    format all Swift files"
	@echo "make bench     measure the engine and the parser, beside the JDK if java is there"
	@echo "make bench-http  measure the server beside nginx, Apache httpd, Caddy and Tomcat, those that are installed"
	@echo "make examples  build and test the examples"
	@echo "make smoke     start the built server and sign in over TLS with curl"
	@echo "make scanners  scan the built server with testssl.sh and sslyze, if installed, and with checks of our own"
	@echo "make test-proxies  test forward authentication with nginx, Caddy and HAProxy, those that are installed"
	@echo "make test-browser  sign in at the built server with Chromium"
	@echo "make bench-forward-auth  measure forward authentication of nginx, compared with an nginx that allows every request"
	@echo "make stalls    stall at every point of connections to the built server, one at a time and 2,000 at once"
	@echo "make flood     guess passwords over 1,000 connections, and check that all other users are served as before"
	@echo "make timing    measure whether the time of a rejection reveals its reason"
	@echo "make durability  kill programs that change users, and the server, at random moments, and check the data that is left"
	@echo "make deps      install the Debian packages that are missing"

serve: deps
	swift build -c $(CONFIGURATION) --product gatehouse
	exec "$$(swift build -c $(CONFIGURATION) --show-bin-path)/gatehouse" serve --config $(CONFIG)

check: deps
	swift build -c $(CONFIGURATION) --product gatehouse
	"$$(swift build -c $(CONFIGURATION) --show-bin-path)/gatehouse" check --config $(CONFIG)

# One test after the other: many start programs and wait for them, and on a small machine those that measure patience in real time
# would be starved by them.
test: deps test-deps
	Scripts/test.sh --no-parallel

interop: deps
	Tests/Interop/passwords.sh

# Takes ten minutes or more for 100,000: complete handshakes, resumed ones, aborts, garbage, half-closes, key updates.
SOAK ?= 100000
soak: deps test-deps
	GATEHOUSE_SOAK=$(SOAK) ASAN_OPTIONS=detect_leaks=1:quarantine_size_mb=8 \
		LSAN_OPTIONS=suppressions=$(CURDIR)/Scripts/leaks.supp swift test -c release -Xswiftc -enable-testing \
		--sanitize=address --scratch-path .build-soak --no-parallel --filter SoakTests

lint:
	swift format lint --strict --parallel --recursive $(SWIFT_FILES)
	Scripts/unchecked-text.py
	Scripts/declared-imports.py . Examples/CustomRealm Examples/Welcome Examples/Chat Benchmarks

asvs:
	Scripts/asvs-tests.py

format:
	swift format format --in-place --parallel --recursive $(SWIFT_FILES)

bench: deps
	Scripts/bench.sh

bench-http:
	Scripts/bench-http.sh

# One folder for all of them, as most of what is built is the same.
EXAMPLES_BUILD = .build-examples
examples: deps
	for example in CustomRealm Welcome Chat; do \
		swift build --build-tests --package-path Examples/$$example --scratch-path $(EXAMPLES_BUILD) && \
		swift test --package-path Examples/$$example --scratch-path $(EXAMPLES_BUILD) || exit 1; \
	done

smoke: deps test-deps
	swift build --product gatehouse
	swift build --product authcheck
	Scripts/smoke.sh "$$(swift build --show-bin-path)"

# GATEHOUSE names a program that is built already.
scanners:
	@[ -n "$(GATEHOUSE)" ] || swift build -c release --product gatehouse
	Tests/Scanners/run.sh "$(or $(GATEHOUSE),$$(swift build -c release --show-bin-path)/gatehouse)"

test-proxies:
	@[ -n "$(GATEHOUSE)" ] || swift build -c release --product gatehouse
	Tests/Proxies/run.sh "$(or $(GATEHOUSE),$$(swift build -c release --show-bin-path)/gatehouse)"

test-browser:
	@[ -n "$(GATEHOUSE)" ] || swift build -c release --product gatehouse
	Tests/Browser/run.sh "$(or $(GATEHOUSE),$$(swift build -c release --show-bin-path)/gatehouse)"

bench-forward-auth:
	@[ -n "$(GATEHOUSE)" ] || swift build -c release --product gatehouse
	Scripts/bench-forward-auth.sh "$(or $(GATEHOUSE),$$(swift build -c release --show-bin-path)/gatehouse)"

stalls:
	@[ -n "$(GATEHOUSE)" ] || swift build -c release --product gatehouse
	Tests/Stalls/stalls.py "$(or $(GATEHOUSE),$$(swift build -c release --show-bin-path)/gatehouse)"

# GATEHOUSE_PREFER=1, for root: other work of the machine counts less in both.
flood: deps
	@[ -n "$(GATEHOUSE)" ] || swift build -c release --product gatehouse
	Tests/Flood/flood.py "$(or $(GATEHOUSE),$$(swift build -c release --show-bin-path)/gatehouse)"

timing:
	@[ -n "$(GATEHOUSE)" ] || swift build -c release --product gatehouse
	Tests/Timing/timing.py "$(or $(GATEHOUSE),$$(swift build -c release --show-bin-path)/gatehouse)"

# FILEWRITER is the path of a program with the arguments of Tests/Durability/filewriter.
durability:
	@[ -n "$(FILEWRITER)" ] || swift build --product filewriter
	@[ -n "$(GATEHOUSE)" ] || swift build -c release --product gatehouse
	for form in "glassfish -" "htpasswd {group_file}"; do set -- $$form; \
		Tests/Durability/kill_file_writers.py --form $$1 --rounds $(or $(ROUNDS),200) --add \
		"$(or $(FILEWRITER),$$(swift build --show-bin-path)/filewriter) {file} $$2 add {name} {groups}" || exit 1; done
	Tests/Durability/kill_user_commands.py --kills $(or $(KILLS),200) \
		"$(or $(GATEHOUSE),$$(swift build -c release --show-bin-path)/gatehouse)"

deps:
	@Scripts/install.sh $(BUILD_PACKAGES)

test-deps:
	@Scripts/install.sh $(TEST_PACKAGES)

proxy-deps:
	@Scripts/install.sh $(PROXY_PACKAGES)

browser-deps:
	@Scripts/install.sh $(BROWSER_PACKAGES)

clean:
	rm -rf .build .build-* Examples/*/.build Benchmarks/.build
