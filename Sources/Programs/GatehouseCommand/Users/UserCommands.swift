// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CommandSupport
internal import Glibc
internal import RealmConfiguration
internal import RealmKit

extension GatehouseOptions {
    /// `gatehouse user`: commands that manage the users of a realm, if the realm allows changes.
    struct User: CommandGroup {
        static let configuration = CommandConfiguration(
            commandName: "user",
            abstract: "Show the users of a realm, and manage them if the realm allows changes.",
            discussion: "A running server applies changes within a second, and ends sessions that are no longer valid.",
            subcommands: [
                List.self, Show.self, Add.self, SetPassword.self, Remove.self, Groups.self, Attributes.self,
                Enable.self, Disable.self, Unlock.self, Expire.self, Import.self,
            ]
        )
    }
}

extension GatehouseOptions.User {
    struct List: Subcommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List all users.")
        @OptionGroup var options: RealmOptions
        @Flag(help: "Print JSON.") var json = false

        func perform(_ kinds: [RealmKind]) async throws {
            let directory = try UserDirectory(options, kinds: kinds)
            let users = try await directory.realm.users()
            let text = await directory.text()
            GatehouseCommand.print(json ? text.json(users) : text.table(users))
        }
    }

    struct Show: Subcommand {
        static let configuration = CommandConfiguration(commandName: "show", abstract: "Show a user.")
        @OptionGroup var options: RealmOptions
        @Flag(help: "Print JSON.") var json = false
        @Argument(help: "The user.") var user: String

        func perform(_ kinds: [RealmKind]) async throws {
            let directory = try UserDirectory(options, kinds: kinds)
            let record = try await directory.realm.record(user)
            let text = await directory.text()
            GatehouseCommand.print(json ? text.json(record) : text.details(record))
        }
    }

    struct Remove: Subcommand {
        static let configuration = CommandConfiguration(commandName: "remove", abstract: "Remove a user.")
        @OptionGroup var options: RealmOptions
        @Argument(help: "The user.") var user: String

        func perform(_ kinds: [RealmKind]) async throws {
            let administration = try UserAdministration(options, kinds: kinds)
            let name = try await administration.realm.record(user).name
            try await administration.remove(name)
            administration.report("\(Printable.line(name.text)) removed")
        }
    }

    struct Attributes: Subcommand {
        static let configuration = CommandConfiguration(
            commandName: "attributes",
            abstract: "Set a user's name or mail address; an empty text removes it."
        )
        @OptionGroup var options: RealmOptions
        @OptionGroup var attributes: UserAttributeOptions
        @Argument(help: "The user.") var user: String

        func perform(_ kinds: [RealmKind]) async throws {
            var changes = UserChanges()
            changes.attributes = try attributes.changes()
            guard !changes.attributes.isEmpty else { throw CommandError(.usage, "give --name or --mail") }
            try await UserAdministration(options, kinds: kinds).change(user, changes, done: "changed")
        }
    }

    struct Enable: Subcommand {
        static let configuration = CommandConfiguration(
            commandName: "enable",
            abstract: "Enable a user: allow sign-in again."
        )
        @OptionGroup var options: RealmOptions
        @Argument(help: "The user.") var user: String

        func perform(_ kinds: [RealmKind]) async throws {
            var changes = UserChanges()
            changes.isEnabled = true
            try await UserAdministration(options, kinds: kinds).change(user, changes, done: "enabled")
        }
    }

    struct Disable: Subcommand {
        static let configuration = CommandConfiguration(
            commandName: "disable",
            abstract: "Disable a user: reject sign-in."
        )
        @OptionGroup var options: RealmOptions
        @Argument(help: "The user.") var user: String

        func perform(_ kinds: [RealmKind]) async throws {
            var changes = UserChanges()
            changes.isEnabled = false
            try await UserAdministration(options, kinds: kinds).change(user, changes, done: "disabled")
        }
    }

    struct Unlock: Subcommand {
        static let configuration = CommandConfiguration(
            commandName: "unlock",
            abstract: "Unlock a user: clear the failed logins and the lock."
        )
        @OptionGroup var options: RealmOptions
        @Argument(help: "The user.") var user: String

        func perform(_ kinds: [RealmKind]) async throws {
            try await ConfiguredStore(options.configuration, kinds: kinds, access: .createIfMissing)
                .clear(user: user, of: options.realm)
        }
    }
}
