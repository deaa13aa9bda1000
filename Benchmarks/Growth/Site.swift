// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import AccessControl
import BuiltInRealms
import RealmConfiguration
import RealmKit
import Sessions

/// A server without a network: rules, a realm that accepts everybody, and sessions.
struct Site {
    private let clock = SystemClock()
    private let controller: AccessController
    private let authenticator: Authenticator

    /// Creates a site.
    ///
    /// - Parameters:
    ///   - rules: The rules.
    ///   - groups: The groups of the realm's users.
    /// - Throws: ``ConfigurationErrors``, or an error of OpenSSL.
    init(_ rules: [ProtectRule], groups: [String] = []) throws {
        let text = """
            login permit { PermitLoginModule required; }
            realm any {
                class StackRealm;
                jaas-context permit;
                \(groups.isEmpty ? "" : "assign-groups \(groups.joined(separator: " "));")
            }
            """
        let files = ConfigurationFiles(
            read: { _ in .success(ConfigurationFiles.Contents(bytes: Array(text.utf8))) },
            environment: { _ in nil }
        )
        let configuration = try ConfigurationLoader(builtInRealms, files: files, clock: clock).load("realms.conf")
        authenticator = configuration.authenticator
        var settings = SessionSettings()
        settings.perUser = settings.total
        controller = AccessController(
            rules: ProtectionRules(rules),
            authenticator: authenticator,
            sessions: SessionTable(settings, clock: clock, wall: .system, onEnd: { _, _ in }),
            credentialCache: try CredentialCache(lifetime: 3_600_000_000_000),
            clock: clock,
            wallClock: .system
        )
    }

    /// Creates requests without a session, one for each path.
    func scenario(paths: [String]) throws -> Scenario {
        try Scenario(controller, paths.map { try request($0, host: "app.example.org") })
    }

    /// Creates requests without a session, one for each host.
    func scenario(hosts: [String]) throws -> Scenario {
        try Scenario(controller, hosts.map { try request("/", host: $0) })
    }

    /// Creates requests, each with a session of its own.
    func scenario(sessions count: Int = 1) async throws -> Scenario {
        let report = try await authenticator.login(
            LoginRequest(realm: "any", username: Username("zed"), service: "benchmark", peer: nil),
            asking: PreparedConversation(name: "zed", password: Secret(utf8: "x"))
        )
        guard case .accepted(let identity) = report.decision else { throw Growth.Failure.login }
        var requests: [AccessRequest] = []
        for _ in 0..<count {
            guard let host = RequestHost("app.example.org") else { throw Growth.Failure.request }
            let (_, token) = try await controller.sessions.begin(
                identity,
                at: host.sessionHost,
                from: SessionClient(address: "192.0.2.1", userAgent: ""),
                stamp: nil,
                since: controller.sessions.revocationEpoch(),
                replacing: nil
            )
            requests.append(try request("/", host: host.text, cookie: "__Host-gatehouse=\(token.text)"))
        }
        return try Scenario(controller, requests)
    }

    private func request(_ path: String, host: String, cookie: String = "") throws -> AccessRequest {
        guard let path = RequestPath(target: path) else { throw Growth.Failure.request }
        var client = RequestClient(address: "192.0.2.1")
        client.cookies.read(cookie.utf8Span.span)
        return AccessRequest(method: "GET", path: path, host: .text(host), client: client)
    }
}

/// Requests, and the controller that decides about them.
struct Scenario {
    private let controller: AccessController
    private let requests: [AccessRequest]

    /// Requests for a controller.
    ///
    /// - Throws: An error if the first or the last request is not allowed.
    init(_ controller: AccessController, _ requests: [AccessRequest]) throws {
        (self.controller, self.requests) = (controller, requests)
        for request in [requests[0], requests[requests.count - 1]] where !isAllowed(request) {
            throw Growth.Failure.decision
        }
    }

    /// Returns the time of a decision in nanoseconds.
    func measure() -> Double {
        let clock = ContinuousClock()
        var allowed = 0
        // The same step for all sizes, so that neighbours are not met in order.
        let time = clock.measure {
            var index = 0
            for _ in 0..<Growth.requests {
                if isAllowed(requests[index]) { allowed += 1 }
                index = (index + 7_919) % requests.count
            }
        }
        precondition(allowed == Growth.requests)
        let (seconds, attoseconds) = time.components
        return (Double(seconds) * 1e9 + Double(attoseconds) / 1e9) / Double(Growth.requests)
    }

    private func isAllowed(_ request: AccessRequest) -> Bool {
        switch controller.evaluate(request, credentials: { .nothing }) {
        case .decided(.allowed, _, _), .decided(.open, _, _): true
        case .decided, .login: false
        }
    }
}
