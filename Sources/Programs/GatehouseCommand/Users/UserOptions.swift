// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CommandSupport

extension GatehouseOptions {
    /// `gatehouse user`: commands that manage the users of a realm, if the realm allows changes.
    struct User: CommandGroup {
        static let configuration = CommandConfiguration(
            commandName: "user",
            abstract: "Show the users of a realm, and manage them if the realm allows changes.",
            discussion: "A running server applies changes within a second, and ends sessions that are no longer valid.",
            subcommands: [
                List.self, Show.self, Add.self, SetPassword.self, Remove.self, Groups.self, Attributes.self,
                Enable.self,
                Disable.self, Unlock.self, Expire.self, Import.self,
            ]
        )
    }
}

extension GatehouseOptions.User {
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List all users.")
        @OptionGroup var options: RealmOptions
        @Flag(name: .long, help: "Print JSON.") var json = false
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "show", abstract: "Show a user.")
        @OptionGroup var options: RealmOptions
        @Flag(name: .long, help: "Print JSON.") var json = false
        @Argument(help: "The user.") var user: String
    }

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Add a user; prompts for the password."
        )
        @OptionGroup var options: RealmOptions
        @OptionGroup var password: NewPasswordOptions
        @Option(
            name: .customLong("group"),
            help: ArgumentHelp("A group of the user; repeatable. A name has no comma.", valueName: "name")
        )
        var groups: [String] = []
        @OptionGroup var attributes: UserAttributeOptions
        @Flag(name: .long, help: "Add the user without a password; the user cannot sign in until a password is set.")
        var noPassword = false
        @Flag(name: .long, help: "Add the user disabled.") var disabled = false
        @Option(
            name: .long,
            help: ArgumentHelp("The last day of the account, as in 2027-01-31 (UTC).", valueName: "day")
        )
        var expires: String?
        @Flag(name: .long, help: "The user cannot sign in until the password is changed.")
        var mustChange = false
        @Argument(help: "The user.") var user: String

        func validate() throws { try GroupOption.check(groups, option: "--group") }
    }

    struct SetPassword: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "set-password", abstract: "Set a user's password.")
        @OptionGroup var options: RealmOptions
        @OptionGroup var password: NewPasswordOptions
        @Flag(name: .long, help: "The user cannot sign in until the password is changed.")
        var mustChange = false
        @Argument(help: "The user.") var user: String
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "remove", abstract: "Remove a user.")
        @OptionGroup var options: RealmOptions
        @Argument(help: "The user.") var user: String
    }

    struct Groups: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "groups",
            abstract: "Show or change a user's groups."
        )
        @OptionGroup var options: RealmOptions
        @Option(
            name: .long,
            help: ArgumentHelp("A group to add; repeatable. A name has no comma.", valueName: "name")
        )
        var add: [String] = []
        @Option(name: .long, help: ArgumentHelp("A group to remove; repeatable.", valueName: "name"))
        var remove: [String] = []
        @Argument(help: "The user.") var user: String

        // A group with a comma can still be removed: earlier versions and other programs may have added it.
        func validate() throws { try GroupOption.check(add, option: "--add") }
    }

    struct Attributes: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "attributes",
            abstract: "Set a user's name or mail address; an empty text removes it."
        )
        @OptionGroup var options: RealmOptions
        @OptionGroup var attributes: UserAttributeOptions
        @Argument(help: "The user.") var user: String
    }

    struct Enable: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "enable",
            abstract: "Enable a user: allow sign-in again."
        )
        @OptionGroup var options: RealmOptions
        @Argument(help: "The user.") var user: String
    }

    struct Disable: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "disable",
            abstract: "Disable a user: reject sign-in."
        )
        @OptionGroup var options: RealmOptions
        @Argument(help: "The user.") var user: String
    }

    struct Unlock: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "unlock",
            abstract: "Unlock a user: clear the failed logins and the lock."
        )
        @OptionGroup var options: RealmOptions
        @Argument(help: "The user.") var user: String
    }

    struct Expire: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "expire",
            abstract: "Set the last day of a user's account."
        )
        @OptionGroup var options: RealmOptions
        @Flag(name: .long, help: "Do not ask before a day in the past is set.") var yes = false
        @Argument(help: "The user.") var user: String
        @Argument(help: "The last day, as in 2027-01-31 (UTC), or never.", completion: .list(["never"]))
        var day: String
    }

    struct Import: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import",
            abstract: "Import the users of a file, with their passwords and groups.",
            discussion: """
                The file is a GlassFish key file, an htpasswd file, a users_database.yml of Authelia, an export of a realm \
                of Keycloak, a tomcat-users.xml, a realm.properties of Jetty, or a users.properties of WildFly. If a user \
                cannot be read, or already exists, no user is imported.
                """
        )
        @OptionGroup var options: RealmOptions
        @Option(
            name: .long,
            help: ArgumentHelp(
                "The group file of an htpasswd file, or the file of groups or roles of WildFly.",
                valueName: "file"
            ),
            completion: .file()
        )
        var groupFile: String?
        @Option(
            name: .long,
            help: ArgumentHelp(
                "The format: \(ImportFormat.names). Without it, the name or the content of the file decides.",
                valueName: "format"
            )
        )
        var format: ImportFormat?
        @Option(
            name: .customLong("algorithm"),
            help: ArgumentHelp(
                "The algorithm of a CredentialHandler of Tomcat, such as SHA-256 or PBKDF2WithHmacSHA512; repeatable.",
                valueName: "name"
            )
        )
        var algorithms: [TomcatAlgorithm] = []
        @Flag(
            name: .long,
            help:
                "Skip users that cannot be read, and import users without a password if only that cannot be taken over."
        )
        var skipBroken = false
        @Argument(help: "The file.", completion: .file()) var file: String
    }
}
