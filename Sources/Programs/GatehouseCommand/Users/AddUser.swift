// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CommandSupport
internal import RealmKit

extension GatehouseOptions.User {
    struct Add: Subcommand {
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
        @Flag(help: "Add the user without a password; the user cannot sign in until a password is set.")
        var noPassword = false
        @Flag(help: "Add the user disabled.") var disabled = false
        @Option(help: ArgumentHelp("The last day of the account, as in 2027-01-31 (UTC).", valueName: "day"))
        var expires: String?
        @Flag(help: "The user cannot sign in until the password is changed.") var mustChange = false
        @Argument(help: "The user.") var user: String

        func validate() throws { try GroupOption.check(groups, option: "--group") }

        func perform(_ kinds: [RealmKind]) async throws {
            let administration = try UserAdministration(options, kinds: kinds)
            let name = try Username(newUser: user)
            let record = UserRecord(
                name,
                groups: groups,
                isEnabled: !disabled,
                expiry: try expires.map { day in try Day.end(of: day) },
                mustChangePassword: mustChange,
                attributes: try attributes.attributes()
            )
            // The name is checked first, so that the administrator does not type a password for a user who exists.
            if let other = try await administration.realm.user(name) { throw RealmError.userExists(other.name) }
            var hash: String?
            if !noPassword { hash = try await administration.hash(try await password.read(for: user)) }
            try await administration.realm.add(record, hash: hash)
            administration.report("\(Printable.line(user)) added")
        }
    }
}

struct UserAttributeOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The name of the person, for applications.", valueName: "name")) var name: String?
    @Option(help: ArgumentHelp("The mail address, for applications.", valueName: "address")) var mail: String?

    /// The changes; an empty text removes an attribute.
    func changes() throws -> [AttributeChange] {
        var changes: [AttributeChange] = []
        if let name { changes.append(try change(UserAttribute.displayName, to: name, option: "--name")) }
        if let mail {
            guard mail.isEmpty || Self.isAddress(mail) else {
                let shown = Printable.line(mail)
                throw CommandError(.usage, "--mail takes an address such as ann@example.org, not \(shown)")
            }
            changes.append(try change(UserAttribute.mail, to: mail, option: "--mail"))
        }
        return changes
    }

    func attributes() throws -> [UserAttribute] {
        try changes().compactMap { if case .set(let attribute) = $0 { attribute } else { nil } }
    }

    private func change(_ name: String, to value: String, option: String) throws -> AttributeChange {
        guard !value.isEmpty else { return .remove(name) }
        return try Result { () throws(BadAttribute) in .set(try UserAttribute(name: name, values: [value])) }
            .mapError { CommandError(.usage, "\(option) cannot be used: \($0)") }.get()
    }

    /// Returns whether a text is one address: characters other than blanks and commas around one `@`.
    ///
    /// An application may pass it to a mail program, so a list of addresses must not be accepted as one.
    static func isAddress(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        let excluded = ",;<>\"()[]\\".unicodeScalars
        return text.utf8.count <= 254 && parts.count == 2 && parts.allSatisfy { !$0.isEmpty }
            && !text.unicodeScalars.contains { $0.properties.isWhitespace || excluded.contains($0) }
    }
}
