// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPSTesting
import OpenSSLKit
import RealmKit
import RealmTesting
import Synchronization
import TLSTesting

@testable import RealmRemote

/// The log entries of a realm.
final class LogEntries: Sendable {
    private let lines = Mutex<[String]>([])

    var log: RealmLog { RealmLog { [self] level, text in lines.withLock { $0.append("\(level): \(text)") } } }
    var all: [String] { lines.withLock { $0 } }

    func contains(_ text: String) -> Bool { all.contains { $0.contains(text) } }
}

/// A service and a realm that asks it.
struct RemoteSetup {
    let service: TestService
    let log = LogEntries()

    static var pki: TestPKI { get throws { try TestPKI.shared.get() } }

    /// Runs `body` with a service.
    static func run<Result>(
        certificate: String = "server",
        onAccept: [TestService.Step] = [],
        respond: @escaping @Sendable (TestService.Received) -> [TestService.Step],
        _ body: (RemoteSetup) async throws -> Result
    ) async throws -> Result {
        let service = try await TestService(
            tls: .server(pki.identity(certificate)),
            onAccept: onAccept,
            respond: respond
        )
        do {
            let result = try await body(RemoteSetup(service: service))
            try await service.stop()
            return result
        } catch {
            try await service.stop()
            throw error
        }
    }

    /// The properties of a realm that asks the service.
    func properties(_ changes: [String: [String]?] = [:]) throws -> [String: [String]] {
        var words: [String: [String]] = [
            "url": ["https://localhost:\(service.port)/login"], "ca-file": [try Self.pki.file("root.pem").path],
            "timeout": ["60s"], "connect-timeout": ["60s"],
        ]
        for (name, value) in changes { words[name] = value }
        return words
    }

    func realm(_ changes: [String: [String]?] = [:]) throws -> RemoteRealm {
        try Self.realm(try properties(changes), log: log)
    }

    static func realm(_ words: [String: [String]], log: LogEntries = LogEntries()) throws -> RemoteRealm {
        var values: [String: PropertyValue] = [:]
        for (name, words) in words {
            values[name] = try PropertyValue(words, as: RemoteRealm.properties[name]?.kind ?? .list)
        }
        var services = RealmServices()
        services[RealmLog.self] = log.log
        return try RemoteRealm(
            RealmProperties(values, schema: RemoteRealm.properties, realmName: "people", services: services)
        )
    }
}

extension RemoteRealm {
    func module(_ options: [String: PropertyValue] = [:]) throws -> RemoteLoginModule {
        try RemoteLoginModule(
            realm: self,
            options: ModuleOptions(options, schema: RemoteLoginModule.options, realmName: "people")
        )
    }

    /// Signs in with a stack of this realm's module.
    func login(_ name: String, _ password: Secret, peer: String? = nil) async throws -> LoginReport {
        let stack = LoginStack(name: "people", [LoginStack.Entry(try module(), .required)], clock: ManualClock())
        let request = LoginRequest(realm: "people", username: try Username(name), peer: peer)
        return await stack.login(request, asking: PreparedConversation(name: name, password: password))
    }

    func login(_ name: String, _ password: String) async throws -> LoginReport {
        try await login(name, Secret(utf8: password))
    }
}

extension LoginReport {
    /// The failure of a refused login; nil if it was accepted.
    var failure: LoginFailure? { steps.compactMap(\.outcome.failure).first }
}

/// A response with a JSON body.
func json(_ body: String, status: String = "200 OK") -> TestService.Step {
    .send("HTTP/1.1 \(status)\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
}

/// A response without a body.
func empty(_ status: String) -> TestService.Step { .send("HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\r\n") }
