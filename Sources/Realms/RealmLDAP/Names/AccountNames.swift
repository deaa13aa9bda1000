// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import RealmKit

/// The name with which a user binds directly, without a search: a distinguished name, or a name such as
/// `%s@example.org` that Active Directory takes instead.
struct DNPattern: Sendable {
    private let prefix: String
    private let suffix: String
    let isDistinguishedName: Bool
    /// The attribute of the entry that contains the user name; nil if the name is no distinguished name.
    let nameAttribute: FilterTemplate.NameAttribute?

    /// Reads a name with one `%s`, which in a distinguished name stands in the value of the first attribute.
    init(_ text: String) throws(BadValue) {
        guard let place = text.utf8.firstRange(of: "%s".utf8),
            text[place.upperBound...].utf8.firstRange(of: "%".utf8) == nil,
            !text[..<place.lowerBound].utf8.contains(UInt8(ascii: "%"))
        else { throw BadValue("needs one %s for the user name, and no other %: \(text)") }
        (prefix, suffix) = (String(text[..<place.lowerBound]), String(text[place.upperBound...]))
        isDistinguishedName = text.utf8.contains(UInt8(ascii: "="))
        guard isDistinguishedName else {
            nameAttribute = nil
            return
        }
        let mark = "gatehouse-user"
        guard let name = DistinguishedName(prefix + mark + suffix), let first = name.names.first, first.count == 1,
            let value = first[0].value.firstRange(of: Array(mark.utf8))
        else { throw BadValue("is no distinguished name with %s in its first attribute: \(text)") }
        nameAttribute = FilterTemplate.NameAttribute(
            name: first[0].attribute,
            prefix: String(decoding: first[0].value[..<value.lowerBound], as: UTF8.self),
            suffix: String(decoding: first[0].value[value.upperBound...], as: UTF8.self),
            value: .name
        )
    }

    /// Returns the name with which a user binds; nil for a user name that cannot be used.
    ///
    /// In a name that is no distinguished name, nothing can be escaped.
    func bindName(_ user: String) -> String? {
        guard isDistinguishedName else {
            return Self.isPlain(user) && !user.utf8.contains { "@\\".utf8.contains($0) } ? prefix + user + suffix : nil
        }
        // Without the domain, the rest may not be a valid user name.
        guard (try? Username(user)) != nil else { return nil }
        return prefix + LDAPText.nameValue(user.utf8) + suffix
    }

    /// The reason why a user name cannot be used, for the administrator.
    static let unusableName = "the name cannot be used without a search (user-dn-pattern)"

    /// Returns whether a user name has visible ASCII characters only, so that directories know one spelling of it, apart
    /// from case.
    static func isPlain(_ user: String) -> Bool { user.utf8.allSatisfy { (0x21...0x7E).contains($0) } }
}

/// The domains that a user may type with the user name, as in `EXAMPLE\ann` and `ann@example.org`.
struct DomainNames: Sendable {
    private let names: Set<UTF8Text>

    init(_ names: [String]) { self.names = Set(names.map { UTF8Text($0.lowercased()) }) }

    /// Returns a name as it was typed without the domain; nil if the domain before a backslash is none of these.
    ///
    /// A name with an `@` and another domain is returned as it is, because it may be a mail address.
    func withoutDomain(_ typed: String) -> String? {
        guard !names.isEmpty else { return typed }
        if let slash = typed.utf8.firstIndex(of: UInt8(ascii: "\\")) {
            let user = typed[typed.utf8.index(after: slash)...]
            guard isKnown(typed[..<slash]), !user.isEmpty else { return nil }
            return String(user)
        }
        if let at = typed.utf8.lastIndex(of: UInt8(ascii: "@")), at != typed.startIndex,
            isKnown(typed[typed.utf8.index(after: at)...])
        {
            return String(typed[..<at])
        }
        return typed
    }

    private func isKnown(_ domain: Substring) -> Bool { names.contains(UTF8Text(domain.lowercased())) }
}

/// The account of this program in the directory.
struct ServiceAccount: Sendable {
    /// The attributes of Active Directory that may have the name, in lower case; none for a distinguished name.
    private let names: [(attribute: String, value: String)]
    /// The key of the distinguished name; nil if the name is another one.
    private let key: String?

    /// Reads a distinguished name, a principal name such as `gatehouse@example.org`, or a name with its domain such as
    /// `EXAMPLE\gatehouse`.
    init(_ name: String) {
        key = DistinguishedName(name)?.key
        let account = name.split(separator: "\\").last ?? ""
        names = key == nil ? [("userprincipalname", name.lowercased()), ("samaccountname", account.lowercased())] : []
    }

    /// Returns whether an entry is the one of the account, as far as its attributes tell.
    func isEntry(_ entry: LDAPEntry) -> Bool {
        guard let key else {
            return names.contains { name in
                entry.values(of: name.attribute).contains {
                    String(decoding: $0, as: UTF8.self).lowercased().hasBytes(of: name.value)
                }
            }
        }
        return DistinguishedName(entry.name)?.key.hasBytes(of: key) == true
    }
}
#endif
