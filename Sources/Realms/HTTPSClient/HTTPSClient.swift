// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOPosix
public import OpenSSLKit

/// A client of HTTPS services: HTTP/1.1 over TLS 1.2 or 1.3, by the system's OpenSSL.
///
/// It trusts the servers that its ``HTTPSTrust`` names, and no others. It follows no redirects, keeps no cookies, uses no
/// proxy, and accepts no compressed body. It never sends a request a second time after a byte of it may have been sent.
/// Connections are kept for later requests. When the client is released, unused connections are closed.
///
/// A client may be used from any thread.
public final class HTTPSClient: Sendable {
    private let pool: ConnectionPool

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

    /// Sends a request and passes the response to a delegate.
    ///
    /// It returns when the delegate has received the end of the response or the error. If the task is cancelled, the
    /// connection is closed at once, and the delegate receives an error with code `cancelled`.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - delegate: The receiver of the response.
    public func send(_ request: HTTPSRequest, to delegate: some HTTPSResponseDelegate) async {
        let exchange = HTTPSExchange(request, timeout: request.timeout ?? pool.configuration.timeout)
        await withTaskCancellationHandler {
            pool.assign(exchange)
            while true {
                for event in await exchange.nextEvents() {
                    var progress = ResponseProgress.proceed
                    switch event {
                    case .response(let response): progress = await delegate.didReceive(response)
                    case .part(let part): progress = await delegate.didReceive(part)
                    case .end: return await delegate.didFinish()
                    case .failed(let error): return await delegate.didFail(error)
                    }
                    if progress == .stop {
                        let cause = "the response was not wanted"
                        exchange.fail(.stopped, cause)
                        return await delegate.didFail(HTTPSClientError(.stopped, cause, mayHaveReachedServer: true))
                    }
                    // An error replaces the events that are not delivered yet.
                    if exchange.hasFailed { break }
                }
            }
        } onCancel: {
            exchange.fail(.cancelled, "the request was cancelled")
        }
    }

    /// Sends a request and collects the response.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - maximumBody: The maximum length of the body, in bytes; nil for the limit of the configuration.
    /// - Returns: The response with its body. Any status is possible; redirects are not followed.
    /// - Throws: ``HTTPSClientError``.
    public func response(
        to request: HTTPSRequest,
        maximumBody: Int? = nil
    ) async throws(HTTPSClientError) -> CollectedResponse {
        let collector = ResponseCollector(maximumBody: maximumBody ?? pool.configuration.maximumBody)
        await send(request, to: collector)
        return try collector.result.get()
    }

    /// The number of connections, used and unused.
    var openConnections: Int { pool.openConnections }
    var waitingRequests: Int { pool.waitingRequests }
}

/// The configuration of an ``HTTPSClient``.
public struct HTTPSClientConfiguration: Sendable {
    /// The servers that are trusted.
    public var trust: HTTPSTrust
    /// The certificate and key that are presented to a server that requests a certificate; nil for none.
    public var identity: TLSIdentity?
    /// The lowest version of TLS that is accepted; the default is 1.2.
    public var minimumVersion = TLSVersion.tls12
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
    public init(trust: HTTPSTrust) { self.trust = trust }
}

/// The reason why a request got no complete response.
///
/// Two errors are equal if their codes are equal. The text is for logs. It contains no secret, and no bytes of the
/// response.
public struct HTTPSClientError: Error, Sendable {
    /// The kinds of errors.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The request breaks a rule, such as a line break in a field.
        case invalidRequest
        /// The host name has no address.
        case nameNotResolved
        /// No connection could be opened, or the TLS handshake failed.
        case connectFailed
        /// The server's certificate was rejected: unknown authority, another name, expired, or another key than the
        /// pinned key.
        case certificateRejected
        /// No connection was open when the time for connecting was over.
        case connectTimedOut
        /// The response was not complete when the time for the request was over.
        case timedOut
        /// The fields of the response are longer than the limit.
        case responseHeadTooLarge
        /// The body of the response, or the whole response, is longer than the limit.
        case responseTooLarge
        /// The server has sent bytes that are not a valid response.
        case malformedResponse
        /// The connection ended before the response was complete.
        case connectionClosed
        /// All connections are in use, and the maximum number of requests is waiting for a connection; or the system has no
        /// more resources for a connection.
        case tooManyRequests
        /// The caller's task was cancelled.
        case cancelled
        /// The delegate has stopped the response.
        case stopped
        /// The client is closed.
        case clientClosed
    }

    /// The kind of error.
    public let code: Code
    /// The cause, for logs.
    public let cause: String
    /// True if the server may have received bytes of the request.
    ///
    /// If false, the request can be sent again, or to another server, and no server receives it twice.
    public let mayHaveReachedServer: Bool

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of error.
    ///   - cause: The cause, for logs, without secrets.
    ///   - mayHaveReachedServer: True if the server may have received bytes of the request.
    public init(_ code: Code, _ cause: String, mayHaveReachedServer: Bool = false) {
        self.code = code
        self.cause = cause
        self.mayHaveReachedServer = mayHaveReachedServer
    }
}

extension HTTPSClientError: Equatable, CustomStringConvertible {
    /// Compares the codes.
    public static func == (left: HTTPSClientError, right: HTTPSClientError) -> Bool { left.code == right.code }

    /// The cause.
    public var description: String { cause }
}
