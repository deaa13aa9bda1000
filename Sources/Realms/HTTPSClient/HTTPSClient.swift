// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import NIOCore
internal import NIOPosix
public import OpenSSLKit

/// A client of HTTPS services: HTTP/1.1 over TLS 1.2 or 1.3, by the system's OpenSSL.
///
/// It trusts the servers that its configuration names, and no others. It follows no redirects, keeps no cookies, uses no
/// proxy, and accepts no compressed body. It never sends a request a second time after a byte of it may have been sent.
/// Connections are kept for later requests. When the client is released, unused connections are closed.
///
/// A client may be used from any thread.
public final class HTTPSClient: Sendable {
    let pool: ConnectionPool

    /// Creates a client; no connection is opened.
    ///
    /// - Parameter configuration: The configuration.
    /// - Throws: ``HTTPSClientError`` with code `invalidRequest` for a `User-Agent` with control characters or a limit that
    ///   is not positive, and for authorities, pins or an identity that OpenSSL rejects.
    public convenience init(_ configuration: HTTPSClientConfiguration) throws(HTTPSClientError) {
        try self.init(configuration, group: MultiThreadedEventLoopGroup.singleton)
    }

    init(_ configuration: HTTPSClientConfiguration, group: any EventLoopGroup) throws(HTTPSClientError) {
        pool = try ConnectionPool(configuration, group: group)
    }

    deinit { pool.close() }

    /// Closes all unused connections; later requests fail with code `clientClosed`.
    ///
    /// Running requests are completed.
    public func close() { pool.close() }

    /// Sends a request and returns the response.
    ///
    /// If the task is cancelled, the connection is closed at once, and the error has the code `cancelled`.
    ///
    /// - Parameter request: The request.
    /// - Returns: The response with its body. Any status is possible; redirects are not followed.
    /// - Throws: ``HTTPSClientError``.
    public func response(to request: HTTPSRequest) async throws(HTTPSClientError) -> HTTPSResponse {
        let exchange = HTTPSExchange(request, timeout: request.timeout ?? pool.configuration.timeout)
        return try await withTaskCancellationHandler {
            pool.assign(exchange)
            return await exchange.answer()
        } onCancel: {
            exchange.fail(.cancelled, "the request was cancelled")
        }.get()
    }
}

/// The configuration of an ``HTTPSClient``.
public struct HTTPSClientConfiguration: Sendable {
    /// The servers that are trusted; there is no way to trust all servers.
    public var trust: TLSTrust
    /// The certificate and key that are presented to a server that requests a certificate; nil for none.
    public var identity: TLSIdentity?
    /// The value of the field `User-Agent`; the default is `Gatehouse`.
    ///
    /// A request with a `User-Agent` of its own keeps it.
    public var userAgent = "Gatehouse"
    /// The time limit for resolving the name, connecting and the TLS handshake; the default is 5 seconds.
    public var connectTimeout = Duration.seconds(5)
    /// The time limit for a request, from the call to the end of the response; the default is 30 seconds.
    public var timeout = Duration.seconds(30)
    /// The maximum length of a response's status line and fields, in bytes; the default is 64 KiB.
    public var maximumHead = 64 << 10
    /// The maximum length of a response's body, in bytes; the default is 1 MiB.
    ///
    /// If the body is longer, the connection is closed at the limit.
    public var maximumBody = 1 << 20
    /// The maximum number of connections to one server; the default is 16.
    public var connections = 16
    /// The maximum number of requests that wait for a connection to one server; the default is 1024.
    public var waitingRequests = 1024
    /// The time for which an unused connection is kept; the default is 30 seconds.
    ///
    /// If a server announces a shorter time (`Keep-Alive: timeout=5`), the connection is used for one second less than
    /// that.
    public var idleTime = Duration.seconds(30)

    /// Creates a configuration with the defaults.
    ///
    /// - Parameter trust: The servers that are trusted.
    public init(trust: TLSTrust) { self.trust = trust }
}

/// The status, the fields and the body of a response.
///
/// The fields come from outside. Their values may contain any text without line breaks.
public struct HTTPSResponse: Sendable {
    /// The status code, 200 to 599.
    public let status: Int
    /// The fields in the order in which they arrived.
    public let fields: [(name: String, value: String)]
    /// The body.
    public let body: [UInt8]

    /// The values of all fields of a name.
    ///
    /// - Parameter name: The name, in any case.
    public subscript(name: String) -> [String] {
        fields.filter { $0.name.utf8Span.span.equalsIgnoringCase(name.utf8Span.span) }.map(\.value)
    }
}

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
