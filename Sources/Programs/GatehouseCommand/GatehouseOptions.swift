// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CommandSupport
internal import GatehouseVersion
internal import LoginConf
internal import OpenSSLKit
internal import RealmKit

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
        version: BuildVersion.line("gatehouse") + "\n" + OpenSSLVersion.loaded,
        subcommands: [
            Init.self, Serve.self, Check.self, Health.self, Explain.self, User.self, RealmTests.self, Hash.self,
            Lockouts.self, Sessions.self, Message.self, Log.self, TranslationTexts.self,
        ]
    )
}

/// A command that has subcommands and does nothing itself.
protocol CommandGroup: ParsableCommand {}

/// A subcommand of `gatehouse`, with its arguments.
protocol Subcommand: ParsableCommand {
    /// Runs the subcommand.
    ///
    /// - Parameter kinds: The types of realms and modules that the program contains.
    /// - Throws: ``CommandError`` when it fails.
    func perform(_ kinds: [RealmKind]) async throws(CommandError)
}

/// The failure of a command.
struct CommandError: Error {
    /// The exit status of the command.
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

    init(_ status: Status, _ message: String) {
        self.status = status
        self.message = message
    }

    init(_ error: RealmError) {
        switch error.code {
        case .noSuchRealm: self.init(.configuration, error.message)
        case .noSuchUser, .userExists, .invalidOperation: self.init(.failed, error.message)
        case .unavailable, .overloaded: self.init(.unavailable, error.message)
        }
    }
}

/// A word that names no subcommand, such as `users` in `gatehouse users list` or `-Dx=y` in `gatehouse -Dx=y check`.
struct UnknownSubcommand {
    private let word: String
    /// The names of the commands before the word.
    private let path: [String]
    private let known: [String]

    /// Finds the first unknown subcommand in the arguments.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the command.
    ///   - root: The command. The result is nil if all subcommands are known, or if help is asked for.
    init?(_ arguments: [String], of root: any ParsableCommand.Type) {
        var command = root
        var path = [root._commandName]
        for argument in arguments {
            let subcommands = command.configuration.subcommands
            guard !subcommands.isEmpty, !Self.isHelp(argument), !(path.count == 1 && argument == "help") else {
                return nil
            }
            guard let next = subcommands.first(where: { $0._commandName == argument }) else {
                word = argument
                self.path = path
                known = subcommands.map { $0._commandName }
                return
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

    /// What to write instead of subcommands that other programs have.
    private static let advice: [String: String] = {
        let meant = [
            "gatehouse user delete": "gatehouse user remove", "gatehouse user del": "gatehouse user remove",
            "gatehouse user rm": "gatehouse user remove", "gatehouse user create": "gatehouse user add",
            "gatehouse user new": "gatehouse user add", "gatehouse user passwd": "gatehouse user set-password",
            "gatehouse user password": "gatehouse user set-password", "gatehouse user lock": "gatehouse user disable",
            "gatehouse passwd": "gatehouse user set-password", "gatehouse password": "gatehouse user set-password",
            "gatehouse useradd": "gatehouse user add", "gatehouse adduser": "gatehouse user add",
            "gatehouse userdel": "gatehouse user remove", "gatehouse deluser": "gatehouse user remove",
            "gatehouse status": "gatehouse health", "gatehouse ping": "gatehouse health",
            "gatehouse start": "gatehouse serve", "gatehouse run": "gatehouse serve",
            "gatehouse test": "gatehouse check", "gatehouse configtest": "gatehouse check",
            "gatehouse logs": "gatehouse log", "gatehouse unlock": "gatehouse user unlock",
        ].mapValues { "Did you mean '\($0)'?" }
        return meant.merging([
            "gatehouse reload": "A running server reloads its configuration at SIGHUP: 'systemctl reload gatehouse'.",
            "gatehouse stop": "A running server stops at SIGTERM: 'systemctl stop gatehouse'.",
            "gatehouse restart": "Use 'systemctl restart gatehouse'.",
        ]) { first, _ in first }
    }()

    /// The message for standard error.
    var message: String {
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
        let nearest =
            Self.advice["\(command) \(word)"].map { " \($0)" }
            ?? NearestName.suggest(word, among: known).map { " Did you mean '\(command) \($0)'?" } ?? ""
        return """
            Error: \(command) has no subcommand '\(word)'.\(nearest)
            Subcommands: \(known.joined(separator: ", "))
              See '\(command) --help' for more information.
            """
    }
}
