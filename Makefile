# SPDX-License-Identifier: Apache-2.0

CONFIG ?= realms.conf
CONFIGURATION ?= debug
SWIFT_FILES = Package.swift Sources Tests Examples Benchmarks
SWIFT_BUILD = Scripts/build.sh
# The Debian packages that a build needs, and those that the tests need in addition.
BUILD_PACKAGES = libssl-dev libargon2-dev libcrypt-dev libsqlite3-dev libldap-dev libpam0g-dev libpq-dev pkg-config
TEST_PACKAGES = curl git openssl python3 gcc libc6-dev postgresql sqlite3 slapd slapd-contrib ldap-utils samba-ad-dc samba-ad-provision \
	samba-dsdb-modules winbind
# The Debian packages that test-proxies, test-browser and test-openapi need.
PROXY_PACKAGES = nginx-light caddy haproxy python3-venv
# The Debian packages that bench-realms needs.
REALM_BENCH_PACKAGES = nginx-light libcurl4-openssl-dev slapd ldap-utils libldap-dev postgresql libpq-dev libssl-dev openssl python3
BROWSER_PACKAGES = chromium python3-venv
OPENAPI_PACKAGES = python3-venv
# The Debian packages that package and test-package need.
PACKAGE_PACKAGES = debhelper dpkg-dev lintian mandoc man-db systemd debootstrap curl python3

# The folders of `make install`. The programs look for their configuration in /etc/gatehouse.
PREFIX ?= /usr/local
DESTDIR ?=
UNITDIR ?= $(PREFIX)/lib/systemd/system
ZSH_COMPLETIONS ?= $(PREFIX)/share/zsh/site-functions
CONFIGURATION_FOLDER = /etc/gatehouse
STATE_FOLDER = /var/lib/gatehouse
# The programs that `make release` builds. They contain the Swift run-time library, and name their commit.
RELEASE_BUILD = .build-release
RELEASE_PROGRAMS = $(or $(PROGRAMS),$(RELEASE_BUILD)/release)

.PHONY: help help-all swift serve check test steady proofs test-grpc test-proxies test-browser test-openapi test-pam bench-forward-auth interop fuzz soak lint format bench bench-http bench-realms bench-growth bench-prove test-growth examples docs docs-check readme smoke scanners stalls flood outages timing durability release install uninstall manual package test-package test-container package-deps deps test-deps proxy-deps browser-deps openapi-deps clean

help:
	@echo "make serve       build, and serve https://localhost:8443/welcome with $(CONFIG)"
	@echo "make check       print the errors of $(CONFIG), or a summary of it"
	@echo "make test        run all tests"
	@echo "make lint        check formatting and comments, comparisons of client text, imports, and what docs say about tests, commands and statements"
	@echo "make format      format all Swift files"
	@echo "make examples    build and test the examples"
	@echo "make docs        build the reference of RealmKit, RealmTesting, AccessControl, HummingbirdRealms, NIORealms, RealmVerifier and GatehouseClient with DocC"
	@echo "make docs-check  run the commands of README.md and docs, and check the snippets"
	@echo "make install     install what make release has built, below DESTDIR and PREFIX ($(PREFIX)); make uninstall removes it"
	@echo "make package     build the Debian packages in dist"
	@echo "make help-all    list the other targets, too"

