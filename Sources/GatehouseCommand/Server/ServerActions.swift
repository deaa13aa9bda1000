// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import CommandSupport
internal import ConfiguredTLS
internal import Gatehouse
internal import Glibc
internal import HostServices
internal import Logging
internal import LoginConf
internal import RealmConfiguration
internal import RealmKit
internal import ServiceLifecycle
internal import SignIn
internal import Store
internal import UnixSignals

extension GatehouseOptions.Check: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        let services = GatehouseCommand.services(.existingOnly, log: GatehouseCommand.realmLog)
        let configuration = try GatehouseCommand.load(options, kinds: kinds, services: services)
        do throws(ConfigurationErrors) {
            let tls = try ServerTLS.check(configuration.server, files: .system)
            try Self.checkStore(of: configuration)
            GatehouseCommand.print(ConfigurationSummary.text(configuration, tls: tls), on: STDOUT_FILENO)
        } catch {
            throw CommandError(.configuration, error.description)
        }
    }

    /// Checks that an existing store can be opened; a missing store is not created.
    ///
    /// The store is checked even if no realm uses it, because the server keeps locks and sessions in it.
    private static func checkStore(of configuration: Configuration) throws(ConfigurationErrors) {
        do throws(StoreFault) {
            _ = try configuration.services[LazyStore.self]?.store()
        } catch {
            throw configuration.server.stateFolder.errors(error.description)
        }
    }
}

extension GatehouseOptions.Serve: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        ServeSignals.install()
        do throws(CommandError) {
            try await serve(kinds)
        } catch {
            // The process must end even if no program reads its standard error.
            Self.report(error.message)
            throw CommandError(error.status, "")
        }
    }

    /// Writes to standard error without blocking.
    private static func report(_ text: String) {
        for line in Printable.text(text).split(separator: "\n") { LineWriter.standardError.write(String(line)) }
    }

    private func serve(_ kinds: [RealmKind]) async throws(CommandError) {
        LoggingSystem.bootstrap { label in LineLogHandler(label: label) }
        let logger = Logger(label: "gatehouse")
        let services = GatehouseCommand.services(.createIfMissing, log: RealmLog(logger))
        let configuration = try GatehouseCommand.load(options, kinds: kinds, services: services, warn: Self.report)
        let server: GatehouseServer
        do throws(ConfigurationErrors) {
            server = try GatehouseServer(
                configuration,
                files: .system,
                logger: logger,
                accessLogger: Logger(label: "access"),
                onListening: { address in
                    LineWriter.standardOutput.write("listening on \(address)")
                    ServeSignals.deliverEarlyHangup()
                },
                reload: { () throws(ConfigurationErrors) in try options.load(kinds, services: services) }
            )
        } catch {
            throw CommandError(.configuration, error.description)
        }
        LineWriter.standardOutput.write(ConfigurationSummary.text(configuration, tls: server.tls))
        try await Self.run(server, logger: logger)
        // Standard error is flushed first, so that `stopped` is the last line even if both streams go to one file.
        LineWriter.standardError.flush()
        LineWriter.standardOutput.write("stopped")
    }

    /// Runs a server until SIGTERM or SIGINT, and then shuts it down gracefully.
    private static func run(_ server: GatehouseServer, logger: Logger) async throws(CommandError) {
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [server],
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: logger
            )
        )
        do {
            try await group.run()
        } catch let errors as ConfigurationErrors {
            throw CommandError(.configuration, errors.description)
        } catch {
            throw CommandError(.failed, "the server has ended: \(error)")
        }
    }
}
