// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc
internal import Hummingbird
internal import HummingbirdCore
public import Logging
public import LoginConf
internal import NIOCore
internal import NIOOpenSSL
internal import NIOPosix
internal import OpenSSLKit
public import RealmConfiguration
internal import ServiceLifecycle
internal import UnixSignals

/// A TLS server that protects web endpoints with realms.
///
/// Making one checks everything that can be checked and binds nothing; ``run()`` listens until SIGTERM or SIGINT, then
/// lets requests that have begun finish.
public struct GatehouseServer: Sendable {
    /// How long requests that have begun may go on after a signal to stop: 10 seconds.
    public static let drainTime = Duration.seconds(10)

    /// How long a connection may be silent: 60 seconds.
    public static let idleTime = Duration.seconds(60)

    /// The certificate that is shown.
    public let certificate: ServerCertificate
    private let configuration: Configuration
    private let context: TLSContext
    private let logger: Logger
    private let accessLogger: Logger
    private let onListening: @Sendable (String) -> Void

    /// A server for a configuration.
    ///
    /// - Parameters:
    ///   - configuration: Realms, rules and settings.
    ///   - files: Where the certificate's files come from.
    ///   - logger: Where the server says what happens to it.
    ///   - accessLogger: Where a line is written for every request.
    ///   - onListening: Told each address when the server listens there, as in `https://127.0.0.1:8443`.
    /// - Throws: ``ConfigurationErrors`` when the certificate, its key or the state folder cannot be used.
    public init(
        _ configuration: Configuration,
        files: ConfigurationFiles,
        logger: Logger,
        accessLogger: Logger,
        onListening: @escaping @Sendable (String) -> Void
    ) throws(ConfigurationErrors) {
        let tls = try ServerTLS.load(configuration.server, files: files)
        certificate = tls.certificate
        context = tls.context
        self.configuration = configuration
        self.logger = logger
        self.accessLogger = accessLogger
        self.onListening = onListening
    }

    /// Listens until the process is told to stop.
    ///
    /// - Throws: ``ConfigurationErrors`` when an address cannot be listened on; then it listens on none.
    public func run() async throws(ConfigurationErrors) {
        // All addresses are tried before one is served, so that nothing starts where not everything can.
        for address in configuration.server.listen {
            do {
                let socket = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .serverChannelOption(ChannelOptions.socketOption(.so_reuseaddr), value: 1)
                    .bind(host: address.host, port: address.port).get()
                try await socket.close().get()
            } catch {
                throw ListenerErrors.errors(error, address)
            }
        }
        let failures = ListenFailures()
        let applications = configuration.server.listen.map { address in
            Listener(application: application(address), address: address, failures: failures)
        }
        var group = ServiceGroupConfiguration(
            services: applications,
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: Logger(label: "gatehouse.services") { _ in SwiftLogNoOpLogHandler() }
        )
        group.maximumGracefulShutdownDuration = Self.drainTime
        do {
            try await ServiceGroup(configuration: group).run()
        } catch {
            if let failure = failures.first { throw failure }
            // The drain time was over; connections that were still open have been closed.
            logger.notice("not every request ended in time", metadata: ["error": "\(error)"])
        }
    }

    /// How many connections one address takes at a time: what the process may have open, less a reserve, shared out.
    ///
    /// Beyond that, connections wait to be accepted; without a bound the process would run out of descriptors.
    private var connectionLimit: Int {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 256 }
        let open = Int(clamping: limit.rlim_cur)
        return max(8, (open - min(64, open / 4)) / max(1, configuration.server.listen.count))
    }

    private func application(_ address: Placed<ServerSettings.Address>) -> some Service {
        let responder = GatehouseResponder(configuration, isTrusted: !certificate.isDevelopment, logger: accessLogger)
        let context = context
        let onListening = onListening
        var quiet = logger
        quiet.logLevel = max(quiet.logLevel, .notice)
        return Application(
            responder: responder,
            server: HTTPServerBuilder { responder in
                OpenSSLChannel(
                    base: HTTP1Channel(
                        responder: responder,
                        configuration: HTTP1Channel.Configuration(
                            additionalChannelHandlers: [RequestLimits()],
                            idleTimeout: .nanoseconds(Self.idleTime.nanoseconds)
                        )
                    ),
                    context: context,
                    // Requests are framed by length, so a peer that leaves without a goodbye cuts nothing short.
                    configuration: OpenSSLHandlerConfiguration(
                        halfCloseTimeout: .seconds(5),
                        toleratesUncleanShutdown: true
                    )
                )
            },
            configuration: ApplicationConfiguration(
                address: .hostname(address.host, port: address.port),
                availableConnectionsDelegate: MaximumAvailableConnections(connectionLimit)
            ),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? address.port
                onListening("https://\(ServerSettings.Address(host: address.host, port: port))")
            },
            logger: quiet
        )
    }
}

extension Duration {
    fileprivate var nanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }
}
