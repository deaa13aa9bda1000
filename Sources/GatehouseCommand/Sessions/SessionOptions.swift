// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import ArgumentParser
internal import CommandOptions

extension GatehouseOptions {
    /// `gatehouse sessions`: who has signed in.
    struct Sessions: Group {
        static let configuration = CommandConfiguration(
            abstract: "Show and end sessions, or say something to their users.",
            discussion: "A server that is running follows within a second.",
            subcommands: [List.self, End.self, Message.self]
        )

        struct List: ParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Show sessions.",
                discussion: "When a session was used last is up to 15 seconds old."
            )
            @OptionGroup var options: RealmOptions
            @Option(name: .long, help: ArgumentHelp("Those of a user only.", valueName: "name")) var user: String?
        }

        struct End: ParsableCommand {
            static let configuration = CommandConfiguration(abstract: "End sessions.")
            @OptionGroup var options: RealmOptions
            @Argument(help: "The session, as list shows it.") var id: String?
            @Option(name: .long, help: ArgumentHelp("All of a user of the realm.", valueName: "name")) var user: String?
            @Flag(name: .long, help: "All.") var all = false

            func validate() throws {
                // A realm alone means all of its users.
                let isRealm = options.realm != nil && user == nil
                guard [id != nil, user != nil, isRealm, all].count(where: { $0 }) == 1 else {
                    throw ValidationError("end takes one of a session, --user, --realm and --all")
                }
            }
        }

        struct Message: ParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Say something to those who have a page open.",
                discussion: "The text is one line of up to 1,000 bytes; what is over is cut."
            )
            @OptionGroup var options: RealmOptions
            @Option(name: .long, help: ArgumentHelp("All sessions of a user of the realm.", valueName: "name"))
            var user: String?
            @Argument(help: "The session, as list shows it, unless there is --user; then the text.")
            var words: [String] = []

            func validate() throws {
                guard words.count == (user == nil ? 2 : 1) else {
                    throw ValidationError("message takes a session and a text, or --user and a text")
                }
            }
        }
    }
}
