// SPDX-License-Identifier: Apache-2.0

import Bytes
import Foundation
import HTTPSTesting
import OpenSSLKit
import RealmKit
import RealmRemote
import RealmTesting
import Synchronization
import TLSTesting
import TestTools
import Testing

/// The realm and its service under the conformance test for back ends.
@Suite(.enabled(if: TestPKI.isPossible, "openssl is not installed"))
struct RemoteBackEndTests {
    @Test func `the realm keeps the contract while its service is stopped, fails and hangs`() async throws {
        let site = try await Site()
        let deadline = Duration.seconds(4)
        var conformance = RealmBackEndConformance(
            users: site.users.sorted { $0.key < $1.key }.map { name, user in
                .init(name, password: user.password, groups: user.groups)
            },
            faults: [
                BackEndFault("the service is stopped", causes: ["refused"]) {
                    try await site.stop()
                } end: {
                    try await site.start()
                },
                site.fault("the service answers 500", .failing, causes: ["500"]),
                site.fault("the service answers text", .talking, causes: ["JSON", "json"]),
                site.fault("the service hangs", .hanging, causes: ["did not answer within"], hangs: true),
            ],
            deadline: deadline
        ) { services in
            try .forConformance(
                RealmKind(RemoteRealm.self, modules: RemoteLoginModule.self),
                properties: try site.properties,
                services: services,
                deadline: deadline
            )
        }
        conformance.openCalls = { site.openCalls }
        conformance.usersWithProblems = [.init("cleo", password: site.passwordOfCleo)]
        let report = await conformance.check()
        #expect(report.violations == [])
        #expect(report.checked.count == RealmBackEndConformance.Check.allCases.count - 1, "\(report)")
        try await site.stop()
    }
}

/// A service of users that can be stopped and started on the same port.
private final class Site: Sendable {
    enum Mode { case working, failing, talking, hanging }

    private struct State {
        var service: TestService?
        var mode = Mode.working
        /// The connections on which a request gets no answer.
        var hanging: Set<Int> = []
    }

    let users: [String: (password: String, groups: [String])] = [
        "ann": (RealmBackEndConformance.randomPassword(), ["Staff", "Users"]),
        "ben": (RealmBackEndConformance.randomPassword(), ["Users"]),
    ]
    /// The password of a user whose groups are malformed.
    let passwordOfCleo = RealmBackEndConformance.randomPassword()
    private let state = Mutex(State())
    private let port: Int

    init() async throws {
        let answers = Answers()
        let service = try await TestService(tls: .server(RemoteSetup.pki.identity("server"))) { answers.respond($0) }
        port = service.port
        state.withLock { $0.service = service }
        answers.site.withLock { $0 = self }
    }

    /// Passes requests to a site that does not exist yet when its service starts.
    private final class Answers: Sendable {
        let site = Mutex<Site?>(nil)
        func respond(_ request: TestService.Received) -> [TestService.Step] {
            site.withLock { $0 }?.respond(request) ?? [.close]
        }
    }

    var properties: [String: [String]] {
        get throws {
            [
                "url": ["https://localhost:\(port)/login"], "ca-file": [try RemoteSetup.pki.file("root.pem").path],
                "timeout": ["60s"], "connect-timeout": ["60s"], "user-path": ["/user"], "groups-path": ["/groups"],
            ]
        }
    }

    /// The number of connections that wait for an answer.
    ///
    /// Those that wait for the next login do not count, and are never closed by the service: a login that takes one just then
    /// would end with another fault than that of the test.
    var openCalls: Int {
        let (service, hanging) = state.withLock { ($0.service, $0.hanging) }
        return service.map { $0.openConnections.intersection(hanging).count } ?? 0
    }

    func stop() async throws {
        guard let service = state.withLock({ $0.service.take() }) else { return }
        try await service.stop()
        // Until then a connection may still answer.
        try await Waiting.until { service.closedConnections >= service.connections }
    }

    func start() async throws {
        let service = try await TestService(
            tls: .server(RemoteSetup.pki.identity("server")),
            port: port
        ) { [weak self] in self?.respond($0) ?? [.close] }
        state.withLock { ($0.service, $0.hanging) = (service, []) }
    }

    func fault(_ name: String, _ mode: Mode, causes: [String], hangs: Bool = false) -> BackEndFault {
        BackEndFault(name, hangs: hangs, causes: causes) { [self] in
            state.withLock { $0.mode = mode }
        } end: { [self] in
            state.withLock { $0.mode = .working }
        }
    }

    private func respond(_ request: TestService.Received) -> [TestService.Step] {
        switch state.withLock({ $0.mode }) {
        case .working: break
        case .failing: return [empty("500 Internal Server Error")]
        case .talking: return [.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello")]
        case .hanging:
            state.withLock { _ = $0.hanging.insert(request.connection) }
            return []
        }
        let encoded = request.field("Authorization").map { String($0.dropFirst("Basic ".count)) } ?? ""
        let given = Base64.padded.decode(encoded).map { Array($0) } ?? []
        if given == Array("cleo:\(passwordOfCleo)".utf8) { return [json(#"{"user":"cleo","groups":[1]}"#)] }
        for (name, user) in users where given == Array("\(name):\(user.password)".utf8) {
            let groups = user.groups.map { "\"\($0)\"" }.joined(separator: ",")
            return [json("{\"user\":\"\(name)\",\"groups\":[\(groups)]}")]
        }
        return [json(#"{"error":"no"}"#, status: "401 Unauthorized")]
    }
}
