// SPDX-License-Identifier: Apache-2.0

#if LDAP
import DirectoryTesting
import Foundation
import RealmKit
import RealmTesting
import Synchronization
import TLSTesting

@testable import RealmLDAP

/// The log entries of a realm.
final class LogEntries: Sendable {
    private let lines = Mutex<[String]>([])

    var log: RealmLog { RealmLog { [self] level, text in lines.withLock { $0.append("\(level): \(text)") } } }
    var all: [String] { lines.withLock { $0 } }

    func contains(_ text: String) -> Bool { all.contains { $0.contains(text) } }
}

/// Realms for servers of DirectoryTesting.
enum LDAPSetup {
    static var pki: TestPKI { get throws { try TestPKI.shared.get() } }

    /// The properties of a realm for the users of a server.
    static func properties(_ url: String, _ changes: [String: [String]?] = [:]) throws -> [String: [String]] {
        var words: [String: [String]] = [
            "directory": [url], "base-dn": [SlapdServer.base], "search-bind-dn": [SlapdServer.service.name],
            "search-bind-password": [SlapdServer.service.password], "group-base-dn": [SlapdServer.groups],
            "group-search-filter": ["member=%d"], "ca-file": [try pki.file("root.pem").path],
            // A busy machine is no outage.
            "timeout": ["120s"], "connect-timeout": ["60s"], "bind-timeout": ["60s"], "search-timeout": ["60s"],
        ]
        // Without searches for groups, their filter is an error.
        let searches =
            [nil, ["search"]].contains(changes["group-source"] ?? nil) || changes["nested-groups"] == ["true"]
        if !searches { words["group-search-filter"] = nil }
        for (name, value) in changes { words[name] = value }
        return words
    }

    static func realm(_ words: [String: [String]], log: LogEntries = LogEntries()) throws -> LDAPRealm {
        var services = RealmServices()
        services[RealmLog.self] = log.log
        return try realm(words, services: services)
    }

    static func realm(_ words: [String: [String]], services: RealmServices) throws -> LDAPRealm {
        var values: [String: PropertyValue] = [:]
        for (name, words) in words {
            values[name] = try PropertyValue(words, as: LDAPRealm.properties[name]?.kind ?? .list)
        }
        return try LDAPRealm(
            RealmProperties(values, schema: LDAPRealm.properties, realmName: "people", services: services)
        )
    }

    static func realm(
        _ server: SlapdServer,
        _ changes: [String: [String]?] = [:],
        log: LogEntries = LogEntries()
    ) throws -> LDAPRealm {
        try realm(try properties(server.tlsURL, changes), log: log)
    }
}

extension LDAPSetup {
    /// A realm of one connection for servers that have no user but `ann`, and no groups; each step has a time limit.
    static func realm(
        _ servers: [FakeDirectory],
        limit: String,
        _ changes: [String: [String]?],
        log: LogEntries
    ) throws -> LDAPRealm {
        var words: [String: [String]] = [
            "directory": servers.map(\.url), "base-dn": ["dc=example,dc=org"],
            "search-bind-dn": ["cn=service,dc=example,dc=org"], "search-bind-password": ["service"],
            "group-source": ["none"], "check-interval": ["1h"], "pool-size": ["1"], "connect-timeout": [limit],
            "bind-timeout": [limit], "search-timeout": [limit],
        ]
        for (name, value) in changes { words[name] = value }
        return try realm(words, log: log)
    }

    /// The time limits of a realm whose server fails: longer than the deadline of a module.
    static var limitsDuringFaults: [String: [String]?] {
        ["timeout": ["20s"], "connect-timeout": ["10s"], "search-timeout": ["10s"], "bind-timeout": ["10s"]]
    }
}

extension DirectoryServer {
    /// The faults of the server for the conformance test of back ends.
    var faults: [BackEndFault] {
        [
            BackEndFault("the server is stopped", causes: ["refused"]) {
                await stop()
            } end: {
                try await start()
            },
            BackEndFault("the server hangs", hangs: true, causes: ["did not answer within", "no answer in"]) {
                suspend()
            } end: {
                resume()
            },
        ]
    }
}

extension LDAPRealm {
    func module(_ options: [String: PropertyValue] = [:]) throws -> LDAPLoginModule {
        try LDAPLoginModule(
            realm: self,
            options: ModuleOptions(options, schema: LDAPLoginModule.options, realmName: "people")
        )
    }

    /// Signs in with a stack of this realm's module, and of another one after it.
    func login(
        _ name: String,
        asking conversation: any Conversation,
        mayGrant: Bool = true,
        then other: ScriptedModule? = nil
    ) async throws -> LoginReport {
        let modules: [any LoginModule] = [try module()] + (other.map { [$0] } ?? [])
        let stack = LoginStack(
            name: "people",
            modules.map { LoginStack.Entry($0, .required) },
            clock: ManualClock()
        )
        let request = LoginRequest(realm: "people", username: try Username(name))
        return await stack.login(request, asking: conversation, mayGrant: mayGrant)
    }

    func login(_ name: String, _ password: Secret) async throws -> LoginReport {
        try await login(name, asking: PreparedConversation(name: name, password: password))
    }

    func login(_ name: String, _ password: String) async throws -> LoginReport {
        try await login(name, Secret(utf8: password))
    }

    func login(_ person: Person) async throws -> LoginReport { try await login(person.uid, person.password) }
}

extension LoginReport {
    /// The failure of a refused login; nil if it was accepted.
    var failure: LoginFailure? { steps.compactMap(\.outcome.failure).first }

    /// The texts of the notes.
    var noteTexts: [String] { notes.map(\.text) }
}
#endif
