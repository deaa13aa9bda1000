// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import RealmKit

/// The name with which a user binds directly, without a search: a distinguished name, or a name such as
/// `%s@example.org` that Active Directory takes instead.
struct DNPattern: Sendable {
    private let prefix: String
    private let suffix: String
    /// True if the name is a distinguished name.
    let isDistinguishedName: Bool
    /// The attribute of the entry that contains the user name; nil if the name is no distinguished name.
    let nameAttribute: FilterTemplate.NameAttribute?

    /// Reads a pattern.
    ///
    /// - Parameter text: A name with one `%s`, which stands for the user name; in a distinguished name it stands in the
    ///   value of the first attribute.
    /// - Throws: ``BadValue`` if the pattern has another number of `%s`, or is no name.
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
            let value = name.names.first?.first?.value.utf8Range(of: mark)
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

extension [UInt8] {
    fileprivate func utf8Range(of text: String) -> Range<Int>? { firstRange(of: Array(text.utf8)) }
}
#endif
