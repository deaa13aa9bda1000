// SPDX-License-Identifier: Apache-2.0
// Gatehouse

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
    /// Directories ignore some differences between names outside of ASCII. The failed logins of each spelling would be
    /// counted apart, so such names cannot be used without a search.
    func bindName(_ user: String) -> String? {
        let isPlain = user.utf8.allSatisfy { byte in
            switch byte {
            case 0x21...0x7E: isDistinguishedName || byte != UInt8(ascii: "@") && byte != UInt8(ascii: "\\")
            default: false
            }
        }
        guard isPlain else { return nil }
        return prefix + (isDistinguishedName ? LDAPText.nameValue(user.utf8) : user) + suffix
    }
}

extension [UInt8] {
    fileprivate func utf8Range(of text: String) -> Range<Int>? { firstRange(of: Array(text.utf8)) }
}
#endif
