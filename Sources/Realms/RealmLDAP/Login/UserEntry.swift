// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import RealmKit
internal import Synchronization

struct UserEntry: Sendable {
    let entry: LDAPEntry
    /// The user name, as the directory spells it.
    let username: Username
    let attributes: [UserAttribute]
    /// True if the entry says that an administrator has disabled the account (draft-behera-ldap-password-policy 5.3.3).
    let isDisabled: Bool

    /// The name for `%s` and `%n` in the filters of groups: ``username`` without the texts around `%s` in `search-filter`.
    ///
    /// It is never the typed name, which may be a value that a user has written into the own entry, such as a mail
    /// address that is the name of another user.
    let account: String

    /// True if the typed name is ``username``, in any case, and not another attribute of the entry.
    let isTypedName: Bool

    /// The distinguished name.
    var name: String { entry.name }

    /// True if the entry says that the directory has locked the account, perhaps for a time that has passed.
    var isLocked: Bool { !isDisabled && !entry.values(of: LDAPSettings.lockTimeAttribute).isEmpty }

    /// Reads the entry of a user; `typed` is nil if no name was typed with which it is compared.
    ///
    /// Directories ignore differences of case, blanks and some other characters. A name that differs from the typed one
    /// in more than case is rejected: its failed logins would be counted apart.
    init(_ entry: LDAPEntry, typed: TypedName?, settings: LDAPSettings) throws(BadEntry) {
        self.entry = entry
        guard entry.isComplete else { throw BadEntry("\(entry.name): the entry has too many attributes or values") }
        if let typed, !settings.location.nameAttributes.contains(where: { $0.value(of: typed, in: entry) != nil }) {
            let names = settings.location.nameAttributes.map(\.name)
            let list = names.joined(separator: ", ")
            guard names.contains(where: { !entry.values(of: $0).isEmpty }) else {
                let problem = "the entry has no \(list) that this program may read, or has it by another name"
                throw BadEntry("\(entry.name): \(problem)", isMissing: true)
            }
            throw BadEntry("\(entry.name): no value of \(list) is the typed name")
        }
        let name = settings.nameAttribute
        let values = entry.texts(of: name.name)
        guard let first = values.first else {
            throw BadEntry("\(entry.name): the entry has no \(name.name) that this program may read", isMissing: true)
        }
        let typedValue = typed.flatMap { name.value(of: $0, in: entry) }
        // Of several values, that of the distinguished name is the name, because a user cannot replace it by writing
        // others beside it; without such a value it is the typed one.
        let own = values.count == 1 ? nil : DistinguishedName(entry.name)?.value(of: name.name)
        let text = own.flatMap { UTF8Text(validating: $0.span)?.string } ?? typedValue ?? first
        account = name.withoutSurroundings(text)
        isTypedName = typedValue?.lowercased().hasBytes(of: text.lowercased()) ?? false
        username = try Result { () throws(BadUsername) in try Username(text) }
            .mapError { BadEntry("\(entry.name): \(name.name) cannot be used: \($0)") }.get()
        attributes = settings.attributes.compactMap { attribute in
            let values = entry.texts(of: attribute.source).prefix(UserAttribute.maximumValues)
            return try? UserAttribute(name: attribute.name, values: Array(values))
        }
        isDisabled = entry.texts(of: LDAPSettings.lockTimeAttribute).contains { $0.hasBytes(of: "000001010000Z") }
    }

    /// Returns the record for lists of users, with the state as far as the entry has it.
    func record(groups: [String]) -> UserRecord {
        let control = number("useraccountcontrol") ?? 0
        // The attribute has steps of 100 nanoseconds since 1601; 0 and the largest number stand for never.
        let expiry = number("accountexpires").flatMap { $0 > 0 && $0 < .max ? $0 / 10_000_000 - 11_644_473_600 : nil }
        let isReset = entry.texts(of: "pwdreset").contains { $0.hasBytes(of: "TRUE") }
        return UserRecord(
            username,
            groups: groups,
            isEnabled: !isDisabled && control & 2 == 0,
            expiry: expiry,
            mustChangePassword: isReset || number("pwdlastset") == 0,
            attributes: attributes
        )
    }

    private func number(_ attribute: String) -> Int? { entry.texts(of: attribute).first.flatMap { Int($0) } }
}

extension FilterTemplate.NameAttribute {
    /// Returns the value of an entry that is a typed name with the texts around it, in any case; nil if there is none.
    func value(of typed: TypedName, in entry: LDAPEntry) -> String? {
        let whole = text(of: typed)
        let values = entry.values(of: name).lazy.filter { $0.count <= 8 * Username.maximumBytes }
        // Most names are typed as the entry spells them.
        if values.contains(where: { $0.elementsEqual(whole.utf8) }) { return whole }
        let wanted = whole.lowercased()
        return values.compactMap { UTF8Text(validating: $0.span)?.string }.first {
            $0.lowercased().hasBytes(of: wanted)
        }
    }

    func text(of typed: TypedName) -> String { prefix + (value == .typedName ? typed.full : typed.user) + suffix }

    /// Returns a value without the texts around the name, if it has them.
    fileprivate func withoutSurroundings(_ text: String) -> String {
        let bytes = text.utf8
        guard bytes.count > prefix.utf8.count + suffix.utf8.count,
            Self.isSame(bytes.prefix(prefix.utf8.count), prefix), Self.isSame(bytes.suffix(suffix.utf8.count), suffix)
        else { return text }
        return String(decoding: bytes.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count), as: UTF8.self)
    }

    private static func isSame(_ part: Substring.UTF8View, _ text: String) -> Bool {
        String(decoding: part, as: UTF8.self).lowercased().hasBytes(of: text.lowercased())
    }
}

/// The name that a user has typed.
struct TypedName: Sendable {
    /// The name without the domain, for `%s`.
    var user: String
    /// The whole name, for `%n`.
    var full: String

    /// The name without the domain, in one spelling for all that differ in case only.
    var account: String { Self.caseFolded(user) }

    /// The whole name, in one spelling for all that differ in case only.
    fileprivate var alias: UTF8Text { UTF8Text(Self.caseFolded(full)) }

    fileprivate static func caseFolded(_ name: String) -> String {
        (try? Username(name))?.caseFolded ?? name.lowercased()
    }
}

/// The names under which users were found that are not their user names, such as mail addresses, with their domains: of
/// two domains, both may have a user of one name.
final class AccountAliases: Sendable {
    /// The maximum number of names; all are forgotten when there are more.
    private static let maximum = 10_000

    private let accounts = Mutex<[UTF8Text: String]>([:])

    /// Returns the account of a name; the name without its domain if it is no alias.
    func account(of typed: TypedName) -> String { accounts.withLock { $0[typed.alias] } ?? typed.account }

    func record(_ typed: TypedName, of user: UserEntry) {
        // With `%n` the user name may contain the domain.
        let isAccount = user.isTypedName && TypedName.caseFolded(user.account).hasBytes(of: typed.account)
        accounts.withLock { accounts in
            if accounts.count >= Self.maximum { accounts = [:] }
            accounts[typed.alias] = isAccount ? nil : user.username.caseFolded
        }
    }
}

/// The reason, for the log, why an entry cannot be the one of the user.
struct BadEntry: Error, Sendable {
    let log: String
    /// True if the entry has no name at all: the configuration or a right is wrong, and not the typed name.
    let isMissing: Bool

    init(_ log: String, isMissing: Bool = false) {
        self.log = log
        self.isMissing = isMissing
    }
}
#endif
