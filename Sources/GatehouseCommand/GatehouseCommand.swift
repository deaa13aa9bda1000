// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import ArgumentParser
internal import CommandOptions
internal import Gatehouse
internal import Glibc
internal import Logging
internal import LoginConf
internal import RealmConfiguration
public import RealmKit

/// The command `gatehouse`: serves, and checks configurations.
public enum GatehouseCommand {
    /// Runs the command with the process's arguments and ends the process.
    ///
    /// The exit status is 0 when all went well, 2 when the arguments are wrong, 3 when the configuration is, or when
    /// something it names cannot be had.
    ///
    /// - Parameter kinds: The types of realms and modules that are linked in.
    public static func main(_ kinds: [RealmKind]) async -> Never {
        let status = await run(Array(CommandLine.arguments.dropFirst()), kinds)
        LineWriter.standardOutput.flush()
        LineWriter.standardError.flush()
        exit(status)
    }

    static func run(_ arguments: [String], _ kinds: [RealmKind]) async -> Int32 {
        var command: any ParsableCommand
        do {
            command = try GatehouseOptions.parseAsRoot(arguments)
            // Whatever is no command of ours is one of the parser's, such as help.
            if !(command is GatehouseOptions.Serve || command is GatehouseOptions.Check) {
                guard !arguments.isEmpty else {
                    print(GatehouseOptions.helpMessage(), on: STDERR_FILENO)
                    return 2
                }
                try command.run()
            }
        } catch {
            let isHelp = GatehouseOptions.exitCode(for: error) == .success
            print(GatehouseOptions.fullMessage(for: error), on: isHelp ? STDOUT_FILENO : STDERR_FILENO)
            return isHelp ? 0 : 2
        }
        do throws(ConfigurationErrors) {
            switch command {
            case let command as GatehouseOptions.Serve: try await serve(command.options, kinds)
            case let command as GatehouseOptions.Check: try check(command.options, kinds)
            default: break
            }
            return 0
        } catch {
            print(error.description, on: STDERR_FILENO)
            return 3
        }
    }

    private static func load(
        _ options: ConfigurationOptions,
        _ kinds: [RealmKind]
    ) throws(ConfigurationErrors) -> Configuration {
        let configuration = try options.load(kinds)
        for warning in configuration.warnings { print(warning.rendered, on: STDERR_FILENO) }
        return configuration
    }

    private static func check(_ options: ConfigurationOptions, _ kinds: [RealmKind]) throws(ConfigurationErrors) {
        let configuration = try load(options, kinds)
        let tls = try ServerTLS.check(configuration.server, files: .system)
        print(Outline.text(configuration, tls: tls), on: STDOUT_FILENO)
    }

    private static func serve(_ options: ConfigurationOptions, _ kinds: [RealmKind]) async throws(ConfigurationErrors) {
        let configuration = try load(options, kinds)
        LoggingSystem.bootstrap { label in LineLogHandler(label: label) }
        let server = try GatehouseServer(
            configuration,
            files: .system,
            logger: Logger(label: "gatehouse"),
            accessLogger: Logger(label: "access"),
            onListening: { address in print("listening on \(address)", on: STDOUT_FILENO) },
            reload: { () throws(ConfigurationErrors) in try options.load(kinds) }
        )
        print(Outline.text(configuration, tls: server.tls), on: STDOUT_FILENO)
        try await server.run()
        // The last word, also where both streams are one file.
        LineWriter.standardError.flush()
        print("stopped", on: STDOUT_FILENO)
    }

    static func print(_ text: String, on descriptor: Int32) {
        (descriptor == STDERR_FILENO ? LineWriter.standardError : LineWriter.standardOutput).write(text)
    }
}
