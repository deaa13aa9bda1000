// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import ArgumentParser
internal import CommandOptions

extension GatehouseOptions {
    /// `gatehouse explain`: what would become of a request, and why.
    struct Explain: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Say what would become of a request, and which rule decides.",
            discussion: """
                Nobody is asked for a password, and no realm whether there is such a user. \
                Exit status: 0 the request would be let through, 1 it would not, 2 wrong arguments.
                """
        )

        @OptionGroup var options: RealmOptions
        @Argument(help: "The method, as in GET.") var method: String
        @Argument(help: ArgumentHelp("A URL of http or https, or a path alone.", valueName: "url")) var url: String
        @Option(name: .long, help: ArgumentHelp("Who makes the request. Default: nobody.", valueName: "name"))
        var user: String?
        @Option(
            name: .long,
            help: ArgumentHelp("The user's groups; those that the realm adds come by themselves.", valueName: "a,b")
        )
        var groups: String?
        @Option(name: .long, help: ArgumentHelp("Where the request comes from.", valueName: "address"))
        var from: String?

        func validate() throws {
            guard user != nil || groups == nil else { throw ValidationError("--groups needs --user") }
        }
    }
}
