// SPDX-License-Identifier: Apache-2.0

import AccessControl
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdRealms
import Logging
import LoginConf
import OpenSSLKit
import RealmKit
import TLSTesting
import TestTools
import Testing

/// A reload replaces the whole configuration, or nothing.
@Suite struct ReloadTests {
    @Test func `a reload applies rules, roles and realms of the changed file to the routes`() async throws {
        let fixture = try await RealmsFixture(rules: "protect /old { auth basic; require any; }")
        let application = try fixture.application()
        let ruled = fixture.ruled()
        #expect(try await application.send(.get, "/edit", basic("ben")).text == "edit")
        #expect(try await application.send(.get, "/edit", basic("ann")).status == 403)
        #expect(try await ruled.send(.get, "/old", basic("ann")).text == "ann")
        #expect(try await ruled.send(.get, "/new", basic("ann")).status == 403)
        try fixture.rewrite(rules: "protect /new { auth basic; require any; }", ("user ben", "user ann"))
        try await fixture.realms.reload()
        #expect(try await application.send(.get, "/edit", basic("ben")).status == 403)
        #expect(try await application.send(.get, "/edit", basic("ann")).text == "edit")
        #expect(try await ruled.send(.get, "/old", basic("ann")).status == 403)
        #expect(try await ruled.send(.get, "/new", basic("ann")).text == "ann")
        #expect(fixture.realms.configuration.rules.map(\.path) == ["/new"])
        // The authenticator names no realm, so it uses those of the sign-in page.
        try fixture.rewrite(("default-realm people", "default-realm zoo"))
        try await fixture.realms.reload()
        #expect(try await application.send(.get, "/user", basic("ann")).status == 401)
        #expect(try await application.send(.get, "/user", basic("zed")).text == "zed")
    }

    @Test func `a reload with an error changes nothing`() async throws {
        let fixture = try await RealmsFixture(rules: "protect /old { auth form; require any; }")
        let application = try fixture.application()
        let router = Router(context: RealmsFixture.Context.self)
        router.add(middleware: try RealmAuthenticator(fixture.realms, in: ["zoo"]))
        router.get("/zoo") { _, context in try context.requireUser().username.text }
        let zoo = Application(router: router)
        let cookie = try await fixture.signIn("ann", at: application)
        let changes: [(old: String, new: String, error: String)] = [
            ("role editor {", "role editor", "realms.conf:6:"),
            ("role editor {", "role author {", "the role editor is missing, which a route of the program names"),
            ("realm zoo {", "realm garden {", "the realm zoo is missing, which a route of the program names"),
            ("realm people { class StoreRealm; }", "realm people { class StoreRealm; file users; }", "realms.conf:4:"),
            ("throttle {", "state elsewhere; throttle {", "the state folder cannot be changed while the program runs"),
        ]
        for (old, new, message) in changes {
            try fixture.rewrite((old, new), ("user ben", "user ann"))
            let errors = try await #require(throws: ConfigurationErrors.self) { try await fixture.realms.reload() }
            #expect(errors.logText.contains(message), "\(errors)")
            #expect(fixture.realms.configuration.rules.map(\.path) == ["/old"])
            #expect(try await application.send(.get, "/user", [.cookie: cookie]).text == "ann")
            #expect(try await application.send(.get, "/edit", [.cookie: cookie]).status == 403)
            #expect(try await fixture.ruled().send(.get, "/old", [.cookie: cookie]).text == "ann")
            #expect(try await zoo.send(.get, "/zoo", basic("zed")).text == "zed")
        }
        try fixture.rewrite(("user ben", "user ann"))
        try await fixture.realms.reload()
        #expect(try await application.send(.get, "/edit", [.cookie: cookie]).text == "edit")
    }

    @Test func `sessions of realms and users that are gone end with a reload, and others do not`() async throws {
        let fixture = try await RealmsFixture(server: "sign-in { realm people zoo; }")
        let application = try fixture.application()
        let ann = try await fixture.signIn("ann", at: application)
        let zed = try await fixture.signIn("zed", at: application)
        let zoe = try await fixture.signIn("zoe", at: application)
        try fixture.rewrite(server: "sign-in { realm people zoo; }", ("startWith z", "startWith zo"))
        try await fixture.realms.reload()
        for (cookie, isValid) in [(ann, true), (zed, false), (zoe, false)] {
            #expect((try await application.send(.get, "/user", [.cookie: cookie]).status == 200) == isValid)
        }
        let again = try await fixture.signIn("zoe", at: application)
        try fixture.rewrite(("realm zoo {", "realm garden {"))
        try await fixture.realms.reload()
        #expect(try await application.send(.get, "/user", [.cookie: again]).status == 401)
        #expect(try await application.send(.get, "/user", [.cookie: ann]).text == "ann")
    }

