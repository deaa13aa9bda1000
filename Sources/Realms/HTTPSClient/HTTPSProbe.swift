// SPDX-License-Identifier: Apache-2.0

package import OpenSSLKit

/// A request to a server whatever its certificate is, which tells whether it answers; it must have no secrets.
package struct HTTPSProbe: Sendable {
    package let status: Int
    /// The certificate that the server has presented.
    package let certificate: Certificate?

    /// Sends GET to the server.
    package init(_ url: HTTPSURL, userAgent: String, timeout: Duration) async throws(HTTPSClientError) {
        let presented = PresentedKey()
        func send(trust: TLSTrust) async throws(HTTPSClientError) -> Int {
            var configuration = HTTPSClientConfiguration(trust: trust)
            configuration.userAgent = userAgent
            configuration.connectTimeout = timeout
            configuration.timeout = timeout
            let client = try HTTPSClient(configuration)
            defer { client.close() }
            return try await client.response(to: HTTPSRequest("GET", url)).status
        }
        do throws(HTTPSClientError) {
            status = try await send(trust: .noServer(recording: presented))
        } catch {
            guard error.code == .certificateRejected, let digest = presented.digest else { throw error }
            status = try await send(trust: .pinnedKeys([digest]))
        }
        certificate = presented.certificate
    }
}
