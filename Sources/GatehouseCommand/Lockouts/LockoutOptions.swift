// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import ArgumentParser
internal import CommandOptions

extension GatehouseOptions {
    /// `gatehouse lockouts`: accounts and addresses that are locked.
    struct Lockouts: Group {
        static let configuration = CommandConfiguration(
            abstract: "Show and clear locks of accounts and addresses.",
            discussion: "A server that is running follows within a second.",
            subcommands: [List.self, Clear.self]
        )

        struct List: ParsableCommand {
            static let configuration = CommandConfiguration(abstract: "Show what is locked.")
            @OptionGroup var options: ConfigurationOptions
            @Flag(name: .long, help: "Show everything that has failed, locked or not.") var all = false
        }

        struct Clear: ParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Forget failed logins, and the locks they led to."
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
