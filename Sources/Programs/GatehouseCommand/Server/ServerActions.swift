// SPDX-License-Identifier: Apache-2.0

internal import CommandSupport
internal import ConfiguredTLS
internal import Gatehouse
internal import Glibc
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
        let services = GatehouseCommand.services(.checkOnly, log: GatehouseCommand.realmLog)
        let configuration = try GatehouseCommand.load(options, kinds: kinds, services: services, showsWarnings: true)
        do throws(ConfigurationErrors) {
            let tls = try ServerTLS.check(configuration.server, files: .system, clock: .system)
            let storeWarning = try Self.checkStore(of: configuration)
            try Self.checkStateFolder(of: configuration)
            let expiring = ExpiringCertificates(configuration, files: .system).warnings(at: .system)
            let others = (tls?.warnings ?? []) + [storeWarning, configuration.emptinessWarning].compactMap(\.self)
            for warning in expiring + others {
                GatehouseCommand.print(DiagnosticColors.standardError(warning.rendered), on: STDERR_FILENO)
            }
            GatehouseCommand.print(ConfigurationSummary.text(configuration, tls: tls), on: STDOUT_FILENO)
        } catch {
            throw CommandError(.configuration, error.description)
        }
        if connect { try await RealmTest.runAll(configuration) }
        for warning in await UnknownGroups.warnings(configuration, connects: connect) {
            GatehouseCommand.print(DiagnosticColors.standardError(Printable.text(warning.rendered)), on: STDERR_FILENO)
        }
    }

    /// Checks that an existing store can be opened; a missing store is not created.
    ///
    /// The store is checked even if no realm uses it, because the server keeps locks and sessions in it.
    ///
    /// - Returns: A warning about a store that the next start upgrades.
    private static func checkStore(of configuration: Configuration) throws(ConfigurationErrors) -> Diagnostic? {
        guard let store = configuration.services[LazyStore.self] else { return nil }
        do throws(StoreFault) {
            _ = try store.present()
            guard store.isOfOlderVersion else { return nil }
            return configuration.server.stateFolder.warning(
                "the store in \(store.folder) is of an older version; the next start of gatehouse serve upgrades it",
                hint: "older versions of gatehouse cannot open it after that; make a backup first"
            )
        } catch {
            throw configuration.server.stateFolder.errors(error.description)
        }
    }

    /// Checks that a missing state folder can be created; nothing is created.
    ///
    /// The user of this command may have fewer rights than that of the server. Missing rights are therefore a warning.
    private static func checkStateFolder(of configuration: Configuration) throws(ConfigurationErrors) {
        let folder = configuration.server.stateFolder
        switch StateFolder.creationFault(of: folder.value) {
        case nil:
            // The server of this user would refuse it, with these words.
            guard let reason = StateFolder.ownerFault(of: folder.value) else { break }
            let warning = folder.warning("the state folder cannot be used: \(reason)")
            GatehouseCommand.print(DiagnosticColors.standardError(Printable.text(warning.rendered)), on: STDERR_FILENO)
        case .impossible(let reason):
            throw folder.errors("the state folder \(folder.value) cannot be created: \(reason)")
        case .notPermitted(let reason):
            let warning = folder.warning(
                "this user cannot create the state folder \(folder.value): \(reason)",
                hint: "the server must run as a user who can, or the folder must exist and belong to that user"
            )
            GatehouseCommand.print(DiagnosticColors.standardError(Printable.text(warning.rendered)), on: STDERR_FILENO)
        }
    }
}

extension GatehouseOptions.Serve: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        ServeSignals.install()
        var serviceManager = ServiceManager.none
        do throws(CommandError) {
            serviceManager = try Self.serviceManager()
            serviceManager.notify(.status("reading the configuration and the sessions"))
            try await serve(kinds, serviceManager: serviceManager)
        } catch {
            if let reason = error.message.split(separator: "\n").first {
                serviceManager.notify(.status(String(reason)))
            }
            // The process must end even if no program reads its standard error.
            Self.report(error.message)
            throw CommandError(error.status, "")
        }
    }

    /// Returns diagnostics with the lines of the configuration if standard error is a terminal, and for a log otherwise.
    private static func text(_ diagnostics: [Diagnostic]) -> String {
        let isTerminal = isatty(STDERR_FILENO) == 1
        return diagnostics.map { isTerminal ? $0.rendered : $0.logLine }.joined(separator: "\n")
    }

    /// Writes to standard error without blocking.
    private static func report(_ text: String) {
        for line in Printable.text(text).split(separator: "\n") { LineWriter.standardError.write(String(line)) }
    }

    private static func serviceManager() throws(CommandError) -> ServiceManager {
        do throws(ServiceManagerFault) {
            return try ServiceManager.ofThisProcess()
        } catch {
            throw CommandError(.configuration, error.description)
        }
    }

    private func serve(_ kinds: [RealmKind], serviceManager: ServiceManager) async throws(CommandError) {
        LoggingSystem.bootstrap { label in LineLogHandler(label: label) }
        let logger = Logger(label: "gatehouse")
        for warning in serviceManager.warnings { logger.warning("\(warning)") }
        let services = GatehouseCommand.services(.createIfMissing, log: RealmLog(logger))
        let configuration = try GatehouseCommand.load(
            options,
            kinds: kinds,
            services: services,
            showsWarnings: true,
            text: Self.text,
            warn: Self.report
        )
        let server: GatehouseServer
        do throws(ConfigurationErrors) {
            server = try GatehouseServer(
                configuration,
                files: .system,
                logger: logger,
                accessLog: AccessLogLines(),
                serviceManager: serviceManager,
                onListening: { address in
                    LineWriter.standardOutput.write("listening on \(address)")
                    ServeSignals.deliverEarlyHangup()
                },
                reload: { () throws(ConfigurationErrors) in try options.load(kinds, services: services) }
            )
        } catch {
            throw CommandError(.configuration, Self.text(error.diagnostics))
        }
        for warning in server.tls.warnings + [configuration.emptinessWarning].compactMap(\.self) {
            Self.report(Self.text([warning]))
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
            throw CommandError(.configuration, text(errors.diagnostics))
        } catch {
            throw CommandError(.failed, "the server has ended: \(error)")
        }
    }
}
