// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import ArgumentParser
internal import CommandSupport

/// The arguments of `authcheck`.
///
/// A password cannot be an argument, because every user of a machine can read the arguments of processes.
struct AuthcheckOptions: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "authcheck",
        abstract: "Test whether a realm accepts a user.",
        discussion: """
            If a module of the realm needs a password, the command prompts for it on the terminal.

            Exit status: 0 accepted, 1 refused, 2 wrong arguments, 3 wrong configuration, 4 the realm could not decide.
            """
    )

    @OptionGroup var source: ConfigurationOptions

    @Flag(
        name: .long,
        help: "Read the password from the first line of standard input, and a one-time code from the second line."
    )
    var passwordStdin = false

    @Option(name: .long, help: ArgumentHelp("The name of the service, for the modules.", valueName: "name"))
    var service = "authcheck"

    @Flag(name: .long, help: "Print every call of a module and its outcome.")
    var trace = false

    @Flag(name: .long, help: "Print the result as JSON.")
    var json = false

    @Flag(name: .long, help: "Print nothing; the exit status is the result.")
    var quiet = false

    @Argument(help: "The realm.")
    var realm: String

    @Argument(help: "The name of the user.")
    var user: String
}
