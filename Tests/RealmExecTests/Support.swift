// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Synchronization
import TestTools

@testable import RealmExec

/// The messages of a realm.
final class CollectedLog: Sendable {
    private let messages = Mutex<[String]>([])

    var entries: [String] { messages.withLock { $0 } }

    var log: RealmLog { RealmLog { [self] _, message in messages.withLock { $0.append(message) } } }
}

/// A realm with a helper program of the test.
struct ExecSetup {
    let realm: ExecRealm
    let log = CollectedLog()

    /// The limits are for busy machines.
    init(_ program: String, _ properties: [String: PropertyValue] = [:]) throws {
        var values: [String: PropertyValue] = [
            "program": .string(program), "timeout": .duration(.seconds(60)), "queue": .integer(2000),
        ]
        values.merge(properties) { _, new in new }
        var services = RealmServices()
        services[RealmLog.self] = log.log
        realm = try ExecRealm(
            RealmProperties(values, schema: ExecRealm.properties, realmName: "helpers", services: services)
        )
    }

    var module: ExecLoginModule {
        get throws {
            try ExecLoginModule(
                realm: realm,
                options: ModuleOptions(schema: ExecLoginModule.options, realmName: "helpers")
            )
        }
    }

    func login(
        _ name: String,
        _ conversation: any Conversation,
        peer: String? = nil
    ) async throws -> LoginReport {
        let entry = LoginStack.Entry(try module, .required, deadline: .seconds(120))
        let request = LoginRequest(realm: "helpers", username: try Username(name), service: "tests", peer: peer)
        return await LoginStack(name: "helpers", [entry], clock: SystemTime()).login(request, asking: conversation)
    }

    func login(_ name: String, _ password: String = "lilac", peer: String? = nil) async throws -> LoginReport {
        try await login(name, RecordingConversation(name: name, password: password), peer: peer)
    }
}

/// A clock of real time, for helpers that work in real time.
struct SystemTime: LoginClock {
    private let begin = ContinuousClock.now

    var now: UInt64 {
        let (seconds, attoseconds) = begin.duration(to: .now).components
        return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }

    func sleep(until deadline: UInt64) async throws(CancellationError) {
        do {
            try await ContinuousClock().sleep(until: begin.advanced(by: .nanoseconds(Int64(clamping: deadline))))
        } catch {
            throw CancellationError()
        }
    }
}

extension LoginReport {
    /// The texts of all faults of the login.
    var faultTexts: String { steps.compactMap(\.fault?.log).joined(separator: "; ") }
}
