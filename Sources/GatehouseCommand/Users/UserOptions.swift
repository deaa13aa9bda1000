// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import ArgumentParser
internal import CommandOptions

extension GatehouseOptions {
    /// `gatehouse user`: the users of a realm that can be changed.
    struct User: Group {
        static let configuration = CommandConfiguration(
            abstract: "Look after the users of a realm.",
            discussion: "A server that is running notices within a second, and ends what a user may do no longer.",
            subcommands: [
                List.self, Show.self, Add.self, SetPassword.self, Remove.self, Groups.self, Enable.self, Disable.self,
                Unlock.self, Expire.self, Import.self,
            ]
        )
    }
}

/// Which realm's users.
struct RealmOptions: ParsableArguments {
    @OptionGroup var configuration: ConfigurationOptions

    @Option(
        name: .long,
        help: ArgumentHelp("The realm. Default: the configuration's default-realm.", valueName: "name")
    )
    var realm: String?
}

extension GatehouseOptions.User {
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show all users.")
        @OptionGroup var options: RealmOptions
        @Flag(name: .long, help: "Answer in JSON.") var json = false
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show what is known of a user.")
        @OptionGroup var options: RealmOptions
        @Flag(name: .long, help: "Answer in JSON.") var json = false
        @Argument(help: "The user.") var user: String
    }

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Add a user, asking for the password.")
        @OptionGroup var options: RealmOptions
        @OptionGroup var password: NewPasswordOptions
        @Option(
            name: .customLong("group"),
            help: ArgumentHelp("A group the user belongs to; repeatable.", valueName: "name")
        )
        var groups: [String] = []
        @Flag(name: .long, help: "Add the user without a password: nobody can sign in as them until one is set.")
        var noPassword = false
        @Flag(name: .long, help: "Add the user switched off.") var disabled = false
        @Option(
            name: .long,
            help: ArgumentHelp("The last day of the account, as in 2027-01-31 (UTC).", valueName: "day")
        )
        var expires: String?
        @Flag(name: .long, help: "The password has to be changed before it is good for signing in.")
        var mustChange = false
        @Argument(help: "The user.") var user: String
    }

    struct SetPassword: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Set a user's password.")
        @OptionGroup var options: RealmOptions
        @OptionGroup var password: NewPasswordOptions
        @Flag(name: .long, help: "The password has to be changed before it is good for signing in.")
        var mustChange = false
        @Argument(help: "The user.") var user: String
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Remove a user.")
        @OptionGroup var options: RealmOptions
        @Argument(help: "The user.") var user: String
    }

    struct Groups: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show or change a user's groups.")
        @OptionGroup var options: RealmOptions
        @Option(name: .long, help: ArgumentHelp("A group to add; repeatable.", valueName: "name")) var add: [String] =
            []
        @Option(name: .long, help: ArgumentHelp("A group to leave; repeatable.", valueName: "name"))
        var remove: [String] = []
        @Argument(help: "The user.") var user: String
    }

    struct Enable: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Let a user sign in again.")
        @OptionGroup var options: RealmOptions
        @Argument(help: "The user.") var user: String
    }

    struct Disable: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Keep a user from signing in.")
        @OptionGroup var options: RealmOptions
        @Argument(help: "The user.") var user: String
    }

    struct Unlock: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Forget a user's failed logins, and the lock they led to."
        )
        @OptionGroup var options: RealmOptions
        @Argument(help: "The user.") var user: String
    }

    struct Expire: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Set the last day of a user's account.")
        @OptionGroup var options: RealmOptions
        @Argument(help: "The user.") var user: String
        @Argument(help: "The last day, as in 2027-01-31 (UTC), or never.") var day: String
    }

    struct Import: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Add the users of a key file of GlassFish, or of an htpasswd file, with their passwords and groups.",
            discussion:
                "All of them are added or none. A line that cannot be read is told of, and nothing is added then."
        )
        @OptionGroup var options: RealmOptions
        @Option(name: .long, help: ArgumentHelp("The group file of an htpasswd file.", valueName: "file"))
        var groupFile: String?
        @Flag(name: .long, help: "Leave out lines that cannot be read.") var skipBroken = false
        @Argument(help: "The file.") var file: String
    }
}