help-all: help
	@echo "make steady             run all tests RUNS times, every second time beside a busy program, and list those that ever failed"
	@echo "make proofs             compare proofs with the enumeration of all answers, for PROOFS stacks, a tenth as many configurations, and planted changes"
	@echo "make interop            check that Gatehouse verifies password hashes of other programs, and the other way round"
	@echo "make test-pam           compare the language of pam.d files with the libpam of this machine, for recorded and MUTATIONS generated files"
	@echo "make fuzz               fuzz all parsers, or PARSER, with libFuzzer, for SECONDS each"
	@echo "make soak               put SOAK connections through the TLS layer under the address and leak sanitizers"
	@echo "make bench              measure the engine and the parser, and those of the JDK if java is installed"
	@echo "make bench-http         compare the server with nginx, Apache httpd, Caddy and Tomcat, as far as they are installed"
	@echo "make bench-growth       measure how a decision grows with the number of rules, hosts, realms, groups, sessions and users"
	@echo "make bench-prove        measure the time and the memory of gatehouse prove"
	@echo "make test-growth        check in a debug build that these costs do not grow"
	@echo "make bench-realms       compare logins through each realm with a plain client that does the same"
	@echo "make readme             run the commands of README.md and of the page behind nginx, and print the time of each"
	@echo "make smoke              start the built server and sign in over TLS with curl"
	@echo "make scanners           scan the built server with testssl.sh and sslyze, if installed, and with our own checks"
	@echo "make test-proxies       test forward authentication with nginx, Caddy and HAProxy, as far as they are installed"
	@echo "make test-browser       sign in at the built server with Chromium"
	@echo "make test-openapi       check docs/openapi.yaml against the built server"
	@echo "make bench-forward-auth measure forward authentication of nginx, compared with an nginx that allows every request; OTHER=PROGRAM compares two builds"
	@echo "make stalls             test the deadlines of the built server with clients that stall, one at a time and 2,000 at once"
	@echo "make flood              guess passwords over 1,000 connections, and check that other users can still sign in"
	@echo "make outages            break the services behind realms in several ways, and compare the logins of another realm"
	@echo "make timing             measure whether the time of a rejection reveals its reason"
	@echo "make durability         kill the server and user commands at random moments, and check the data afterwards"
	@echo "make release            build the programs for an installation, with the Swift run-time library in them"
	@echo "make test-package       install, serve from and purge the Debian packages in a clean root of Debian 12 (as root)"
	@echo "make test-container     run the content of the container image in a root of its own (as root)"
	@echo "make manual             write the manual pages and the completions of shells from the commands"
	@echo "make deps               install the Debian packages that are missing for a build; test-deps, proxy-deps, browser-deps, openapi-deps, package-deps: for tests"
	@echo "make clean              remove what the build has made"

serve: deps
	$(SWIFT_BUILD) -c $(CONFIGURATION) --product gatehouse
	$(SWIFT_BUILD) -c $(CONFIGURATION) --product gatehouse-pam-helper
	exec "$$($(SWIFT_BUILD) -c $(CONFIGURATION) --show-bin-path)/gatehouse" serve --config $(CONFIG)

check: deps
	$(SWIFT_BUILD) -c $(CONFIGURATION) --product gatehouse
	"$$($(SWIFT_BUILD) -c $(CONFIGURATION) --show-bin-path)/gatehouse" check --config $(CONFIG)

# FILTER is a regular expression for the names of tests, such as RealmKitTests.StackTests/.
test: deps test-deps
	Scripts/test.py $(if $(FILTER),--filter '$(FILTER)')

# Every second run is beside a program that keeps a processor busy.
RUNS ?= 10
steady: deps test-deps
	Scripts/test.py --runs $(RUNS)

# 20,000 stacks, 2,000 pairs of configurations and 1,000 planted changes, in an optimized build: a stack of eight modules needs up to
# 65,536 logins. SEED is the first random number.
PROOFS ?= 20000
proofs: deps test-deps
	GATEHOUSE_PROOFS=$(PROOFS) $(if $(SEED),GATEHOUSE_PROOFS_SEED=$(SEED)) swift test -c release -Xswiftc -enable-testing \
		--scratch-path .build-proofs --no-parallel --filter ProverTests

# The tests of GRPCRealms, a package of their own, because the trait GRPC compiles all targets again. Examples/Adapters has the
# trait, too: its programs are those of three pages.
GRPC_BUILD = .build-grpc
test-grpc: deps
	$(SWIFT_BUILD) --build-tests --package-path Tests/GRPC --scratch-path $(GRPC_BUILD)
	swift test --skip-build --package-path Tests/GRPC --scratch-path $(GRPC_BUILD)
	$(SWIFT_BUILD) --package-path Examples/Adapters --scratch-path $(GRPC_BUILD)
	BUILD="$$($(SWIFT_BUILD) --package-path Tests/GRPC --scratch-path $(GRPC_BUILD) --show-bin-path)" Scripts/docs.sh RealmKit GRPCRealms

