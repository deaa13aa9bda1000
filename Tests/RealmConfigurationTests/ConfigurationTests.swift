// SPDX-License-Identifier: Apache-2.0

import AccessControl
import LoginConf
import RealmConfiguration
import RealmKit
import RealmTesting
import Testing

struct ConfigurationTests {
    private func login(
        _ configuration: Configuration,
        _ realm: String,
        _ user: String
    ) async throws -> LoginReport {
        let request = LoginRequest(realm: realm, username: try Username(user))
        return try await configuration.authenticator.login(request, asking: PreparedConversation.silent)
    }

    @Test func `all parts of a realms.conf are read`() async throws {
        let folder = MemoryFolder(
            """
            default-realm xtech;
            login-config login.conf;
            login local { PermitLoginModule required groups="a, b"; }
            realm xtech {
                class StartWithRealm;
                startWith q;
                assign-groups Staff Visitors;
                group-mapping "Staff->Everybody" User->Person;
            }
            realm local { class StackRealm; jaas-context local; }
            server {
                listen 127.0.0.1:8443 [::1]:8444;
                listen *:0;
                state state;
                tls { certificate tls/cert.pem; key /etc/key.pem; minimum-version 1.3; client-certificates none; }
                trusted-proxies none;
            }
            protect /welcome/ { require group User Staff; require user ann; }
            protect / { realm local; auth basic; require any; }
            """,
            ["etc/login.conf": "xtechMyRealm { org.xtech.examples.gfloginmodule.MyLoginModule required; };\n"]
        )
        let configuration = try folder.load()
        #expect(configuration.file == "etc/realms.conf")
        #expect(configuration.defaultRealm == "xtech")
        #expect(configuration.realms.map(\.name) == ["xtech", "local"])
        #expect(configuration.realms.map(\.className) == ["StartWithRealm", "StackRealm"])
        #expect(configuration.warnings == [])
        let contexts = configuration.contexts.map { context in
            let modules = context.modules.map { "\($0.name) \($0.flag.rawValue)" }
            return "\(context.name) \(context.place) \(modules) \(context.realms)"
        }
        #expect(
            contexts == [
                "xtechMyRealm etc/login.conf:1:1 [\"org.xtech.examples.gfloginmodule.MyLoginModule required\"] [\"xtech\"]",
                "local etc/realms.conf:3:7 [\"PermitLoginModule required\"] [\"local\"]",
            ]
        )
        let server = configuration.server
        #expect(server.listen.map(\.value.description) == ["127.0.0.1:8443", "[::1]:8444", "0.0.0.0:0"])
        #expect(server.stateFolder.value == "etc/state")
        #expect(server.tls.files?.certificate.value == "etc/tls/cert.pem")
        #expect(server.tls.files?.key.value == "/etc/key.pem")
        #expect(server.tls.minimumVersion == .tls13)
        #expect(
            configuration.rules == [
                ProtectRule(
                    path: "/welcome",
                    realms: ["xtech"],
                    schemes: [.basic],
                    requirements: [.groups(["User", "Staff"]), .users(["ann"])]
                ).at("etc/realms.conf:18:9"),
                ProtectRule(path: "/", realms: ["local"], schemes: [.basic], requirements: [.any])
                    .at("etc/realms.conf:19:9"),
            ]
        )
        let quentin = try #require(try await login(configuration, "xtech", "quentin").identity)
        #expect(quentin.groups == ["User", "Staff", "Visitors"] + ["Everybody", "Person"])
        #expect(try await login(configuration, "xtech", "zed").refusal?.failure == .wrongCredentials)
        #expect(try await login(configuration, "local", "ann").identity?.groups == ["a", "b"])
    }

    @Test func `the only realm is the default, and of several realms none is`() throws {
        let realm = "login xtechMyRealm { StartWithLoginModule required; } realm xtech { class StartWithRealm; }"
        #expect(try MemoryFolder(realm).load().defaultRealm == "xtech")
        #expect(try MemoryFolder("\(realm) protect /a { require any; }").load().rules[0].realms == ["xtech"])
        #expect(try MemoryFolder("\(realm) realm zoo { class StartWithRealm; }").load().defaultRealm == nil)
    }

    @Test func `settings that are not set have their defaults`() throws {
        let configuration = try MemoryFolder("").load()
        #expect(configuration.realms.isEmpty && configuration.rules.isEmpty && configuration.contexts.isEmpty)
        #expect(configuration.defaultRealm == nil)
        #expect(configuration.server.listen.map(\.value.description) == ["127.0.0.1:8443"])
        #expect(configuration.server.stateFolder.value == "etc/var")
        #expect(configuration.server.tls.files == nil)
        #expect(configuration.server.tls.minimumVersion == .tls12)
    }

    @Test(arguments: [
        ("realms.conf", "x"), ("/realms.conf", "/x"), ("a/b/realms.conf", "a/b/x"), ("/a/realms.conf", "/a/x"),
    ])
    func `a path is relative to the file that contains it`(file: String, path: String) throws {
        var folder = MemoryFolder("")
        folder.files[file] = Array("server { state x; }".utf8)
        #expect(try folder.load(file).server.stateFolder.value == path)
    }

    @Test func `a rule without a realm uses the default realm, also if default-realm follows the rule`() throws {
        let text =
            "protect /a { require any; }\nrealm s { class StackRealm; jaas-context c; }\n"
            + "login c { DenyLoginModule required; }\ndefault-realm s;"
        #expect(try MemoryFolder(text).load().rules.map(\.realms) == [["s"]])
    }

    @Test func `the login context other is used if a realm's context is missing`() async throws {
        let text = "login other { PermitLoginModule required groups=fallback; }\nrealm xtech { class StartWithRealm; }"
        let configuration = try MemoryFolder(text).load()
        #expect(try await login(configuration, "xtech", "ann").identity?.groups == ["fallback"])
        #expect(configuration.contexts.map(\.realms) == [["xtech"]])
    }

    @Test func `two realms with the same login context have separate stacks`() async throws {
        let text = """
            login xtechMyRealm { StartWithLoginModule required; }
            realm z { class StartWithRealm; }
            realm a { class StartWithRealm; startWith a; }
            """
        let configuration = try MemoryFolder(text).load()
        #expect(configuration.realms[0].stack !== configuration.realms[1].stack)
        #expect(configuration.contexts.map(\.realms) == [["z", "a"]])
        for (realm, user, isAccepted) in [
            ("z", "zed", true), ("z", "ann", false), ("a", "ann", true), ("a", "zed", false),
        ] {
            #expect(try await (login(configuration, realm, user).identity != nil) == isAccepted)
        }
    }

    @Test func `context names are compared byte by byte`() async throws {
        let text =
            "login \"caf\u{E9}\" { PermitLoginModule required groups=one; }\n"
            + "login \"cafe\u{301}\" { PermitLoginModule required groups=two; }\n"
            + "realm s { class StackRealm; jaas-context \"cafe\u{301}\"; }"
        #expect(try await login(try MemoryFolder(text).load(), "s", "ann").identity?.groups == ["two"])
    }

    @Test func `the option deadline limits the time of a module`() async throws {
        let text =
            "login c { ScriptedLoginModule required login=never deadline=\"5s\"; }\n"
            + "realm s { class StackRealm; jaas-context c; }"
        let clock = ManualClock()
        let configuration = try MemoryFolder(text).load(clock: clock)
        let task = Task { try await login(configuration, "s", "ann") }
        await clock.untilAsleep()
        clock.advance(by: .seconds(5))
        let report = try await task.value
        #expect(report.steps[0].fault?.log == "the module did not answer within 5.0 seconds")
    }

    @Test func `a world-writable file gets a warning`() throws {
        var folder = MemoryFolder("login-config a.conf;", ["etc/a.conf": ""])
        folder.writable = ["etc/realms.conf", "etc/a.conf"]
        #expect(
            folder.diagnostics() == [
                "etc/realms.conf:1:1: warning: etc/realms.conf: every user of this machine may write to it | chmod o-w etc/realms.conf",
                "etc/realms.conf:1:14: warning: etc/a.conf: every user of this machine may write to it | chmod o-w etc/a.conf",
            ]
        )
    }

    @Test func `a missing configuration is reported with a hint`() {
        var folder = MemoryFolder("")
        folder.files = [:]
        #expect(
            folder.diagnostics() == [
                "etc/realms.conf:1:1: error: the configuration cannot be read: No such file or directory"
                    + " | name another file with --config FILE"
            ]
        )
    }

    @Test func `a login in an unknown realm throws an error; no other realm is used`() async throws {
        let text =
            "default-realm s;\nrealm s { class StackRealm; jaas-context c; }\nlogin c { PermitLoginModule required; }"
        let configuration = try MemoryFolder(text).load()
        await #expect(throws: RealmError.noSuchRealm("S", known: [])) { try await login(configuration, "S", "ann") }
        await #expect(throws: RealmError.noSuchRealm("", known: [])) { try await login(configuration, "", "ann") }
    }

    @Test func `all settings of tls are read`() throws {
        let configuration = try MemoryFolder(
            """
            server {
                tls {
                    certificate a.pem; key a.key; ocsp-response a.der;
                    ciphers ECDHE-A ECDHE-B; ciphersuites TLS_A; groups X25519 P-256;
                    session-tickets on; ticket-key new.key; ticket-key /old.key;
                    client-certificates optional; client-ca ca.pem; client-crl a.crl; client-crl b.crl; client-depth 0;
                    host Example.ORG. *.example.org { certificate b.pem; key b.key; ocsp-response b.der; }
                    host example.net { certificate c.pem; key c.key; }
                }
            }
            """
        ).load()
        let tls = configuration.server.tls
        #expect(tls.files?.certificate.value == "etc/a.pem" && tls.files?.key.value == "etc/a.key")
        #expect(tls.files?.ocspResponse?.value == "etc/a.der")
        #expect(tls.ciphers?.map(\.value) == ["ECDHE-A", "ECDHE-B"])
        #expect(tls.ciphersuites?.map(\.value) == ["TLS_A"])
        #expect(tls.groups?.map(\.value) == ["X25519", "P-256"])
        #expect(tls.sessionTickets)
        #expect(tls.ticketKeyFiles.map(\.value) == ["etc/new.key", "/old.key"])
        #expect(tls.clientCertificates == .optional && tls.clientDepth == 0)
        #expect(tls.clientAuthorityFile?.value == "etc/ca.pem")
        #expect(tls.clientRevocationFiles.map(\.value) == ["etc/a.crl", "etc/b.crl"])
        #expect(tls.hosts.map { $0.names.map(\.value) } == [["example.org", "*.example.org"], ["example.net"]])
        #expect(tls.hosts.map(\.files.certificate.value) == ["etc/b.pem", "etc/c.pem"])
        #expect(tls.hosts.map { $0.files.ocspResponse?.value } == ["etc/b.der", nil])
    }

    @Test func `tls settings that are not set have their defaults`() throws {
        let tls = try MemoryFolder("").load().server.tls
        #expect(tls.files == nil && tls.hosts.isEmpty)
        #expect(tls.minimumVersion == .tls12 && tls.ciphers == nil && tls.ciphersuites == nil && tls.groups == nil)
        #expect(tls.sessionTickets && tls.ticketKeyFiles.isEmpty)
        #expect(tls.clientCertificates == .none && tls.clientAuthorityFile == nil && tls.clientDepth == 1)
    }

    @Test func `errors of a configuration end a server with status 3, and its lines are not in the log`() async throws {
        let result = await #expect(processExitsWith: .exitCode(3), observing: [\.standardErrorContent]) {
            do throws(ConfigurationErrors) {
                _ = try MemoryFolder("realm a { }").load()
            } catch {
                error.exit()
            }
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        let line = "etc/realms.conf:1:7: error: realm a has no class; hint: as in: class StartWithRealm;\n"
        #expect(text.contains(line) && !text.contains("realm a { }"), "\(text)")
    }
}
