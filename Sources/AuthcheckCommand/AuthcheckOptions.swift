// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import ArgumentParser
internal import CommandOptions

/// The arguments of `authcheck`.
///
/// There is no way to give a password in them: everybody on a machine can read arguments.
struct AuthcheckOptions: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "authcheck",
        abstract: "Ask a realm whether it would let somebody in.",
        discussion: """
            A password is asked for on the terminal, and only if a module of the realm wants one.

            Exit status: 0 accepted, 1 refused, 2 wrong arguments, 3 wrong configuration, 4 the realm could not decide.
            """
    )

    @OptionGroup var source: ConfigurationOptions

    @Flag(
        name: .long,
        help: "Read the password from the first line of standard input, a one-time code from the second."
    )
    var passwordStdin = false

    @Option(name: .long, help: ArgumentHelp("What is signed in to, as modules see it.", valueName: "name"))
    var service = "authcheck"

    @Flag(name: .long, help: "Show every module that was asked, and what came of it.")
    var trace = false

    @Flag(name: .long, help: "Answer in JSON.")
    var json = false

    @Flag(name: .long, help: "Say nothing; the exit status is the answer.")
    var quiet = false

    @Argument(help: "The realm to ask.")
    var realm: String

    @Argument(help: "The user name to try.")
    var user: String
}