interop: deps
	Tests/Interop/passwords.sh

# FOLDERS has further folders as /etc/pam.d, such as those of Tests/Interop/pam-services.py.
MUTATIONS ?= 20000
test-pam: deps test-deps
	$(SWIFT_BUILD) --product conformance
	Tests/Interop/pam-compare.py "$$($(SWIFT_BUILD) --show-bin-path)/conformance" --mutations $(MUTATIONS) \
		--cases Tests/ConformanceTests/Cases/pam/parser-cases.txt $(FOLDERS)

# PARSER names some of the parsers in Tests/fuzz; UPDATE=1 writes new inputs into the corpus; with SEED, a run can be repeated.
SECONDS ?= 60
fuzz: deps
	Scripts/fuzz.py --seconds $(SECONDS) $(if $(SEED),--seed $(SEED)) $(if $(UPDATE),--update) $(PARSER)

# Full and resumed handshakes, aborts, invalid bytes, half-closes, key updates. 100,000 connections take ten minutes or more.
SOAK ?= 100000
soak: deps test-deps
	SWIFT_DETERMINISTIC_HASHING=1 GATEHOUSE_SOAK=$(SOAK) ASAN_OPTIONS=detect_leaks=1:quarantine_size_mb=8 \
		LSAN_OPTIONS=suppressions=$(CURDIR)/Scripts/leaks.supp swift test -c release -Xswiftc -enable-testing \
		--sanitize=address --scratch-path .build-soak --no-parallel --filter SoakTests

lint: swift
	swift format lint --strict --parallel --recursive $(SWIFT_FILES)
	find Scripts Tests Benchmarks -name '*.py' -not -path '*/.build/*' -exec \
		python3 -B -c 'import ast, sys; [ast.parse(open(path).read(), path) for path in sys.argv[1:]]' {} +
	Scripts/unchecked-text.py
	Scripts/comments.py
	Scripts/quoted-tests.py
	Scripts/documented.py
	Scripts/portable.py
	Scripts/declared-imports.py . Tests/GRPC Examples/Adapters Examples/CustomRealm Examples/Welcome Examples/Chat Examples/RemoteList Benchmarks

format: swift
	swift format format --in-place --parallel --recursive $(SWIFT_FILES)

bench: deps
	Scripts/bench.sh

bench-http:
	Scripts/bench-http.sh

# Fails if a cost that is flat has grown.
bench-growth: deps
	$(SWIFT_BUILD) -c release --product growth-benchmark
	"$$($(SWIFT_BUILD) -c release --show-bin-path)/growth-benchmark" --check

bench-prove: deps
	$(SWIFT_BUILD) -c release --product gatehouse
	Scripts/bench-prove.py "$$($(SWIFT_BUILD) -c release --show-bin-path)/gatehouse"

# The same with the build of the tests and fewer samples: the times are longer, the growth is the same.
test-growth: deps
	$(SWIFT_BUILD) --product growth-benchmark
	"$$($(SWIFT_BUILD) --show-bin-path)/growth-benchmark" --check --quick

# LANES names some lanes; all lanes by default.
bench-realms: deps
	@Scripts/install.sh $(REALM_BENCH_PACKAGES)
	Scripts/bench-realms.sh $(LANES)

# All examples share one build folder, because they share most dependencies.
EXAMPLES_BUILD = .build-examples
examples: deps
	for example in CustomRealm Welcome Chat RemoteList; do \
		$(SWIFT_BUILD) --build-tests --package-path Examples/$$example --scratch-path $(EXAMPLES_BUILD) && \
		swift test --skip-build --package-path Examples/$$example --scratch-path $(EXAMPLES_BUILD) || exit 1; \
	done

