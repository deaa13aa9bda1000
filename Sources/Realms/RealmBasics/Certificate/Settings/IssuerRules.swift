// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// The issuers whose certificates are accepted, and the domains whose users each may name.
///
/// Names are compared byte by byte, domains without regard to the case of ASCII letters.
struct IssuerRules: Sendable {
    /// Distinguished names; nil if every issuer that TLS accepts is accepted.
    let accepted: [String]?
    /// Nil if issuers may name users of every domain.
    let domains: [(issuer: String, domain: String)]?

    func accepts(_ issuer: String) -> Bool {
        accepted.map { all in all.contains { $0.utf8.elementsEqual(issuer.utf8) } } ?? true
    }

    /// Returns whether an issuer may name a user, by a DNS name, or a mail address or another name with one `@`.
    func allows(_ name: String, of issuer: String, isHost: Bool) -> Bool {
        guard let domains else { return true }
        let host: Substring.UTF8View
        if isHost {
            host = name[...].utf8
        } else {
            let parts = name.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return false }
            host = parts[1]
        }
        return domains.contains { entry in
            entry.issuer.utf8.elementsEqual(issuer.utf8) && Self.matches(Array(host), entry.domain)
        }
    }

    /// Returns whether a host is a domain, or is below it if the domain begins with a dot.
    private static func matches(_ host: [UInt8], _ domain: String) -> Bool {
        let host = host.map(ASCII.lowercased)
        let domain = domain.utf8.map(ASCII.lowercased)
        guard domain.first == UInt8(ascii: ".") else { return host == domain }
        return host.count > domain.count && host.suffix(domain.count).elementsEqual(domain)
    }

    /// Reads an entry of `issuer-domains`, such as `CN=Town CA,O=Town -> town.example`; nil if it is malformed.
    static func entry(_ text: String) -> (issuer: String, domain: String)? {
        // The last arrow, because a distinguished name may contain one.
        let bytes = Array(text.utf8)
        guard let arrow = bytes.indices.dropLast(1).last(where: { bytes[$0] == 0x2D && bytes[$0 + 1] == 0x3E }) else {
            return nil
        }
        let issuer = trimmed(bytes[..<arrow])
        let domain = trimmed(bytes[(arrow + 2)...])
        guard !issuer.isEmpty, !domain.isEmpty, domain.utf8.allSatisfy(isDomainByte), domain != "." else { return nil }
        return (issuer, domain)
    }

    /// Returns a text without spaces at its ends.
    static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
        let end = bytes.lastIndex { $0 != 0x20 }.map { $0 + 1 } ?? bytes.startIndex
        return String(decoding: bytes[..<end].drop { $0 == 0x20 }, as: UTF8.self)
    }

    private static func isDomainByte(_ byte: UInt8) -> Bool {
        ASCII.isLetterOrDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
    }
}

/// The form in which subjects and issuers of certificates are compared: that of RFC 2253, as OpenSSL writes it.
enum SubjectForm {
    /// The types of parts as OpenSSL writes them, by other spellings in lower case.
    private static let types = [
        "cn": "CN", "c": "C", "l": "L", "st": "ST", "s": "ST", "o": "O", "ou": "OU", "dc": "DC", "uid": "UID",
        "sn": "SN", "gn": "GN", "givenname": "GN", "street": "street", "title": "title", "serialnumber": "serialNumber",
        "emailaddress": "emailAddress", "email": "emailAddress", "e": "emailAddress",
    ]

    /// Returns the reason why no certificate has a name that is written so; nil if one may have it.
    static func problem(of text: String) -> String? {
        var isEscaped = false
        let parts = text.utf8.split(omittingEmptySubsequences: false) { byte in
            defer { isEscaped = byte == UInt8(ascii: "\\") && !isEscaped }
            return !isEscaped && (byte == UInt8(ascii: ",") || byte == UInt8(ascii: "+"))
        }
        for part in parts {
            guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else {
                return "a part has no =; the form is CN=ann,O=Town"
            }
            let type = String(decoding: part[..<equals], as: UTF8.self)
            if type.utf8.first == UInt8(ascii: " ") { return "there is no blank between the parts: CN=ann,O=Town" }
            if type.utf8.first == UInt8(ascii: "/") { return "the form is not that with slashes, but CN=ann,O=Town" }
            if let written = types[type.lowercased()], !written.utf8.elementsEqual(type.utf8) {
                return "\(type) is written \(written)"
            }
        }
        return nil
    }
}
