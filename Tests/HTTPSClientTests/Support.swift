// SPDX-License-Identifier: Apache-2.0

import HTTPSClient
import HTTPSTesting
import OpenSSLKit
import TLSTesting

/// The values that the tests of the client share.
enum Fixture {
    static var pki: TestPKI { get throws { try TestPKI.shared.get() } }

    /// The configuration of a service with the certificate `name`.
    static func server(_ name: String = "server") throws -> TLSConfiguration { try .server(pki.identity(name)) }

    /// The trust in the authority of the tests.
    static func trust() throws -> TLSTrust { try .authorities(pki.certificates("root")) }

    /// Creates a client that trusts the authority of the tests.
    static func client(_ change: (inout HTTPSClientConfiguration) throws -> Void = { _ in }) throws -> HTTPSClient {
        var configuration = HTTPSClientConfiguration(trust: try trust())
        // Tests must pass on a busy machine.
        configuration.connectTimeout = .seconds(60)
        configuration.timeout = .seconds(120)
        try change(&configuration)
        return try HTTPSClient(configuration)
    }

    /// Runs `body` with a service.
    static func withService<Result>(
        _ certificate: String = "server",
        onAccept: [TestService.Step] = [],
        respond: @escaping @Sendable (TestService.Received) -> [TestService.Step],
        _ body: (TestService) async throws -> Result
    ) async throws -> Result {
        let service = try await TestService(tls: server(certificate), onAccept: onAccept, respond: respond)
        do {
            let result = try await body(service)
            try await service.stop()
            return result
        } catch {
            try await service.stop()
            throw error
        }
    }

    /// A response with a body.
    static func response(_ body: String, status: String = "200 OK", fields: String = "") -> TestService.Step {
        .send("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)")
    }
}

extension TestService {
    /// The URL of a path of the service.
    func url(_ path: String = "/", host: String = "localhost") throws -> HTTPSURL {
        try HTTPSURL("https://\(host):\(port)\(path)")
    }
}

extension HTTPSClient {
    /// Sends a GET request.
    func get(_ url: HTTPSURL) async throws(HTTPSClientError) -> HTTPSResponse {
        try await response(to: try HTTPSRequest("GET", url))
    }
}
