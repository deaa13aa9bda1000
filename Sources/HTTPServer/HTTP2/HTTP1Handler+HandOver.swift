// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import NIOCore

extension HTTP1Handler: RemovableChannelHandler {
    /// The name of HTTP/2 over TLS among the application protocols (RFC 9113 section 3.2).
    static let http2 = "h2"

    /// Leaves the connection, and its place among those that are counted, to HTTP/2.
    ///
    /// It happens at the end of the handshake, before any plaintext: TLS hands that on only when this is done.
    func handOver(_ context: ChannelHandlerContext) {
        leave()
        let successor = HTTP2Handler(loop, connection, onError: onError, onEnd: onEnd)
        let operations = context.pipeline.syncOperations
        do {
            try operations.addHandlers(successor.makeHandlers(), position: .after(self))
            operations.removeHandler(context: context, promise: nil)
        } catch {
            onError(error, connection)
            successor.end()
            context.close(mode: .all, promise: nil)
        }
    }
}
