// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CommandSupport

extension GatehouseOptions {
    /// `gatehouse message`: the message to all users.
    struct Message: CommandGroup {
        static let configuration = CommandConfiguration(
            commandName: "message",
            abstract: "Show a message on the sign-in pages and the account page until a time.",
            discussion: "A running server applies changes within a second.",
            subcommands: [Set.self, Show.self, Clear.self]
        )

        struct Set: ParsableCommand {
            static let configuration = CommandConfiguration(
                commandName: "set",
                abstract: "Show a message to all users, in place of an earlier one.",
                discussion: """
                    A time is 30m, 2h, 7d, 2026-12-01T18:00Z or 2026-12-01T18:00+01:00; without an offset it is in UTC. \
                    It is at most 366 days from now. The text is one line of up to 300 characters.
                    """
            )
            @OptionGroup var options: ConfigurationOptions
            @Option(name: .long, help: ArgumentHelp("The time at which the message ends.", valueName: "time"))
            var until: String
            @Argument(help: "The text.") var text: String
        }

        struct Show: ParsableCommand {
            static let configuration = CommandConfiguration(
                commandName: "show",
                abstract: "Print the message and the time at which it ends."
            )
            @OptionGroup var options: ConfigurationOptions
        }

        struct Clear: ParsableCommand {
            static let configuration = CommandConfiguration(commandName: "clear", abstract: "Remove the message.")
            @OptionGroup var options: ConfigurationOptions
        }
    }
}
