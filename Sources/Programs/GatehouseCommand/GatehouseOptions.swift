// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CommandSupport
internal import LoginConf
internal import Passwords
internal import RealmConfiguration
internal import RealmKit
internal import Sessions
internal import Store
internal import Throttle

/// The arguments of `gatehouse`.
///
/// Every subcommand has a `commandName`. Without it, the argument parser would find the name by reflection, for all
/// subcommands at each start: 4 of 24 milliseconds.
struct GatehouseOptions: CommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "gatehouse",
        abstract: "An authentication server: it protects web applications with realms of users.",
        discussion: """
            Exit status: 0 success, 1 the command failed, 2 wrong arguments, 3 wrong configuration, \
            4 a realm or the store is not available now, 5 success, but the output could not be written.
            """,
        version: CommandProcess.version(of: "gatehouse"),
        subcommands: [
            Init.self, Serve.self, Check.self, Health.self, Explain.self, Prove.self, User.self, RealmTests.self,
            Hash.self,
            Lockouts.self, Sessions.self, Message.self, Log.self, TranslationTexts.self,
        ]
    )
}

/// A command that has subcommands and does nothing itself.
protocol CommandGroup: ParsableCommand {}

/// A subcommand of `gatehouse`, with its arguments.
protocol Subcommand: ParsableCommand {
    /// Runs the subcommand, with the types of realms and modules that the program contains; an error of any kind becomes a
    /// ``CommandError``.
    func perform(_ kinds: [RealmKind]) async throws
}

struct CommandError: Error {
    enum Status: Int32 {
        case failed = 1
        case usage = 2
        case configuration = 3
        case unavailable = 4
        /// The command has succeeded, but its output could not be written.
        case unwritten = 5
    }

    let status: Status
    /// The message for standard error; empty if the command has already written a message.
    let message: String

    init(_ status: Status, _ message: String) { (self.status, self.message) = (status, message) }

    static func usage(_ message: String) -> CommandError { CommandError(.usage, message) }

    /// The end of a command by an error of what it has called.
    init(_ error: any Error) {
        switch error {
        case let error as CommandError: self = error
        case let error as ConfigurationErrors: self.init(.configuration, error.description)
        case let error as RealmError:
            switch error.code {
            case .noSuchRealm: self.init(.configuration, error.message)
            case .noSuchUser, .userExists, .invalidOperation: self.init(.failed, error.message)
            case .unavailable, .overloaded: self.init(.unavailable, error.message)
            }
        case let error as StoreFault: self.init(.unavailable, error.description)
        case let error as SessionStoreError: self.init(.unavailable, error.message)
        case let error as ThrottleStoreError: self.init(.unavailable, error.message)
        case let error as HashFault: self.init(.failed, error.description)
        default: self.init(.failed, "\(error)")
        }
    }
}

/// A word that names no subcommand, such as `users` in `gatehouse users list` or `-Dx=y` in `gatehouse -Dx=y check`.
enum UnknownSubcommand {
    /// Returns the message for the first unknown subcommand; nil if all are known, or if help is asked for.
    static func message(_ arguments: [String], of root: any ParsableCommand.Type) -> String? {
        var command = root
        var path = [root._commandName]
        for argument in arguments {
            let subcommands = command.configuration.subcommands
            guard !subcommands.isEmpty, !isHelp(argument), !(path.count == 1 && argument == "help") else { return nil }
            guard let next = subcommands.first(where: { $0._commandName == argument }) else {
                return message(about: argument, after: path, known: subcommands.map { $0._commandName })
            }
            path.append(argument)
            command = next
        }
        return nil
    }

    private static func isHelp(_ argument: String) -> Bool {
        ["-h", "--help", "-help", "--help-hidden", "--version", "--experimental-dump-help"].contains(argument)
            || argument.hasPrefix("--generate-completion-script") || argument.hasPrefix("---completion")
    }

    private static func message(about word: String, after path: [String], known: [String]) -> String {
        let command = path.joined(separator: " ")
        guard !word.hasPrefix("-") else {
            return """
                Error: \(command) needs a subcommand before '\(word)'.
                Subcommands: \(known.joined(separator: ", "))
                  See '\(command) --help' for more information.
                """
        }
        guard word != "help" else {
            let rest = path.dropFirst().joined(separator: " ")
            return "Error: write '\(path[0]) help \(rest)' or '\(command) --help'."
        }
        let nearest = NearestName.suggest(word, among: known).map { " Did you mean '\(command) \($0)'?" } ?? ""
        return """
            Error: \(command) has no subcommand '\(word)'.\(nearest)
            Subcommands: \(known.joined(separator: ", "))
              See '\(command) --help' for more information.
            """
    }
}
