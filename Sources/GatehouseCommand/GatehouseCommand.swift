// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import ArgumentParser
internal import CommandOptions
internal import Glibc
internal import LentServices
internal import LoginConf
internal import RealmConfiguration
public import RealmKit
internal import Store
internal import Synchronization
internal import TerminalIO

/// The command `gatehouse`: serves, checks configurations, and looks after users.
public enum GatehouseCommand {
    /// Runs the command with the process's arguments and ends the process.
    ///
    /// The exit status is 0 when all went well, 1 when something could not be done, 2 when the arguments are wrong, 3 when
    /// the configuration is, or when something it names cannot be had, 4 when a realm or the store cannot be had now.
    ///
    /// - Parameter kinds: The types of realms and modules that are linked in.
    public static func main(_ kinds: [RealmKind]) async -> Never {
        let status = await run(Array(CommandLine.arguments.dropFirst()), kinds)
        LineWriter.standardOutput.flush()
        LineWriter.standardError.flush()
        exit(status)
    }

    static func run(_ arguments: [String], _ kinds: [RealmKind]) async -> Int32 {
        let action: any Action
        do {
            var command = try GatehouseOptions.parseAsRoot(arguments)
            guard let ours = command as? any Action else {
                // Whatever is no command of ours is a group of ours without one, or one of the parser's, such as help.
                if let group = type(of: command) as? any Group.Type {
                    print(GatehouseOptions.helpMessage(for: group), on: STDERR_FILENO)
                    return 2
                }
                try command.run()
                return 0
            }
            action = ours
        } catch {
            let isHelp = GatehouseOptions.exitCode(for: error) == .success
            // What was wrong with the arguments quotes them.
            let message = Printable.text(GatehouseOptions.fullMessage(for: error))
            print(message, on: isHelp ? STDOUT_FILENO : STDERR_FILENO)
            return isHelp ? 0 : 2
        }
        do throws(ActionFault) {
            try await action.perform(kinds)
            return hasLost.load(ordering: .relaxed) ? ActionFault.Status.failed.rawValue : 0
        } catch {
            if !error.message.isEmpty { print(Printable.text(error.message), on: STDERR_FILENO) }
            return error.status.rawValue
        }
    }

    /// Reads the configuration, and opens its store.
    static func loadStore(
        _ options: ConfigurationOptions,
        _ kinds: [RealmKind],
        _ mode: StoreSource.Mode
    ) throws(ActionFault) -> (Configuration, GatehouseStore) {
        let configuration = try load(options, kinds, ProgramServices(mode, log: RealmLog { _, _ in }))
        guard let source = configuration.services[StoreSource.self] else {
            throw ActionFault(.configuration, "this program has no store")
        }
        do throws(StoreFault) {
            return (configuration, try source.store())
        } catch {
            throw ActionFault(.unavailable, error.description)
        }
    }

    /// Reads the configuration, and shows its warnings.
    static func load(
        _ options: ConfigurationOptions,
        _ kinds: [RealmKind],
        _ services: ProgramServices
    ) throws(ActionFault) -> Configuration {
        do throws(ConfigurationErrors) {
            let configuration = try options.load(kinds, services)
            for warning in configuration.warnings { print(Printable.text(warning.rendered), on: STDERR_FILENO) }
            return configuration
        } catch {
            throw ActionFault(.configuration, error.description)
        }
    }

    /// Whether something that a command had to say could not be written.
    private static let hasLost = Atomic(false)

    /// Says something, waiting for whoever reads it: nothing of what was asked for gets lost, however long it is.
    static func print(_ text: String, on descriptor: Int32) {
        if !Output.write(text, to: descriptor) { hasLost.store(true, ordering: .relaxed) }
    }
}
