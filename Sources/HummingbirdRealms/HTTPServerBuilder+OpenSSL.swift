// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Gatehouse
public import Hummingbird
internal import HummingbirdCore
internal import Logging
public import LoginConf
internal import NIOCore
internal import NIOOpenSSL
internal import OpenSSLKit
internal import RealmConfiguration

extension HTTPServerBuilder {
    /// HTTP/1.1 over TLS by the system's OpenSSL, with the certificates of realms.conf.
    ///
    /// The cookies of a session are sent over TLS alone. A server behind a proxy that has the TLS needs no other than
    /// `.http1()`.
    ///
    /// - Parameters:
    ///   - realms: The realms, whose `tls` block names the certificate; a development certificate is made if none is named.
    ///   - http1: What is set of HTTP; connections that do nothing are closed after a minute if nothing else is said.
    /// - Returns: The builder.
    /// - Throws: ``ConfigurationErrors`` at the place that names what cannot be used.
    public static func openSSL(
        _ realms: Realms,
        http1: HTTP1Channel.Configuration = HTTP1Channel.Configuration(idleTimeout: .seconds(60))
    ) throws(ConfigurationErrors) -> HTTPServerBuilder {
        let tls = try ServerTLS.load(
            realms.configuration.server,
            files: realms.files,
            applicationProtocols: ["http/1.1"]
        )
        for doubt in tls.doubts { realms.logger.warning("\(doubt)") }
        let context = tls.context
        return HTTPServerBuilder { responder in
            OpenSSLChannel(base: HTTP1Channel(responder: responder, configuration: http1), context: context)
        }
    }
}

/// A channel with TLS in front of it.
private struct OpenSSLChannel<Base: ServerChildChannel>: ServerChildChannel {
    let base: Base
    let context: TLSContext

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        channel.eventLoop.makeCompletedFuture {
            // Requests are framed by length, so a peer that leaves without a goodbye cuts nothing short.
            let configuration = OpenSSLHandlerConfiguration(
                halfCloseTimeout: .seconds(5),
                toleratesUncleanShutdown: true
            )
            let handler = try makeServerHandler(context: context, configuration: configuration)
            try channel.pipeline.syncOperations.addHandler(handler)
        }.flatMap {
            base.setup(channel: channel, logger: logger)
        }
    }

    func handle(value: Base.Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}
