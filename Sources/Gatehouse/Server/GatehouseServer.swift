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
/// lets requests that have begun finish. SIGHUP has the configuration read again.
public struct GatehouseServer: Sendable {
    /// How long requests that have begun may go on after a signal to stop: 10 seconds.
    public static let drainTime = Duration.seconds(10)

    /// The certificates and everything else TLS is made of.
    public let tls: ServerTLS
    private let configuration: Configuration
    private let files: ConfigurationFiles
    private let logger: Logger
    private let accessLogger: Logger
    private let onListening: @Sendable (String) -> Void
    private let reload: @Sendable () throws(ConfigurationErrors) -> Configuration
    private let signIn: SignInService

    /// A server for a configuration.
    ///
    /// - Parameters:
    ///   - configuration: Realms, rules and settings.
    ///   - files: Where the certificate's files come from.
    ///   - logger: Where the server says what happens to it.
    ///   - accessLogger: Where a line is written for every request.
    ///   - onListening: Told each address when the server listens there, as in `https://127.0.0.1:8443`.
    ///   - reload: Reads the configuration again, at SIGHUP.
    /// - Throws: ``ConfigurationErrors`` when the certificate, its key or the state folder cannot be used.
    public init(
        _ configuration: Configuration,
        files: ConfigurationFiles,
        logger: Logger,
        accessLogger: Logger,
        onListening: @escaping @Sendable (String) -> Void,
        reload: @escaping @Sendable () throws(ConfigurationErrors) -> Configuration
    ) throws(ConfigurationErrors) {
        tls = try ServerTLS.load(
            configuration.server,
            files: files,
            applicationProtocols: (configuration.server.hasHTTP2 ? ["h2"] : []) + ["http/1.1", "http/1.0"]
        )
        signIn = try SignInService(configuration, logger: logger)
        self.configuration = configuration
        self.files = files
        self.logger = logger
        self.accessLogger = accessLogger
        self.onListening = onListening
        self.reload = reload
    }

    /// Listens until the process is told to stop.
    ///
    /// - Throws: ``ConfigurationErrors`` when an address cannot be listened on; then it listens on none.
    public func run() async throws(ConfigurationErrors) {
        let threads = configuration.server.threads ?? Processors.count
        let limits = DescriptorLimit.limits(
            HTTPLimits(configuration.server.limits),
            threads: threads,
            listeners: configuration.server.listen.count
        )
        let group = MultiThreadedEventLoopGroup(numberOfThreads: threads)
        let result = await serve(group, limits)
        do {
            try await group.shutdownGracefully()
        } catch {
            logger.notice("the event loops did not end", metadata: ["error": "\(error)"])
        }
        try result.get()
    }

