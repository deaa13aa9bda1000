// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes

/// The account of this program in the directory.
struct ServiceAccount: Sendable {
    /// The attributes of Active Directory that may have the name, in lower case; none for a distinguished name.
    private let names: [(attribute: String, value: String)]
    /// The key of the distinguished name; nil if the name is another one.
    private let key: String?

    /// - Parameter name: The distinguished name, a principal name such as `gatehouse@example.org`, or a name with its
    ///   domain such as `EXAMPLE\gatehouse`.
    init(_ name: String) {
        key = DistinguishedName(name)?.key
        let account = name.split(separator: "\\").last ?? ""
        names =
            key == nil ? [("userprincipalname", name.lowercased()), ("samaccountname", account.lowercased())] : []
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
        // Names of ASCII without escaped characters have the length of their keys; most names differ in it.
        let isPlain = key.utf8.allSatisfy { $0 < 0x80 && $0 != UInt8(ascii: "\\") }
        guard !isPlain || key.utf8.count == entry.name.utf8.count else { return false }
        return DistinguishedName(entry.name)?.key.hasBytes(of: key) == true
    }
}
#endif
