// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CommandSupport

extension GatehouseOptions {
    /// `gatehouse realm`: commands about realms.
    struct RealmTests: CommandGroup {
        static let configuration = CommandConfiguration(
            commandName: "realm",
            abstract: "Test the servers of a realm.",
            subcommands: [Test.self]
        )
    }
}

extension GatehouseOptions.RealmTests {
    struct Test: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "test",
            abstract: "Connect to the servers of a realm and look a user up, without a password.",
            discussion: """
                Each step is printed with its result and its time. Exit status 4 if a step fails. authcheck tests a \
                password.
                """
        )
        @OptionGroup var options: ConfigurationOptions
        @Argument(help: "The realm.") var realm: String
        @Argument(help: "A user to look up as at a login.") var user: String?
    }
}
