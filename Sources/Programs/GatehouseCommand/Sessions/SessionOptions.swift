// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CommandSupport

extension GatehouseOptions {
    /// `gatehouse sessions`: the sessions of signed-in users.
    struct Sessions: CommandGroup {
        static let configuration = CommandConfiguration(
            commandName: "sessions",
            abstract: "List and end sessions, or send a message to their users.",
            discussion: "A running server applies changes within a second.",
            subcommands: [List.self, End.self, Message.self]
        )

        struct List: ParsableCommand {
            static let configuration = CommandConfiguration(
                commandName: "list",
                abstract: "List sessions.",
                discussion: """
                    A sign-in and the sessions at other hosts that were handed over from it are one line. \
                    The time of the last use may be up to 15 seconds old.
                    """
            )
            @OptionGroup var options: RealmOptions
            @Option(name: .long, help: ArgumentHelp("Only sessions of this user.", valueName: "name")) var user: String?
            @Flag(name: .long, help: "Print JSON, with an object for each host of a session.") var json = false
        }

        struct End: ParsableCommand {
            static let configuration = CommandConfiguration(commandName: "end", abstract: "End sessions.")
            @OptionGroup var options: RealmOptions
            @Argument(help: "The id of a session, as sessions list shows it.") var id: String?
            @Option(name: .long, help: ArgumentHelp("All sessions of this user of the realm.", valueName: "name"))
            var user: String?
            @Flag(name: .long, help: "All sessions.") var all = false

            func validate() throws {
                // --realm without --user selects all users of the realm.
                let isRealm = options.realm != nil && user == nil
                guard [id != nil, user != nil, isRealm, all].count(where: { $0 }) == 1 else {
                    throw ValidationError("end needs one of: a session, --user, --realm, --all")
                }
            }
        }

        struct Message: ParsableCommand {
            static let configuration = CommandConfiguration(
                commandName: "message",
                abstract: "Send a message to users who have a page open.",
                discussion: "The text is one line. It is cut to 1,000 bytes."
            )
            @OptionGroup var options: RealmOptions
            @Option(name: .long, help: ArgumentHelp("All sessions of a user of the realm.", valueName: "name"))
            var user: String?
            @Flag(name: .long, help: "All sessions.") var all = false
            @Argument(
                help:
                    "The id of a session, as sessions list shows it, and the text. With --user or --all, only the text."
            )
            var words: [String] = []

            func validate() throws {
                guard user == nil || !all, words.count == (user == nil && !all ? 2 : 1) else {
                    throw ValidationError("message needs a session and a text, or one of --user and --all and a text")
                }
            }
        }
    }
}
