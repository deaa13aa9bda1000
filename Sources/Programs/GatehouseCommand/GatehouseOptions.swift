// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CommandSupport
internal import GatehouseVersion
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

    struct Serve: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "serve",
            abstract: "Serve until SIGTERM or SIGINT."
        )

        @OptionGroup var options: ConfigurationOptions
    }

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Check the configuration: print its errors, or a summary of it."
        )

        @OptionGroup var options: ConfigurationOptions
        @Flag(
            name: .long,
            help: """
                Also test the servers of the realms, as `gatehouse realm test` does, and look the groups of the rules up \
                there; exit status 4 if a server fails.
                """
        )
        var connect = false
    }
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
