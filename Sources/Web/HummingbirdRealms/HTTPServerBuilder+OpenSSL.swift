// SPDX-License-Identifier: Apache-2.0

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
    /// Browsers send session cookies over TLS only. Use `.http1()` for a server behind a proxy that terminates TLS.
    ///
    /// - Parameters:
    ///   - realms: The realms. The `tls` block of their configuration names the certificate. If the block names no
    ///     certificate, a development certificate is used.
    ///   - http1: The settings of HTTP/1.1. By default, idle connections are closed after 60 seconds.
    /// - Returns: The builder of the server.
    /// - Throws: `ConfigurationErrors` with the lines of the settings that cannot be used.
    public static func openSSL(
        _ realms: Realms,
        http1: HTTP1Channel.Configuration = HTTP1Channel.Configuration(idleTimeout: .seconds(60))
    ) throws(ConfigurationErrors) -> HTTPServerBuilder {
        let tls = try ServerTLS.load(
            realms.configuration.server,
            files: realms.files,
            clock: .system,
            applicationProtocols: ["http/1.1"]
        )
        let expiring = ExpiringCertificates(realms.configuration, files: realms.files).warnings(at: .system)
        for warning in expiring + tls.warnings { realms.logger.warning("\(warning.logLine)") }
        let context = tls.context
        return HTTPServerBuilder { responder in
            OpenSSLChannel(base: HTTP1Channel(responder: responder, configuration: http1), context: context)
        }
    }
}

/// A channel that runs another channel over TLS.
private struct OpenSSLChannel<Base: ServerChildChannel>: ServerChildChannel {
    struct Value: ServerChildChannelValue {
        let base: Base.Value
        let certificate: ConnectionCertificate

        var channel: any Channel { base.channel }
    }

    let base: Base
    let context: TLSContext

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let certificate = ConnectionCertificate()
        return channel.eventLoop.makeCompletedFuture {
            // `close_notify` detects truncation. It is not required here, because HTTP/1.1 detects truncated requests.
            let configuration = OpenSSLHandlerConfiguration(
                halfCloseTimeout: .seconds(5),
                toleratesUncleanShutdown: true
            )
            let handler = try makeServerHandler(context: context, configuration: configuration)
            let recorder = HandshakeRecorder(handler, storingIn: certificate)
            try channel.pipeline.syncOperations.addHandlers([handler, recorder])
        }.flatMap {
            base.setup(channel: channel, logger: logger).map { Value(base: $0, certificate: certificate) }
        }
    }

    func handle(value: Value, logger: Logger) async {
        await ConnectionCertificate.$current.withValue(value.certificate) {
            await base.handle(value: value.base, logger: logger)
        }
    }
}