# PROGRAMS is a folder with programs that are built already: gatehouse, authcheck and gatehouse-pam-helper. PAGES names some pages; all by
# default. SWIFT=no does not build the packages of the pages.
docs-check:
	@[ -n "$(PROGRAMS)" ] || for product in gatehouse authcheck gatehouse-pam-helper; do $(SWIFT_BUILD) --product $$product || exit 1; done
	Tests/Docs/self_test.py "$(or $(PROGRAMS),$$($(SWIFT_BUILD) --show-bin-path))"
	Tests/Docs/docs_check.py --programs "$(or $(PROGRAMS),$$($(SWIFT_BUILD) --show-bin-path))" $(if $(filter no,$(SWIFT)),,--swift) $(PAGES)

# The reference of the libraries for realm authors and servers, by DocC, without warnings. That of GRPCRealms is made by test-grpc.
docs: deps
	Scripts/docs.sh

# The commands of README.md, and then those of the page behind nginx, with the time of each.
readme:
	@[ -n "$(PROGRAMS)" ] || for product in gatehouse authcheck; do $(SWIFT_BUILD) --product $$product || exit 1; done
	Tests/Docs/docs_check.py --programs "$(or $(PROGRAMS),$$($(SWIFT_BUILD) --show-bin-path))" --steps README.md docs/walkthrough-nginx.md

smoke: deps test-deps
	$(SWIFT_BUILD) --product gatehouse
	$(SWIFT_BUILD) --product authcheck
	Scripts/smoke.sh "$$($(SWIFT_BUILD) --show-bin-path)"

# GATEHOUSE is the path of a binary that is built already; without it the release build is used.
scanners:
	@[ -n "$(GATEHOUSE)" ] || $(SWIFT_BUILD) -c release --product gatehouse
	Tests/Scanners/run.sh "$(or $(GATEHOUSE),$$($(SWIFT_BUILD) -c release --show-bin-path)/gatehouse)"

test-proxies:
	@[ -n "$(GATEHOUSE)" ] || $(SWIFT_BUILD) -c release --product gatehouse
	Tests/Proxies/run.sh "$(or $(GATEHOUSE),$$($(SWIFT_BUILD) -c release --show-bin-path)/gatehouse)"

test-browser:
	@[ -n "$(GATEHOUSE)" ] || $(SWIFT_BUILD) -c release --product gatehouse
	Tests/Browser/run.sh "$(or $(GATEHOUSE),$$($(SWIFT_BUILD) -c release --show-bin-path)/gatehouse)"

test-openapi:
	@[ -n "$(GATEHOUSE)" ] || $(SWIFT_BUILD) -c release --product gatehouse
	Tests/OpenAPI/run.sh "$(or $(GATEHOUSE),$$($(SWIFT_BUILD) -c release --show-bin-path)/gatehouse)"

bench-forward-auth:
	@[ -n "$(GATEHOUSE)" ] || $(SWIFT_BUILD) -c release --product gatehouse
	Scripts/bench-forward-auth.sh "$(or $(GATEHOUSE),$$($(SWIFT_BUILD) -c release --show-bin-path)/gatehouse)" $(OTHER)

stalls:
	@[ -n "$(GATEHOUSE)" ] || $(SWIFT_BUILD) -c release --product gatehouse
	Tests/Stalls/stalls.py "$(or $(GATEHOUSE),$$($(SWIFT_BUILD) -c release --show-bin-path)/gatehouse)"

# GATEHOUSE_PREFER=1 (as root) gives the server and the clients of flood and timing priority over other processes.
flood: deps
	@[ -n "$(GATEHOUSE)" ] || $(SWIFT_BUILD) -c release --product gatehouse
	Tests/Flood/flood.py "$(or $(GATEHOUSE),$$($(SWIFT_BUILD) -c release --show-bin-path)/gatehouse)"

