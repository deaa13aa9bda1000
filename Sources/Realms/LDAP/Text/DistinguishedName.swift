// SPDX-License-Identifier: Apache-2.0
// Gatehouse

#if LDAP
internal import Bytes
internal import CLDAP

/// A distinguished name (RFC 4514), read by libldap.
struct DistinguishedName: Sendable {
    /// One attribute of a relative name.
    struct Part: Sendable, Hashable {
        /// The name of the attribute, in lower case.
        let attribute: String
        let value: [UInt8]
    }

    /// The relative names, the most specific one first.
    let names: [[Part]]

    /// The maximum length of a name in bytes, as in OpenLDAP: libldap takes the square of the number of parts.
    private static let maximumBytes = 8192

    /// Reads a name; the result is nil if the text is none, or too long.
    init?(_ text: String) {
        guard text.utf8.count <= Self.maximumBytes, !text.utf8.contains(0) else { return nil }
        var dn: LDAPDN?
        guard unsafe ldap_str2dn(text, &dn, UInt32(LDAP_DN_FORMAT_LDAPV3)) == LDAP_SUCCESS else { return nil }
        defer { unsafe ldap_dnfree(dn) }
        var names: [[Part]] = []
        // The empty name has no list.
        if let list = unsafe dn {
            var place = 0
            while let relative = unsafe list[place] {
                var parts: [Part] = []
                var index = 0
                while let pair = unsafe relative[index] {
                    unsafe parts.append(
                        Part(
                            attribute: String(decoding: Self.bytes(pair.pointee.la_attr), as: UTF8.self).lowercased(),
                            value: Self.bytes(pair.pointee.la_value)
                        )
                    )
                    index += 1
                }
                names.append(parts)
                place += 1
            }
        }
        self.names = names
    }

    private static func bytes(_ value: berval) -> [UInt8] {
        guard let base = unsafe value.bv_val else { return [] }
        return unsafe Array(UnsafeRawBufferPointer(start: base, count: Int(value.bv_len)))
    }

    /// A key that is equal for equal names, whose attributes most directories compare without regard to case.
    var key: String { Self.key(names[...]) }

    private static func key(_ names: ArraySlice<[Part]>) -> String {
        names.map { parts in
            parts.map { part in
                let lowered = UTF8Text(validating: part.value.span).map { Array($0.string.lowercased().utf8) }
                return "\(part.attribute)=\(LDAPText.nameValue(lowered ?? part.value))"
            }.sorted().joined(separator: "+")
        }.joined(separator: ",")
    }

    /// Returns whether the entry of this name is the entry of another name or below it.
    func isWithin(_ base: DistinguishedName) -> Bool {
        names.count >= base.names.count && Self.key(names.suffix(base.names.count)).hasBytes(of: base.key)
    }

    /// The name of the domain that the last parts spell (RFC 2247), such as `dc=example,dc=org`; nil if there is none.
    var domain: String? {
        let labels = names.reversed().prefix { $0.count == 1 && $0[0].attribute.hasBytes(of: "dc") }.reversed().map {
            String(decoding: $0[0].value, as: UTF8.self)
        }
        let isPlain = labels.allSatisfy { label in
            label.utf8.allSatisfy { byte in
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                    || byte == UInt8(ascii: "-")
            }
        }
        guard !labels.isEmpty, isPlain else { return nil }
        return labels.map { "dc=\($0)" }.joined(separator: ",")
    }

    /// Returns the value of an attribute of the most specific relative name; nil if it has another attribute.
    func value(of attribute: String) -> [UInt8]? {
        names.first?.first { $0.attribute.hasBytes(of: attribute.lowercased()) }?.value
    }
}
#endif
