// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Logging
internal import NIOCore
internal import NIOOpenSSL

/// Says what went wrong with TLS on a connection; the server behind it hears nothing of that.
///
/// What any client on the network can cause at will is logged at levels that are off by default, or a log would be theirs
/// to fill.
final class TLSErrorLog: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let logger: Logger

    init(_ logger: Logger) {
        self.logger = logger
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? NIOOpenSSLError {
            let level: Logger.Level =
                switch error.code {
                case .uncleanShutdown, .closedDuringHandshake, .connectionFailed, .handlerRemoved: .trace
                case .handshakeTimeout, .handshakeFailed, .plainHTTP, .unreadAnswers: .debug
                }
            logger.log(
                level: level,
                "TLS: \(error)",
                metadata: ["peer": "\(context.channel.remoteAddress?.ipAddress ?? "-")"]
            )
        }
        context.fireErrorCaught(error)
    }
}
