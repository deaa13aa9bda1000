// SPDX-License-Identifier: Apache-2.0
// Gatehouse

#if LDAP
internal import Bytes
internal import RealmKit

/// The entry of a user.
struct UserEntry: Sendable {
    let entry: LDAPEntry
    /// The user name, as the directory spells it.
    let username: Username
    let attributes: [UserAttribute]
    /// True if the entry says that an administrator has disabled the account (draft-behera-ldap-password-policy 5.3.3).
    let isDisabled: Bool

    /// The typed names, as the directory spells them; nil if the name of the entry was not compared with typed ones.
    ///
    /// Filters for groups may compare them with regard to case, so the typed spelling must not decide about groups.
    let spelling: TypedName?

    /// The distinguished name.
    var name: String { entry.name }

    /// True if the entry says that the directory has locked the account, perhaps for a time that has passed.
    var isLocked: Bool { !isDisabled && !entry.values(of: LDAPSettings.lockTimeAttribute).isEmpty }

    /// Reads the entry of a user who has typed a name.
    ///
    /// - Parameters:
    ///   - entry: The entry that the directory has found.
    ///   - typed: The names for `%s` and `%n`; nil if the name of the entry is not compared with a typed one.
    ///   - settings: The settings.
    /// - Throws: ``BadEntry`` if the entry has no name, or its name is not the typed one.
    ///
    /// Directories ignore differences of case, blanks and some other characters. A name that differs from the typed one
    /// in more than case is rejected: its failed logins would be counted apart.
    init(_ entry: LDAPEntry, typed: TypedName?, settings: LDAPSettings) throws(BadEntry) {
        self.entry = entry
        if let typed {
            spelling = Self.spelling(of: typed, in: entry, settings: settings)
            guard spelling != nil else {
                let names = settings.nameAttributes.map(\.name)
                let isMissing = names.allSatisfy { entry.values(of: $0.lowercased()).isEmpty }
                let list = names.joined(separator: ", ")
                throw isMissing
                    ? BadEntry(
                        "\(entry.name): the entry has no \(list) that this program may read, or has it by another name",
                        isMissing: true
                    ) : BadEntry("\(entry.name): no value of \(list) is the typed name")
            }
        } else {
            spelling = nil
        }
        guard let text = Self.texts(entry.values(of: settings.nameAttribute)).first else {
            throw BadEntry(
                "\(entry.name): the entry has no \(settings.nameAttribute) that this program may read",
                isMissing: true
            )
        }
        // Of several values, the typed one is the name.
        let own = Self.texts(entry.values(of: settings.nameAttribute)).first {
            UTF8Text($0.lowercased()) == UTF8Text((typed?.user ?? "").lowercased())
        }
        do throws(BadUsername) {
            username = try Username(own ?? text)
        } catch {
            throw BadEntry("\(entry.name): \(settings.nameAttribute) cannot be used: \(error)")
        }
        attributes = settings.attributes.compactMap { attribute in
            let values = Self.texts(entry.values(of: attribute.source)).prefix(UserAttribute.maximumValues)
            do throws(BadAttribute) {
                return try UserAttribute(name: attribute.name, values: Array(values))
            } catch {
                return nil
            }
        }
        isDisabled = Self.texts(entry.values(of: LDAPSettings.lockTimeAttribute)).contains {
            $0.hasBytes(of: "000001010000Z")
        }
    }

    /// The record of the user, for lists of users.
    ///
    /// - Parameter groups: The groups.
    /// - Returns: The record, with the state as far as the entry has it.
    func record(groups: [String]) -> UserRecord {
        let control = number("useraccountcontrol") ?? 0
        // The attribute has steps of 100 nanoseconds since 1601; 0 and the largest number stand for never.
        let expiry = number("accountexpires").flatMap { $0 > 0 && $0 < .max ? $0 / 10_000_000 - 11_644_473_600 : nil }
        let isReset = Self.texts(entry.values(of: "pwdreset")).contains { $0.hasBytes(of: "TRUE") }
        return UserRecord(
            username,
            groups: groups,
            isEnabled: !isDisabled && control & 2 == 0,
            expiry: expiry,
            mustChangePassword: isReset || number("pwdlastset") == 0,
            attributes: attributes
        )
    }

    private func number(_ attribute: String) -> Int? {
        Self.texts(entry.values(of: attribute)).first.flatMap { Int($0) }
    }

    /// Returns typed names as the entry spells them; nil if no attribute has one of them.
    private static func spelling(of typed: TypedName, in entry: LDAPEntry, settings: LDAPSettings) -> TypedName? {
        var spelling = typed
        var isSame = false
        for attribute in settings.nameAttributes {
            let name = attribute.value == .typedName ? typed.full : typed.user
            let whole = attribute.prefix + name + attribute.suffix
            let values = texts(entry.values(of: attribute.name.lowercased()))
            // Most names are typed as the entry spells them.
            if values.count == 1, values[0].utf8.elementsEqual(whole.utf8) {
                isSame = true
                if attribute.value == .typedName { spelling.full = name } else { spelling.user = name }
                continue
            }
            let wanted = UTF8Text(whole.lowercased())
            guard let value = values.first(where: { UTF8Text($0.lowercased()) == wanted }) else { continue }
            isSame = true
            var own = ""
            own.unicodeScalars += value.unicodeScalars.dropFirst(attribute.prefix.unicodeScalars.count)
                .dropLast(attribute.suffix.unicodeScalars.count)
            guard UTF8Text(own.lowercased()) == UTF8Text(name.lowercased()) else { continue }
            if attribute.value == .typedName { spelling.full = own } else { spelling.user = own }
        }
        return isSame ? spelling : nil
    }

    /// Returns the values that are UTF-8.
    static func texts(_ values: [[UInt8]]) -> [String] {
        values.compactMap { UTF8Text(validating: $0.span)?.string }
    }
}

/// The name that a user has typed.
struct TypedName: Sendable {
    /// The name without the domain, for `%s`.
    var user: String
    /// The whole name, for `%n`.
    var full: String

    /// The name without the domain, in one spelling for all that differ in case only.
    var account: String {
        do throws(BadUsername) { return try Username(user).caseFolded } catch { return user.lowercased() }
    }
}

/// An entry cannot be the one of the user.
struct BadEntry: Error, Sendable {
    /// The reason, for the log.
    let log: String
    /// True if the entry has no name at all: the configuration or a right is wrong, and not the typed name.
    let isMissing: Bool

    init(_ log: String, isMissing: Bool = false) {
        self.log = log
        self.isMissing = isMissing
    }
}
#endif
