// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import ArgumentParser
internal import CommandOptions
internal import RealmKit

/// The arguments of `gatehouse`.
struct GatehouseOptions: Group {
    static let configuration = CommandConfiguration(
        commandName: "gatehouse",
        abstract: "A server that lets in whom its realms accept.",
        discussion: """
            Exit status: 0 all went well, 1 it could not be done, 2 wrong arguments, 3 wrong configuration, \
            4 what is needed cannot be had now.
            """,
        subcommands: [
            Serve.self, Check.self, Explain.self, User.self, Hash.self, Lockouts.self, Sessions.self,
        ]
    )

    struct Serve: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Serve until SIGTERM or SIGINT.")

        @OptionGroup var options: ConfigurationOptions
    }

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Read the configuration, say what is wrong with it, or what it comes to."
        )

        @OptionGroup var options: ConfigurationOptions
    }
}

/// Commands under a name, which says what they are for and does nothing by itself.
protocol Group: ParsableCommand {}

/// One of the commands, with its arguments.
protocol Action: ParsableCommand {
    /// Does it.
    ///
    /// - Parameter kinds: The types of realms and modules that are linked in.
    /// - Throws: ``ActionFault`` when it cannot be done.
    func perform(_ kinds: [RealmKind]) async throws(ActionFault)
}

/// Why a command could not do what it was told.
struct ActionFault: Error {
    /// What the command's exit status says.
    enum Status: Int32 {
        case failed = 1
        case usage = 2
        case configuration = 3
        case unavailable = 4
    }

    let status: Status
    /// What is to be said; empty if that has been.
    let message: String

    init(_ status: Status, _ message: String) {
        self.status = status
        self.message = message
    }

    init(_ error: RealmError) {
        switch error.code {
        case .noSuchRealm: self.init(.configuration, error.message)
        case .noSuchUser, .userExists, .invalidOperation: self.init(.failed, error.message)
        case .unavailable: self.init(.unavailable, error.message)
        }
    }
}
