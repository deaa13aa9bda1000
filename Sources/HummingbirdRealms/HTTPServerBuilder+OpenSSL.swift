// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import ConfiguredTLS
public import Hummingbird
internal import HummingbirdCore
internal import Logging
public import LoginConf
internal import NIOCore
internal import NIOOpenSSL
internal import OpenSSLKit
internal import RealmConfiguration

extension HTTPServerBuilder {
    /// Returns a server for HTTP/1.1 over TLS by the system's OpenSSL, with the certificates of realms.conf.
    ///
    /// Browsers send the cookies of a session over TLS only. Use `.http1()` for a server behind a proxy that terminates
    /// TLS.
    ///
    /// - Parameters:
    ///   - realms: The realms, whose `tls` block names the certificate. If it names none, a development certificate is
    ///     used.
    ///   - http1: The settings of HTTP/1.1; by default, idle connections are closed after 60 seconds.
    /// - Returns: The builder.
    /// - Throws: ``ConfigurationErrors`` with the line of the setting that cannot be used.
    public static func openSSL(
        _ realms: Realms,
        http1: HTTP1Channel.Configuration = HTTP1Channel.Configuration(idleTimeout: .seconds(60))
    ) throws(ConfigurationErrors) -> HTTPServerBuilder {
        let tls = try ServerTLS.load(
            realms.configuration.server,
            files: realms.files,
            applicationProtocols: ["http/1.1"]
        )
        for warning in tls.warnings { realms.logger.warning("\(warning)") }
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
            // HTTP/1.1 delimits requests itself, so a peer that closes without `close_notify` truncates none.
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