outages:
	@[ -n "$(GATEHOUSE)" ] || $(SWIFT_BUILD) -c release --product gatehouse
	Tests/Outages/outages.py "$(or $(GATEHOUSE),$$($(SWIFT_BUILD) -c release --show-bin-path)/gatehouse)"
	Tests/Outages/failover.py "$(or $(GATEHOUSE),$$($(SWIFT_BUILD) -c release --show-bin-path)/gatehouse)"

timing:
	@[ -n "$(GATEHOUSE)" ] || $(SWIFT_BUILD) -c release --product gatehouse
	Tests/Timing/timing.py "$(or $(GATEHOUSE),$$($(SWIFT_BUILD) -c release --show-bin-path)/gatehouse)"

# FILEWRITER is the path of a binary with the arguments of Tests/filewriter.
durability:
	@[ -n "$(FILEWRITER)" ] || $(SWIFT_BUILD) --product filewriter
	@[ -n "$(GATEHOUSE)" ] || $(SWIFT_BUILD) -c release --product gatehouse
	for form in "glassfish -" "htpasswd {group_file}"; do set -- $$form; \
		Tests/Durability/kill_file_writers.py --form $$1 --rounds $(or $(ROUNDS),200) --add \
		"$(or $(FILEWRITER),$$($(SWIFT_BUILD) --show-bin-path)/filewriter) {file} $$2 add {name} {groups}" || exit 1; done
	Tests/Durability/kill_user_commands.py --kills $(or $(KILLS),200) \
		"$(or $(GATEHOUSE),$$($(SWIFT_BUILD) -c release --show-bin-path)/gatehouse)"

# The commit is known only in a clone of the repository.
release: export GATEHOUSE_COMMIT ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null)
release: deps
	Scripts/release.sh $(RELEASE_BUILD)

install:
	@[ -x $(RELEASE_PROGRAMS)/gatehouse ] || { echo "$(RELEASE_PROGRAMS) has no programs: run make release first" >&2; exit 1; }
	Scripts/install-files.sh "$(RELEASE_PROGRAMS)" "$(DESTDIR)" "$(PREFIX)" "$(UNITDIR)" "$(ZSH_COMPLETIONS)" \
		"$(CONFIGURATION_FOLDER)" "$(STATE_FOLDER)"

uninstall:
	Scripts/install-files.sh --remove "$(DESTDIR)" "$(PREFIX)" "$(UNITDIR)" "$(ZSH_COMPLETIONS)"

package: release
	@Scripts/install.sh debhelper dpkg-dev
	Scripts/package.sh $(RELEASE_PROGRAMS) $(RELEASE_BUILD)/checkouts

# PACKAGES is a folder with packages that are built already.
test-package: package-deps
	@[ -n "$(PACKAGES)" ] || $(MAKE) package
	Tests/Packaging/test-package.sh "$(or $(PACKAGES),dist)"

# Runs what the image of packaging/container holds in a root of its own, without an engine for containers (as root).
test-container:
	@[ -x $(RELEASE_PROGRAMS)/gatehouse ] || $(MAKE) release
	Tests/Packaging/test-container.sh $(RELEASE_PROGRAMS)

manual:
	$(SWIFT_BUILD) --product gatehouse
	$(SWIFT_BUILD) --product authcheck
	Scripts/manual.py "$$($(SWIFT_BUILD) --show-bin-path)"

package-deps:
	@Scripts/install.sh $(PACKAGE_PACKAGES)

deps: swift
	@Scripts/install.sh $(BUILD_PACKAGES)

# Debian has no package of Swift 6.3.
swift:
	@command -v swift >/dev/null || \
		{ echo "swift is not in the PATH: https://www.swift.org/install/linux has Swift 6.3 for this system" >&2; exit 1; }

test-deps:
	@Scripts/install.sh $(TEST_PACKAGES)

proxy-deps:
	@Scripts/install.sh $(PROXY_PACKAGES)

browser-deps:
	@Scripts/install.sh $(BROWSER_PACKAGES)

openapi-deps:
	@Scripts/install.sh $(OPENAPI_PACKAGES)

clean:
	rm -rf .build .build-* dist Examples/*/.build Benchmarks/.build
