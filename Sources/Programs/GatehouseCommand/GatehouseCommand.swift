// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CommandSupport
internal import Glibc
internal import LoginConf
internal import Prover
internal import RealmConfiguration
public import RealmKit
internal import Store
internal import Synchronization

/// The command `gatehouse`: serves, checks configurations, and manages users, sessions and locks.
public enum GatehouseCommand {
    /// Runs the command with the process's arguments and ends the process.
    ///
    /// Other processes of the user cannot read the memory of this one.
    ///
    /// The exit status:
    ///
    /// - 0: the command has succeeded.
    /// - 1: the command has failed.
    /// - 2: the arguments are wrong.
    /// - 3: the configuration is wrong, or a file or another resource that it names cannot be used.
    /// - 4: a realm or the store is not available now.
    /// - 5: the command has succeeded, but its output could not be written.
    ///
    /// - Parameter kinds: The types of realms and modules that the program contains.
    public static func main(_ kinds: [RealmKind]) async -> Never {
        let status = await run(CommandProcess.arguments(), kinds: kinds)
        LineWriter.standardOutput.flush()
        LineWriter.standardError.flush()
        CommandProcess.end(status)
    }

    static func run(_ arguments: [String], kinds: [RealmKind]) async -> Int32 {
        let subcommand: any Subcommand
        do {
            var command = try GatehouseOptions.parseAsRoot(arguments)
            guard let ours = command as? any Subcommand else {
                // The subcommand is missing, or this is a command of the argument parser, such as `help`.
                if let group = type(of: command) as? any CommandGroup.Type {
                    print(GatehouseOptions.helpMessage(for: group), on: STDERR_FILENO)
                    return 2
                }
                try command.run()
                return 0
            }
            subcommand = ours
        } catch {
            let isHelp = GatehouseOptions.exitCode(for: error) == .success
            // The message quotes the arguments, so control characters must be replaced.
            let full = GatehouseOptions.fullMessage(for: error)
            let message =
                isHelp
                ? full
                : UnknownSubcommand.message(arguments, of: GatehouseOptions.self)
                    ?? RejectedArgument.message(arguments, parser: full)
            print(Printable.text(message), on: isHelp ? STDOUT_FILENO : STDERR_FILENO)
            return isHelp ? 0 : 2
        }
        do {
            try await subcommand.perform(kinds)
            guard hasLostOutput.load(ordering: .relaxed) else { return 0 }
            print("the command has succeeded, but its output could not be written", on: STDERR_FILENO)
            return CommandError.Status.unwritten.rawValue
        } catch let end as ComparisonEnd {
            return end.result.rawValue
        } catch {
            let error = CommandError(error)
            if !error.message.isEmpty {
                print(DiagnosticColors.standardError(Printable.text(error.message)), on: STDERR_FILENO)
            }
            return error.status.rawValue
        }
    }

    static func services(_ access: StateAccess, log: RealmLog = .discarding) -> ProgramServices {
        ProgramServices(.store, access: access, log: log)
    }

    /// The log of realms: each message once, on one line of standard error.
    static var realmLog: RealmLog { .once { print(Printable.line($0), on: STDERR_FILENO) } }

    /// Reads the configuration, and shows how many warnings it has.
    static func load(
        _ options: ConfigurationOptions,
        kinds: [RealmKind],
        access: StateAccess,
        log: RealmLog = .discarding
    ) throws(ConfigurationErrors) -> Configuration {
        let configuration = try options.load(kinds, services: services(access, log: log))
        if let line = options.line(aboutWarningsOf: configuration) { print(line, on: STDERR_FILENO) }
        return configuration
    }

    static func warn(_ warning: Diagnostic) {
        print(DiagnosticColors.standardError(Printable.text(warning.rendered)), on: STDERR_FILENO)
    }

    /// True if standard output could not be written.
    private static let hasLostOutput = Atomic(false)

    /// Writes a line, and blocks while the reader of the stream does not read; a server must not, and has ``LineWriter``.
    static func print(_ text: String, on descriptor: Int32 = STDOUT_FILENO) {
        if !Output.write(text, to: descriptor), descriptor == STDOUT_FILENO {
            hasLostOutput.store(true, ordering: .relaxed)
        }
    }
}
