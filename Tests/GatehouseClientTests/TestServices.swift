// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPSClient
import HTTPSTesting
import OpenSSLKit
import TLSTesting

@testable import GatehouseClient

/// Runs `body` with an HTTPS service on the loopback interface, and the client of its URL with the prefix `/gatehouse`.
func withService<Result>(
    respond: @escaping @Sendable (TestService.Received) -> [TestService.Step],
    _ body: (TestService, GatehouseEndpoint) async throws -> Result
) async throws -> Result {
    let pki = try TestPKI.shared.get()
    let service = try await TestService(tls: .server(pki.identity("server")), respond: respond)
    do {
        let url = "https://localhost:\(service.port)/gatehouse"
        let result = try await body(service, GatehouseEndpoint(url, authorities: pki.file("root.pem").path))
        try await service.stop()
        return result
    } catch {
        try await service.stop()
        throw error
    }
}

extension TestService.Step {
    /// A response with a body.
    static func response(_ body: [UInt8], status: Int = 200, type: String = "application/json") -> Self {
        let fields = "Content-Length: \(body.count)\r\nContent-Type: \(type)\r\n"
        return .send("HTTP/1.1 \(status) X\r\n\(fields)\r\n\(String(decoding: body, as: UTF8.self))")
    }

    static func response(_ body: String, status: Int = 200, type: String = "application/json") -> Self {
        response(Array(body.utf8), status: status, type: type)
    }
}
