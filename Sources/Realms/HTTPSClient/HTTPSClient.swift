// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOPosix
internal import OpenSSLKit

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
                        exchange.fail(.stopped, "the response was not wanted")
                        return await delegate.didFail(exchange.stoppedError)
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

    /// The number of open connections, used and unused.
    var openConnections: Int { pool.openConnections }

    /// The number of requests that wait for a connection.
    var waitingRequests: Int { pool.waitingRequests }
}
