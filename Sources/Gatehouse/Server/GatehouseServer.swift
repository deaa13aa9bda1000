// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc
internal import HTTPServer
public import Logging
public import LoginConf
internal import NIOCore
internal import NIOOpenSSL
internal import NIOPosix
internal import OpenSSLKit
public import RealmConfiguration
internal import UnixSignals

/// A TLS server that protects web endpoints with realms.
///
/// Making one checks everything that can be checked and binds nothing; ``run()`` listens until SIGTERM or SIGINT, then
/// lets requests that have begun finish.
public struct GatehouseServer: Sendable {
    /// How long requests that have begun may go on after a signal to stop: 10 seconds.
    public static let drainTime = Duration.seconds(10)

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
        let tls = try ServerTLS.load(
            configuration.server,
            files: files,
            applicationProtocols: (configuration.server.hasHTTP2 ? ["h2"] : []) + ["http/1.1", "http/1.0"]
        )
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
        let group = MultiThreadedEventLoopGroup(numberOfThreads: configuration.server.threads ?? Processors.count)
        let result = await serve(group)
        do {
            try await group.shutdownGracefully()
        } catch {
            logger.notice("the event loops did not end", metadata: ["error": "\(error)"])
        }
        try result.get()
    }

    private func serve(_ group: MultiThreadedEventLoopGroup) async -> Result<Void, ConfigurationErrors> {
        let server: Server
        do {
            server = try await makeServer(group)
        } catch {
            return .failure(configuration.server.stateFolder.errors("the server cannot be set up: \(error)"))
        }
        // Nothing is said, and no signal taken, before all addresses can be had.
        var channels: [any Channel] = []
        for address in configuration.server.listen {
            do {
                channels.append(try await server.listen(host: address.host, port: address.port))
            } catch {
                await stop(server, channels)
                return .failure(ListenerErrors.errors(error, address))
            }
        }
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        for (channel, address) in zip(channels, configuration.server.listen) {
            let port = channel.localAddress?.port ?? address.port
            onListening("https://\(ServerSettings.Address(host: address.host, port: port))")
        }
        for await _ in signals { break }
        await stop(server, channels)
        return .success(())
    }

    private func makeServer(_ group: MultiThreadedEventLoopGroup) async throws -> Server {
        let clock = SystemClock()
        let verified = try VerifiedCredentials(lifetime: configuration.server.credentialCache.nanoseconds)
        let gate = Gate(
            rules: ProtectionRules(configuration.rules),
            authenticator: configuration.authenticator,
            verified: verified,
            clock: clock
        )
        let responder = GatehouseResponder(
            gate: gate,
            shelf: PageShelf(configuration.rules, SecurityHeaders(isTrusted: !certificate.isDevelopment)),
            log: AccessLog(accessLogger, clock: clock, isOn: configuration.server.hasAccessLog)
        )
        let context = context
        let logger = logger
        return try await Server(
            group: group,
            limits: DescriptorLimit.limits(HTTPLimits(configuration.server.limits)),
            responder: responder,
            clock: { Int(time(nil)) },
            makeTLS: {
                try makeServerHandler(
                    context: context,
                    // Requests are framed by length, so a peer that leaves without a goodbye cuts nothing short. The
                    // deadlines are the server's, which looks after all connections at once.
                    configuration: OpenSSLHandlerConfiguration(toleratesUncleanShutdown: true)
                )
            },
            onError: { error, connection in ConnectionErrors.log(error, connection, logger) }
        )
    }

    /// Lets what has begun finish, but not for ever.
    private func stop(_ server: Server, _ channels: [any Channel]) async {
        for channel in channels { channel.close(promise: nil) }
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await server.drain()
                return true
            }
            group.addTask {
                do {
                    try await Task.sleep(for: Self.drainTime)
                    return false
                } catch {
                    return true
                }
            }
            if await group.next() == false { logger.notice("not every request ended in time") }
            // What is left is ended.
            group.cancelAll()
        }
    }
}

extension Duration {
    fileprivate var nanoseconds: UInt64 {
        UInt64(max(0, components.seconds)) * 1_000_000_000 + UInt64(max(0, components.attoseconds / 1_000_000_000))
    }
}
