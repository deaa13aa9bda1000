// SPDX-License-Identifier: Apache-2.0

internal import HTTPServer
internal import Logging
internal import NIOOpenSSL

/// Logs the errors of connections.
///
/// Clients can cause these errors. They are logged at the levels debug and trace, which are disabled by default, so that
/// an attacker cannot fill the log.
enum ConnectionErrorLog {
    static func log(_ error: any Error, _ connection: Connection, _ logger: Logger, plainHTTP: PlainHTTPLog) {
        if (error as? NIOOpenSSLError)?.code == .plainHTTP { plainHTTP.log(peer: connection.peer) }
        let level: Logger.Level =
            switch (error as? NIOOpenSSLError)?.code {
            case .uncleanShutdown, .closedDuringHandshake, .connectionFailed, .handlerRemoved, nil: .trace
            case .handshakeTimeout, .handshakeFailed, .plainHTTP, .unreadAnswers: .debug
            }
        logger.log(level: level, "connection: \(error)", metadata: ["peer": "\(connection.peer ?? "-")"])
    }
}
