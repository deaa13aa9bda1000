// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

extension HTTP1Handler: RemovableChannelHandler {
    /// The name of HTTP/2 in TLS's application-layer protocol negotiation (RFC 9113 section 3.2).
    static let http2 = "h2"

    /// Replaces this handler with an ``HTTP2Handler``.
    ///
    /// The connection stays counted by the ``ConnectionCounter``.
    ///
    /// This function is called when the TLS handshake is complete, before any plaintext arrives.
    func switchToHTTP2(_ context: ChannelHandlerContext) {
        leaveLoop()
        let successor = HTTP2Handler(
            loop,
            place: place,
            connection: connection,
            onError: onError,
            onEnd: onEnd
        )
        let operations = context.pipeline.syncOperations
        do {
            try operations.addHandlers(successor.makeHandlers(), position: .after(self))
            successor.begin()
            operations.removeHandler(context: context, promise: nil)
        } catch {
            onError(error, connection)
            successor.end()
            context.close(mode: .all, promise: nil)
        }
    }
}
