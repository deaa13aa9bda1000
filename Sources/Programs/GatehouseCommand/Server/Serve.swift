// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
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
internal import Synchronization
internal import UnixSignals

extension GatehouseOptions {
    struct Serve: Subcommand {
        static let configuration = CommandConfiguration(
            commandName: "serve",
            abstract: "Serve until SIGTERM or SIGINT."
        )

        @OptionGroup var options: ConfigurationOptions

        func perform(_ kinds: [RealmKind]) async throws {
            ServeSignals.install()
            var serviceManager = ServiceManager.none
            do {
                serviceManager = try Result { () throws(ServiceManagerFault) in try ServiceManager.ofThisProcess() }
                    .mapError { CommandError(.configuration, $0.description) }.get()
                serviceManager.notify(.status("reading the configuration and the sessions"))
                try await serve(kinds, serviceManager: serviceManager)
            } catch {
                let error = CommandError(error)
                if let reason = error.message.split(separator: "\n").first {
                    serviceManager.notify(.status(String(reason)))
                }
                // The process must end even if no program reads its standard error.
                Self.report(error.message)
                throw CommandError(error.status, "")
            }
        }

        /// The diagnostics with the lines of the configuration if standard error is a terminal, and for a log otherwise.
        private static func text(_ diagnostics: [Diagnostic]) -> String {
            let isTerminal = isatty(STDERR_FILENO) == 1
            return diagnostics.map { isTerminal ? $0.rendered : $0.logLine }.joined(separator: "\n")
        }

        /// Writes to standard error without blocking.
        private static func report(_ text: String) {
            for line in Printable.text(text).split(separator: "\n") { LineWriter.standardError.write(String(line)) }
        }

        private func serve(_ kinds: [RealmKind], serviceManager: ServiceManager) async throws {
            LoggingSystem.bootstrap { label in LineLogHandler(label: label) }
            let logger = Logger(label: "gatehouse")
            for warning in serviceManager.warnings { logger.warning("\(warning)") }
            let services = GatehouseCommand.services(.createIfMissing, log: RealmLog(logger))
            let configuration: Configuration
            let server: GatehouseServer
            do throws(ConfigurationErrors) {
                configuration = try options.load(kinds, services: services)
                for warning in configuration.warnings { Self.report(Self.text([warning])) }
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
        private static func run(_ server: GatehouseServer, logger: Logger) async throws {
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
}

/// The signal handlers of the server process.
///
/// Until the configuration is read, SIGTERM and SIGINT end the process at once. From then on, they stop it gracefully.
/// SIGQUIT, and signals of faults such as SIGSEGV, have their default actions.
enum ServeSignals {
    /// The signals that are ignored: the server does not use them, and their default action would end the process.
    private static let ignored = [SIGPIPE, SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2, SIGIO, SIGPWR]

    /// True if a SIGHUP arrived before the server listened.
    private static let hasEarlyHangup = Atomic(false)

    /// Ignores the unused signals, and records a SIGHUP that arrives while the server starts.
    static func install() {
        // This initializes the variable. An initializer must not run in a signal handler.
        hasEarlyHangup.store(false, ordering: .relaxed)
        signal(SIGHUP) { _ in ServeSignals.hasEarlyHangup.store(true, ordering: .relaxed) }
        for number in ignored { signal(number, SIG_IGN) }
    }

    /// Sends a recorded SIGHUP again, after the server has installed its handler.
    static func deliverEarlyHangup() {
        if hasEarlyHangup.exchange(false, ordering: .relaxed) { kill(getpid(), SIGHUP) }
    }
}
