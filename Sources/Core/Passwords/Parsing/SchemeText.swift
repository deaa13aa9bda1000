// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// A stored text that begins with the name of its scheme in braces, such as `{SSHA}...`.
struct SchemeText {
    /// The name as it is written in the text.
    let name: Substring
    /// The text after the braces.
    let rest: Substring

    /// The name in upper case.
    ///
    /// In LDAP the case of the name does not matter (RFC 3112 section 2).
    var uppercaseName: String { name.uppercased() }

    /// Splits a text; nil if it does not begin with a name in braces.
    ///
    /// A name has at most 40 letters, digits and characters of `-_@.`.
    init?(_ stored: String) {
        guard stored.utf8.first == UInt8(ascii: "{"), let end = stored.utf8.prefix(42).firstIndex(of: UInt8(ascii: "}"))
        else { return nil }
        name = stored[stored.index(after: stored.startIndex)..<end]
        rest = stored[stored.index(after: end)...]
        guard !name.isEmpty,
            name.utf8.allSatisfy({ byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                    || [UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "@"), UInt8(ascii: ".")].contains(byte)
            })
        else { return nil }
    }

    /// Returns the text without Dovecot's suffix of a name, which has the encoding of the rest: `.HEX`, `.B64`, `.BASE64`.
    ///
    /// - Returns: The text, with digests in Base64 as ``LDAPFormat`` reads them; nil if there is no such suffix.
    /// - Throws: ``BadHash`` if the rest does not have this encoding.
    func decoded() throws(BadHash) -> String? {
        guard let dot = name.lastIndex(of: ".") else { return nil }
        let (scheme, bytes): (Substring, [UInt8]?)
        switch name[dot...].uppercased() {
        case ".HEX": (scheme, bytes) = (name[..<dot], DigestColumn.hexadecimal(rest))
        case ".B64", ".BASE64": (scheme, bytes) = (name[..<dot], Base64.padded.decode(rest))
        case _: return nil
        }
        let isDigest = LDAPFormat.digests[scheme.uppercased()] != nil
        guard let bytes,
            let text = isDigest ? Base64.padded.encode(bytes.span) : String(validating: bytes, as: UTF8.self)
        else { throw BadHash("{\(name)}: the text behind the name does not have this encoding") }
        return "{\(scheme)}\(text)"
    }
}
