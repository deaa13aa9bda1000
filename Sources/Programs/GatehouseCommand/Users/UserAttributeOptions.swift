// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CommandSupport
internal import RealmKit

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
