// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import CommandOptions
internal import Gatehouse
internal import Glibc
internal import LentServices
internal import Logging
internal import LoginConf
internal import RealmConfiguration
internal import RealmKit
internal import Store
internal import TerminalIO

extension GatehouseOptions.Check: Action {
    func perform(_ kinds: [RealmKind]) async throws(ActionFault) {
        let log = RealmLog.once { GatehouseCommand.print(Printable.text($0), on: STDERR_FILENO) }
        let configuration = try GatehouseCommand.load(options, kinds, ProgramServices(.look, log: log))
        do throws(ConfigurationErrors) {
            let tls = try ServerTLS.check(configuration.server, files: .system)
            GatehouseCommand.print(Outline.text(configuration, tls: tls), on: STDOUT_FILENO)
        } catch {
            throw ActionFault(.configuration, error.description)
        }
    }
}

extension GatehouseOptions.Serve: Action {
    func perform(_ kinds: [RealmKind]) async throws(ActionFault) {
        LoggingSystem.bootstrap { label in LineLogHandler(label: label) }
        let logger = Logger(label: "gatehouse")
        let services = ProgramServices(.make, log: RealmLog(logger))
        let configuration = try GatehouseCommand.load(options, kinds, services)
        do throws(ConfigurationErrors) {
            let server = try GatehouseServer(
                configuration,
                files: .system,
                logger: logger,
                accessLogger: Logger(label: "access"),
                onListening: { address in LineWriter.standardOutput.write("listening on \(address)") },
                reload: { () throws(ConfigurationErrors) in try options.load(kinds, services) }
            )
            LineWriter.standardOutput.write(Outline.text(configuration, tls: server.tls))
            try await server.run()
        } catch {
            throw ActionFault(.configuration, error.description)
        }
        // The last word, also where both streams are one file.
        LineWriter.standardError.flush()
        LineWriter.standardOutput.write("stopped")
    }
}
