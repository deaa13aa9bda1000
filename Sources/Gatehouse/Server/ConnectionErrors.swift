// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPServer
internal import Logging
internal import NIOOpenSSL

/// Logs the errors of connections.
///
/// Errors that any client can cause are logged at levels that are off by default. Otherwise an attacker could fill the
/// log.
enum ConnectionErrors {
    static func log(_ error: any Error, _ connection: Connection, _ logger: Logger) {
        let level: Logger.Level =
            switch (error as? NIOOpenSSLError)?.code {
            case .uncleanShutdown, .closedDuringHandshake, .connectionFailed, .handlerRemoved, nil: .trace
            case .handshakeTimeout, .handshakeFailed, .plainHTTP, .unreadAnswers: .debug
            }
        logger.log(level: level, "connection: \(error)", metadata: ["peer": "\(connection.peer ?? "-")"])
    }
}