    @Test func `changes that need a restart are logged`() async throws {
        let log = Lines()
        let fixture = try await RealmsFixture(logger: log.logger(.info))
        try fixture.rewrite(server: "sign-in { time 2m; }", ("127.0.0.1:0", "127.0.0.1:1"), ("delay 0s", "delay 1s"))
        try await fixture.realms.reload()
        for name in ["listen", "throttle", "time or waiting of sign-in"] {
            #expect(log.text.contains("\(name) has changed; the change needs a restart"), "\(log.text)")
        }
        #expect(fixture.realms.address == .hostname("127.0.0.1", port: 0))
    }

    @Test func `SIGHUP reloads the realms of a served application, and errors are logged`() async throws {
        let log = Lines()
        let fixture = try await RealmsFixture(logger: log.logger(.info))
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let application = Application(
            router: try fixture.router(),
            server: try .openSSL(fixture.realms),
            configuration: .init(address: fixture.realms.address),
            services: [fixture.realms],
            onServerRunning: { channel in port.yield(channel.localAddress?.port ?? 0) },
            logger: Logger(label: "live") { _ in SwiftLogNoOpLogHandler() }
        )
        let serving = Task { try await fixture.realms.serve(application) }
        var found = ports.makeAsyncIterator()
        #expect(await found.next() != nil)
        try fixture.rewrite(("role editor {", "role editor"))
        kill(getpid(), SIGHUP)
        try await Waiting.until { log.text.contains("the configuration was not reloaded: ") }
        #expect(log.text.contains("realms.conf:6:"), "\(log.text)")
        #expect(!log.text.contains("the configuration was reloaded"))
        try fixture.rewrite(rules: "protect /new { auth basic; require any; }")
        kill(getpid(), SIGHUP)
        try await Waiting.until { log.text.contains("the configuration was reloaded") }
        #expect(fixture.realms.configuration.rules.map(\.path) == ["/new"])
        serving.cancel()
        _ = await serving.result
    }
}

/// Reloads of an application over TLS.
@Suite(.enabled(if: TestPKI.isPossible, "openssl is not installed"))
struct TLSReloadTests {
    @Test func `new connections get the new certificate, and open ones stay open`() async throws {
        let pki = try TestPKI.shared.get()
        let fixture = try await RealmsFixture()
        let pair = ["tls.pem", "tls.key"].map { fixture.folder.appending(path: $0) }
        let tls = "tls { certificate tls.pem; key tls.key; }"
        try await LiveServer.run(fixture, try fixture.router()) { server in
            let open = try await server.connect()
            #expect(try await open.request("GET /").hasPrefix("HTTP/1.1 200"))
            #expect(await open.read(until: "stranger") == "hello stranger")
            for (file, name) in zip(pair, ["server-chain.pem", "server.key"]) {
                try Data(pki.bytes(name)).write(to: file)
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            }
            try fixture.rewrite(server: tls)
            try await fixture.realms.reload()
            #expect(try await open.request("GET /").hasPrefix("HTTP/1.1 200"))
            // A client that trusts only the authority of the first certificate does not get an answer.
            #expect(((try? await server.connect().request("GET /")) ?? "") == "")
            let trusting = try TLSContext(.client(trusting: .authorities(pki.certificates("root"))))
            let new = try await LiveConnection(port: server.port, context: trusting)
            #expect(try await new.request("GET /").hasPrefix("HTTP/1.1 200"))
            // A file that cannot be used changes nothing.
            try Data().write(to: pair[1])
            await #expect(throws: ConfigurationErrors.self) { try await fixture.realms.reload() }
            let last = try await LiveConnection(port: server.port, context: trusting)
            #expect(try await last.request("GET /").hasPrefix("HTTP/1.1 200"))
            for connection in [open, new, last] { try await connection.close() }
        }
    }

    @Test func `with certificates of clients, open connections are closed by a reload`() async throws {
        let pki = try TestPKI.shared.get()
        let tls = "tls { client-certificates optional; client-ca \"\(pki.file("root.pem").path)\"; client-depth 2; }"
        let fixture = try await RealmsFixture(server: tls)
        try await LiveServer.run(fixture, try fixture.router()) { server in
            // The second reload ends with a configuration that requests no certificates.
            for settings in [tls, ""] {
                let open = try await server.connect(try pki.identity("client"))
                #expect(try await open.request("GET /").hasPrefix("HTTP/1.1 200"))
                try fixture.rewrite(server: settings)
                try await fixture.realms.reload()
                #expect(await open.read(until: "the connection stays open") == "hello stranger")
            }
        }
    }
}
