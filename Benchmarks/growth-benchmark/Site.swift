// SPDX-License-Identifier: Apache-2.0

import AccessControl
import BuiltInRealms
import Foundation
import RealmConfiguration
import RealmKit
import Sessions

/// A server without a network: rules, a realm that accepts all users, sessions, and cached credentials.
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
        let loader = ConfigurationLoader(builtInRealms, files: ConfigurationFiles(text), clock: clock)
        let configuration = try loader.load("realms.conf")
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
    func scenario(paths: [String]) throws -> RequestScenario {
        try RequestScenario(controller, paths.map { try request($0, host: "app.example.org") })
    }

    /// Creates requests without a session, one for each host.
    func scenario(hosts: [String]) throws -> RequestScenario {
        try RequestScenario(controller, hosts.map { try request("/", host: $0) })
    }

    /// Creates requests, each with a session of its own.
    func scenario(sessions count: Int = 1) async throws -> RequestScenario {
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
        return try RequestScenario(controller, requests)
    }

    /// Creates requests of several users, whose credentials are cached.
    func scenario(credentials count: Int) async throws -> RequestScenario {
        let request = try request("/", host: "app.example.org")
        var presented: [BasicScheme.Presented] = []
        for number in 0..<count {
            let field = "Basic \(Data("user\(number):secret".utf8).base64EncodedString())"
            let credentials = BasicScheme.read(field.utf8Span.span, count: 1)
            guard case .afterLogin(let login) = controller.decide(request, credentials: { credentials }),
                case .allowed = await controller.complete(login).result.decision
            else { throw Growth.Failure.login }
            presented.append(credentials)
        }
        return try RequestScenario(controller, [request], credentials: presented)
    }

    private func request(_ path: String, host: String, cookie: String = "") throws -> AccessRequest {
        guard let path = RequestPath(target: path) else { throw Growth.Failure.request }
        var client = RequestClient(address: "192.0.2.1")
        client.cookies.read(cookie.utf8Span.span)
        return AccessRequest(method: "GET", path: PathReadings(path), host: .text(host), client: client)
    }
}

extension ConfigurationFiles {
    /// A single file, whatever its name, and no environment.
    init(_ text: String) {
        self.init(read: { _ in .success(Array(text.utf8)) }, environment: { _ in nil })
    }
}

/// Something that is measured for one size.
protocol Scenario {
    /// Returns the time of a decision or a look-up, in nanoseconds.
    func measure() async -> Double
}

/// Requests, and the controller that decides about them.
struct RequestScenario: Scenario {
    private let controller: AccessController
    private let requests: [AccessRequest]
    private let credentials: [BasicScheme.Presented]
    private let count: Int

    /// Requests for a controller.
    ///
    /// - Parameters:
    ///   - controller: The controller.
    ///   - requests: The requests, which are made in turn.
    ///   - credentials: The credentials of the requests, which are sent in turn.
    /// - Throws: An error if the first or the last request is not allowed.
    init(
        _ controller: AccessController,
        _ requests: [AccessRequest],
        credentials: [BasicScheme.Presented] = [.nothing]
    ) throws {
        (self.controller, self.requests, self.credentials) = (controller, requests, credentials)
        count = max(requests.count, credentials.count)
        for index in [0, count - 1] where !isAllowed(index) { throw Growth.Failure.decision }
    }

    func measure() async -> Double {
        var allowed = 0
        // The same step for all sizes, so that neighbours are not met in order.
        let time = await Growth.time {
            var index = 0
            for _ in 0..<Growth.requests {
                if isAllowed(index) { allowed += 1 }
                index = (index + 7_919) % count
            }
        }
        precondition(allowed == Growth.requests)
        return time
    }

    private func isAllowed(_ index: Int) -> Bool {
        let presented = credentials[index % credentials.count]
        guard case .now(let result) = controller.decide(requests[index % requests.count], credentials: { presented })
        else { return false }
        return !result.decision.isRefusal
    }
}
