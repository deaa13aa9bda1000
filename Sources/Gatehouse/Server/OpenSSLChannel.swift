// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOOpenSSL
internal import OpenSSLKit

/// A connection of Hummingbird's with TLS by the system's OpenSSL in front.
struct OpenSSLChannel<Base: ServerChildChannel>: ServerChildChannel {
    typealias Value = Base.Value

    let base: Base
    let context: TLSContext
    let configuration: OpenSSLHandlerConfiguration

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let handler = try makeServerHandler(context: context, configuration: configuration)
            try channel.pipeline.syncOperations.addHandlers([handler, TLSErrorLog(logger)])
        }.flatMap {
            base.setup(channel: channel, logger: logger)
        }
    }

    func handle(value: Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}
