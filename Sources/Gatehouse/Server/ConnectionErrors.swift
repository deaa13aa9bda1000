// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPServer
internal import Logging
internal import NIOOpenSSL

/// Says what went wrong with a connection.
///
/// What any client on the network can cause at will is logged at levels that are off by default, or a log would be theirs
/// to fill.
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