    private func serve(
        _ group: MultiThreadedEventLoopGroup,
        _ limits: HTTPLimits
    ) async -> Result<Void, ConfigurationErrors> {
        let contexts = TLSContextSource(tls.context)
        let server: Server
        do throws(ConfigurationErrors) {
            try await signIn.restore(configuration)
        } catch {
            return .failure(error)
        }
        do {
            server = try await makeServer(group, limits, contexts)
        } catch {
            return .failure(configuration.server.stateFolder.errors("the server cannot be set up: \(error)"))
        }
        // Before anything is said, so that whoever hears it can send one.
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
        // Nothing is served before all addresses can be had.
        var channels: [any Channel] = []
        for address in configuration.server.listen {
            do {
                channels.append(try await server.listen(host: address.host, port: address.port))
            } catch {
                await stop(server, channels)
                return .failure(ListenerErrors.errors(error, address))
            }
        }
        for (channel, address) in zip(channels, configuration.server.listen) {
            let port = channel.localAddress?.port ?? address.port
            onListening("https://\(ServerSettings.Address(host: address.host, port: port))")
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await signIn.run() }
            var snapshot = Snapshot(configuration: configuration, tls: tls)
            for await signal in signals {
                guard signal == .sighup else { break }
                snapshot = await reloaded(snapshot, server, contexts)
            }
            await stop(server, channels)
            group.cancelAll()
        }
        return .success(())
    }

    /// What is in force.
    private struct Snapshot {
        let configuration: Configuration
        let tls: ServerTLS
    }

    /// Reads everything again and puts it in force as a whole, or leaves everything as it is.
    ///
    /// Connections go on; their next requests are answered by the new rules and realms, new connections shown the new
    /// certificates. Credentials that were accepted before are checked anew. Where client certificates are asked for, the
    /// connections there are end after the requests that have begun on them.
    private func reloaded(_ before: Snapshot, _ server: Server, _ contexts: TLSContextSource) async -> Snapshot {
        do {
            let configuration = try reload()
            guard configuration.server.stateFolder.value == self.configuration.server.stateFolder.value else {
                // Users would be those of one store, and their locks those of another.
                throw configuration.server.stateFolder.errors(
                    "the state folder cannot be another while the server runs"
                )
            }
            let tls = try before.tls.reloaded(configuration.server, files: files)
            await RealmWatch.prime(configuration.realms)
            let responder = try makeResponder(configuration, tls)
            signIn.state.noteReload()
            server.use(responder)
            await signIn.recheck(configuration)
            contexts.replace(with: tls.context)
            // What was asked of a client's certificate then may not be what is asked of it now.
            let asked = [before.configuration, configuration].map(\.server.tls.clientCertificates)
            if asked.contains(where: { $0 != .none }) { server.retireConnections() }
            for warning in configuration.warnings.map(\.rendered) + tls.doubts { logger.warning("\(warning)") }
            for name in Self.fixed(self.configuration.server, configuration.server) {
                logger.warning("\(name) is another now; that takes a restart")
            }
            logger.notice("the configuration was read again")
            return Snapshot(configuration: configuration, tls: tls)
        } catch {
            logger.error("the configuration stays as it was:\n\(error)")
            return before
        }
    }

    /// The names of settings that are read at the start only, where they differ.
    private static func fixed(_ start: ServerSettings, _ now: ServerSettings) -> [String] {
        var names: [String] = []
        if start.listen.map(\.value) != now.listen.map(\.value) { names.append("listen") }
        if start.threads != now.threads { names.append("threads") }
        if start.limits != now.limits { names.append("limits") }
        if start.throttle != now.throttle { names.append("throttle") }
        if start.signIn.time != now.signIn.time || start.signIn.waiting != now.signIn.waiting {
            names.append("time or waiting of sign-in")
        }
        return names
    }

    private func makeResponder(_ configuration: Configuration, _ tls: ServerTLS) throws -> GatehouseResponder {
        let settings = configuration.server
        let reception = try signIn.reception(configuration, isTrusted: !tls.certificate.isDevelopment)
        let hasForm = configuration.rules.contains { $0.schemes.contains(.form) }
        return GatehouseResponder(
            gate: reception.gate,
            portal: hasForm ? reception.portal : nil,
            shelf: reception.shelf,
            trusted: settings.trustedProxies,
            log: AccessLog(accessLogger, clock: SystemClock(), isOn: settings.hasAccessLog),
            asksClients: settings.tls.clientCertificates != .none
        )
    }

    private func makeServer(
        _ group: MultiThreadedEventLoopGroup,
        _ limits: HTTPLimits,
        _ contexts: TLSContextSource
    ) async throws -> Server {
        let logger = logger
        return try await Server(
            group: group,
            limits: limits,
            responder: try makeResponder(configuration, tls),
            clock: { Int(time(nil)) },
            makeTLS: {
                try makeServerHandler(
                    context: contexts.current,
                    // Requests are framed by length, so a peer that leaves without a goodbye cuts nothing short. The
                    // deadlines are the server's, which looks after all connections at once.
                    configuration: OpenSSLHandlerConfiguration(handshakeTimeout: nil, toleratesUncleanShutdown: true)
                )
            },
            onError: { error, connection in ConnectionErrors.log(error, connection, logger) }
        )
    }

    /// Lets what has begun finish, but not for ever.
    private func stop(_ server: Server, _ channels: [any Channel]) async {
        for channel in channels { channel.close(promise: nil) }
        // Event streams would never end by themselves.
        signIn.close()
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
