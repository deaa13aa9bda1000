// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CommandSupport

extension GatehouseOptions {
    /// `gatehouse lockouts`: locked accounts and addresses.
    struct Lockouts: CommandGroup {
        static let configuration = CommandConfiguration(
            commandName: "lockouts",
            abstract: "List and clear locks of accounts and addresses.",
            discussion: "A running server applies changes within a second.",
            subcommands: [List.self, Clear.self]
        )

        struct List: ParsableCommand {
            static let configuration = CommandConfiguration(
                commandName: "list",
                abstract: "List locked accounts and addresses."
            )
            @OptionGroup var options: ConfigurationOptions
            @Flag(name: .long, help: "Show all accounts and addresses with failed logins, locked or not.") var all =
                false
        }

        struct Clear: ParsableCommand {
            static let configuration = CommandConfiguration(
                commandName: "clear",
                abstract: "Clear failed logins and locks."
            )
            @OptionGroup var options: RealmOptions
            @Option(name: .long, help: ArgumentHelp("An account of the realm.", valueName: "name")) var user: String?
            @Option(name: .long, help: ArgumentHelp("An address.", valueName: "address")) var source: String?
            @Flag(name: .long, help: "All accounts and addresses.") var all = false

            func validate() throws {
                guard [user != nil, source != nil, all].count(where: { $0 }) == 1 else {
                    throw ValidationError("clear takes one of --user, --source and --all")
                }
            }
        }
    }
}
