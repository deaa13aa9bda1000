// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Synchronization
import TestTools

@testable import RealmPAM

/// A realm with a private service of the test.
struct PAMSetup {
    let folder: ProgramFolder
    let realm: PAMRealm
    private let messages = Messages()

    final class Messages: Sendable {
        let all = Mutex<[String]>([])
    }

    /// The output of the modules.
    var log: [String] { messages.all.withLock { $0 } }

    /// Creates a service and its realm; `MODULE` in the lines is replaced by the path of ``TestModule``.
    init(_ lines: String, _ properties: [String: PropertyValue] = [:]) throws {
        folder = try ProgramFolder()
        let module = lines.contains("MODULE") ? try TestModule.compile(into: folder) : ""
        let service = lines.replacing("MODULE", with: module).replacing("FOLDER", with: folder.path)
        try folder.write(service + "\n", to: "gatehouse")
        try folder.write("auth required pam_deny.so\naccount required pam_deny.so\n", to: "other")
        var values: [String: PropertyValue] = [
            "confdir": .string(folder.path), "helper": .string(TestModule.helper), "helpers": .integer(4),
            "queue": .integer(2000), "timeout": .duration(.seconds(60)),
        ]
        values.merge(properties) { _, new in new }
        var services = RealmServices()
        services[RealmLog.self] = RealmLog { [messages] _, message in messages.all.withLock { $0.append(message) } }
        realm = try PAMRealm(
            RealmProperties(values, schema: PAMRealm.properties, realmName: "system", services: services)
        )
    }

    var module: PAMLoginModule {
        get throws {
            try PAMLoginModule(
                realm: realm,
                options: ModuleOptions(schema: PAMLoginModule.options, realmName: "system")
            )
        }
    }

    func login(
        _ name: String,
        _ conversation: any Conversation,
        peer: String? = nil,
        mayGrant: Bool = true,
        then other: ScriptedModule? = nil
    ) async throws -> LoginReport {
        let modules: [any LoginModule] = [try module] + (other.map { [$0] } ?? [])
        let entries = modules.map { LoginStack.Entry($0, .required, deadline: .seconds(120)) }
        let request = LoginRequest(realm: "system", username: try Username(name), service: "tests", peer: peer)
        return await LoginStack(name: "system", entries, clock: SystemTime())
            .login(request, asking: conversation, mayGrant: mayGrant)
    }

    func login(_ name: String, _ password: String = "lilac", peer: String? = nil) async throws -> LoginReport {
        try await login(name, RecordingConversation(name: name, password: password), peer: peer)
    }

    /// A conversation with a password, and then an answer for each further question.
    static func conversation(_ password: String, _ answers: PreparedConversation...) -> RecordingConversation {
        RecordingConversation(
            [.prepared(PreparedConversation(password: Secret(utf8: password)))] + answers.map { .prepared($0) }
        )
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
    /// The texts of all faults and notes of the login.
    var texts: String { (steps.compactMap(\.fault?.log) + notes.map(\.text)).joined(separator: "; ") }
}
