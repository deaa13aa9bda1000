// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import ArgumentParser
internal import CommandSupport

/// The arguments of `authcheck`.
///
/// None of them is a password: every user of a machine can read the arguments of its processes.
struct AuthcheckOptions: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "authcheck",
        abstract: "Test whether a realm accepts a user.",
        discussion: """
            The command prompts for a password on the terminal, and only if a module of the realm needs one.

            Exit status: 0 accepted, 1 refused, 2 wrong arguments, 3 wrong configuration, 4 the realm could not decide.
            """
    )

    @OptionGroup var source: ConfigurationOptions

    @Flag(
        name: .long,
        help: "Read the password from the first line of standard input, a one-time code from the second."
    )
    var passwordStdin = false

    @Option(name: .long, help: ArgumentHelp("The name of the service that modules see.", valueName: "name"))
    var service = "authcheck"

    @Flag(name: .long, help: "Show every call of a module, and its outcome.")
    var trace = false

    @Flag(name: .long, help: "Print the result as JSON.")
    var json = false

    @Flag(name: .long, help: "Do not print the result; the exit status shows it.")
    var quiet = false

    @Argument(help: "The realm.")
    var realm: String

    @Argument(help: "The name of the user.")
    var user: String
}
