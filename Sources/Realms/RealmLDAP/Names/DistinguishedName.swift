// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import CLDAP

/// A distinguished name (RFC 4514), read by libldap.
struct DistinguishedName: Sendable {
    /// An attribute of a relative name.
    struct Part: Sendable, Hashable {
        /// The name of the attribute, in lower case.
        ///
        /// It may be an object identifier, but not one of an attribute of RFC 4514 section 3, which has its name.
        let attribute: String
        let value: [UInt8]
        /// True if ``value`` was written as `#` and the digits of its BER encoding, which is no text.
        var isEncoded = false
    }

    /// The relative names, the most specific one first.
    let names: [[Part]]

    /// The maximum length of a name in bytes, as in OpenLDAP: libldap takes the square of the number of parts.
    private static let maximumBytes = 8192

    /// Reads a name; the result is nil if the text is none, or too long.
    ///
    /// A text in which libldap would read the name of another entry is none, too.
    init?(_ text: String) {
        guard text.utf8.count <= Self.maximumBytes, !Self.isMisread(text) else { return nil }
        var dn: LDAPDN?
        guard unsafe ldap_str2dn(text, &dn, UInt32(LDAP_DN_FORMAT_LDAPV3)) == LDAP_SUCCESS else { return nil }
        defer { unsafe ldap_dnfree(dn) }
        var names: [[Part]] = []
        // The empty name has no list.
        while let relative = unsafe dn?[names.count] {
            var parts: [Part] = []
            while let pair = unsafe relative[parts.count] { unsafe parts.append(Part(pair.pointee)) }
            names.append(parts)
        }
        self.names = names
    }

    /// Returns whether libldap reads a text differently from RFC 4514.
    ///
    /// It drops control characters at the ends of a value, and the options of an attribute, such as `;lang-de`. Of the
    /// blanks behind the value `\\`, the first becomes a part of the value. In a value of hexadecimal digits it drops all
    /// that follows a blank, and takes no digits for an empty value.
    private static func isMisread(_ text: String) -> Bool {
        enum Place { case name, value, numberSign, digits, blanksAfterDigits, text }
        var place = Place.name
        var isEscaped = false
        // The number of characters since an escaped backslash, if all of them but it are blanks; 0 for none.
        var length = 0
        for byte in text.utf8 {
            let isEnd = byte == UInt8(ascii: ",") || byte == UInt8(ascii: "+")
            if byte < 0x20 || !isEscaped && (byte == UInt8(ascii: ";") || isEnd && length > 1) { return true }
            switch place {
            case .numberSign where isEnd || byte == 0x20: return true
            case .numberSign: place = .digits
            case _ where isEnd && !isEscaped: place = .name
            case .name where byte == UInt8(ascii: "="): place = .value
            case .value where byte == UInt8(ascii: "#"): place = .numberSign
            case .value where byte != 0x20: place = .text
            case .digits where byte == 0x20: place = .blanksAfterDigits
            case .blanksAfterDigits where byte != 0x20: return true
            default: break
            }
            let isBackslash = byte == UInt8(ascii: "\\")
            if isEscaped { length = isBackslash ? 1 : 0 } else { length = length > 0 && byte == 0x20 ? length + 1 : 0 }
            isEscaped = isBackslash && !isEscaped
        }
        return length > 1 || place == .numberSign
    }

    // MARK: The canonical form

    /// The canonical form of the name, by RFC 4514, which is the same for all its spellings.
    ///
    /// Attributes are in lower case, and so are the values of attributes whose values have no case. An attribute of
    /// RFC 4514 section 3 has its name, even if its object identifier was written. There are no blanks around `,`, `+`
    /// and `=`, and no more escapes than needed. The parts of a relative name are sorted by their bytes.
    ///
    /// Different names never have the same form. Directories ignore further differences, such as repeated blanks; names
    /// that differ so are different here.
    var key: String { Self.key(names[...]) }

    private static func key(_ names: ArraySlice<[Part]>) -> String {
        names.map { parts in
            parts.map(\.key).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.joined(separator: "+")
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
        let isPlain = labels.joined().utf8.allSatisfy { $0.isAlphanumeric || $0 == UInt8(ascii: "-") }
        guard !labels.isEmpty, isPlain else { return nil }
        return labels.map { "dc=\($0)" }.joined(separator: ",")
    }

    /// Returns the value of an attribute of the most specific relative name; nil if it has another attribute.
    func value(of attribute: String) -> [UInt8]? {
        let name = Part.name(attribute)
        return names.first?.first { !$0.isEncoded && $0.attribute.hasBytes(of: name) }?.value
    }
}

extension DistinguishedName.Part {
    fileprivate init(_ pair: LDAPAVA) {
        attribute = unsafe Self.name(String(decoding: LDAPHandle.bytes(pair.la_attr), as: UTF8.self))
        value = unsafe LDAPHandle.bytes(pair.la_value)
        isEncoded = unsafe pair.la_flags & UInt32(LDAP_AVA_BINARY) != 0
    }

    /// The attributes of RFC 4514 section 3 by their object identifiers; their values have no case (RFC 4519).
    private static let nameByIdentifier = [
        "2.5.4.3": "cn", "2.5.4.7": "l", "2.5.4.8": "st", "2.5.4.10": "o", "2.5.4.11": "ou", "2.5.4.6": "c",
        "2.5.4.9": "street", "0.9.2342.19200300.100.1.25": "dc", "0.9.2342.19200300.100.1.1": "uid",
    ]
    private static let caselessAttributes = Set(nameByIdentifier.values)

    /// Returns the name of an attribute in lower case; the name is written, or an object identifier.
    fileprivate static func name(_ attribute: String) -> String {
        let lowered = attribute.lowercased()
        return nameByIdentifier[lowered] ?? lowered
    }

    fileprivate var key: String {
        guard !isEncoded else { return "\(attribute)=#\(Hexadecimal.encode(value.span))" }
        guard let text = UTF8Text(validating: value.span)?.string else {
            return "\(attribute)=\(LDAPText.nameValue(value))"
        }
        let hasCase = !Self.caselessAttributes.contains(attribute)
        return "\(attribute)=\(LDAPText.readableNameValue(hasCase ? text : Self.lowercased(text)))"
    }

    /// Returns a text in lower case; outside of ASCII, only a capital that is the only one of its small letter is
    /// changed.
    ///
    /// For example the Kelvin sign stays, because the small letter of it is that of K, too.
    private static func lowercased(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.lowercased() }
        var lowered = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let small = scalar.properties.lowercaseMapping.unicodeScalars
            let capital = small.first?.properties.uppercaseMapping.unicodeScalars
            let isPair = small.count == 1 && capital?.elementsEqual([scalar]) == true
            lowered.append(isPair ? small.first ?? scalar : scalar)
        }
        return String(lowered)
    }
}
#endif
