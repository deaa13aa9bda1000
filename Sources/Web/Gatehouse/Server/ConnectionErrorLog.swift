// SPDX-License-Identifier: Apache-2.0

internal import HTTPServer
internal import Logging
internal import NIOCore
internal import NIOOpenSSL
internal import RealmKit
internal import Synchronization

/// Logs the errors of connections.
///
/// Clients can cause these errors. They are logged at the levels debug and trace, which are disabled by default, so
/// that an attacker cannot fill the log.
enum ConnectionErrorLog {
    static func log(_ error: any Error, of connection: Connection, to logger: Logger, plainHTTP: PlainHTTPLog) {
        if (error as? NIOOpenSSLError)?.code == .plainHTTP { plainHTTP.log(peer: connection.peer) }
        let level: Logger.Level =
            switch (error as? NIOOpenSSLError)?.code {
            case .uncleanShutdown, .closedDuringHandshake, .connectionFailed, .handlerRemoved, nil: .trace
            case .handshakeTimeout, .handshakeFailed, .plainHTTP, .unreadAnswers: .debug
            }
        logger.log(level: level, "connection: \(error)", metadata: ["peer": "\(connection.peer ?? "-")"])
    }
}

/// Logs plain HTTP requests on the TLS port, at most once a minute, so that no client can fill the log.
final class PlainHTTPLog: Sendable {
    private struct State {
        var last: UInt64?
        var suppressed = 0
    }

    private let logger: Logger
    private let clock: any LoginClock
    private let state = Mutex(State())

    init(_ logger: Logger, clock: any LoginClock) {
        self.logger = logger
        self.clock = clock
    }

    func log(peer: String?) {
        let now = clock.now
        let suppressed: Int? = state.withLock { state in
            if let last = state.last, now &- last < 60_000_000_000 {
                state.suppressed += 1
                return nil
            }
            defer { state = State(last: now) }
            return state.suppressed
        }
        guard let suppressed else { return }
        let others = suppressed == 0 ? "" : ", and \(suppressed) times since the last such message"
        logger.notice(
            "plain HTTP was sent to a TLS port\(others); it was answered with 400",
            metadata: ["peer": "\(peer ?? "-")"]
        )
    }
}

/// The response to a plain HTTP request on the TLS port, without anything of the request, which others can change.
enum PlainHTTPResponse {
    static let bytes: ByteBuffer = {
        let body = """
            <!DOCTYPE html>
            <html lang="en">
            <meta charset="utf-8">
            <title>400 Bad Request</title>
            <h1>400 Bad Request</h1>
            <p>The request was sent without encryption, and this port accepts only HTTPS. Begin the address with <b>https://</b>.</p>
            </html>

            """
        let head = """
            HTTP/1.1 400 Bad Request\r
            Content-Type: text/html; charset=utf-8\r
            Content-Length: \(body.utf8.count)\r
            Content-Security-Policy: default-src 'none'\r
            Cache-Control: no-store\r
            Connection: close\r
            \r

            """
        return ByteBuffer(string: head + body)
    }()
}
