// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CommandSupport
internal import RealmKit

extension GatehouseOptions.User {
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
}

extension GatehouseOptions.User.Add: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        let administration = try UserAdministration(options, kinds: kinds)
        let name = try Username(newUser: user)
        let record = UserRecord(
            name,
            groups: groups,
            isEnabled: !disabled,
            expiry: try expires.map { (day) throws(CommandError) in try Day.end(of: day) },
            mustChangePassword: mustChange,
            attributes: try attributes.attributes()
        )
        // The name is checked first, so that the administrator does not type a password for a user who exists.
        do throws(RealmError) {
            if let other = try await administration.realm.user(name) { throw .userExists(other.name) }
        } catch {
            throw CommandError(error)
        }
        var hash: String?
        if !noPassword { hash = try await administration.hash(try await password.read(for: user)) }
        do throws(RealmError) {
            try await administration.realm.add(record, hash: hash)
        } catch {
            throw CommandError(error)
        }
        administration.report("\(Printable.line(user)) added")
    }
}

/// The options for the attributes of a user.
struct UserAttributeOptions: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("The name of the person, for applications.", valueName: "name"))
    var name: String?
    @Option(name: .long, help: ArgumentHelp("The mail address, for applications.", valueName: "address"))
    var mail: String?

    /// Returns the changes; an empty text removes an attribute.
    ///
    /// - Returns: The changes.
    /// - Throws: ``CommandError`` for a text that cannot be a name or a mail address.
    func changes() throws(CommandError) -> [AttributeChange] {
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

    /// Returns the attributes of a new user.
    ///
    /// - Returns: The attributes whose options are not empty.
    /// - Throws: ``CommandError`` as ``changes()``.
    func attributes() throws(CommandError) -> [UserAttribute] {
        try changes().compactMap { change in
            switch change {
            case .set(let attribute): attribute
            case .remove: nil
            }
        }
    }

    private func change(_ name: String, to value: String, option: String) throws(CommandError) -> AttributeChange {
        guard !value.isEmpty else { return .remove(name) }
        do throws(BadAttribute) {
            return .set(try UserAttribute(name: name, values: [value]))
        } catch {
            throw CommandError(.usage, "\(option) cannot be used: \(error)")
        }
    }

    /// Returns whether a text is one address: characters other than blanks and commas around one `@`.
    ///
    /// An application may pass the address to a mail program, and a list of addresses must not be accepted as one.
    static func isAddress(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        let excluded = ",;<>\"()[]\\".unicodeScalars
        return text.utf8.count <= 254 && parts.count == 2 && parts.allSatisfy { !$0.isEmpty }
            && !text.unicodeScalars.contains { $0.properties.isWhitespace || excluded.contains($0) }
    }
}
