// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A stored text that begins with the name of its scheme in braces, as in `{SSHA}...`.
struct SchemeText {
    /// The name as written.
    let name: Substring
    /// The text behind the braces.
    let rest: Substring

    /// The name in capitals: LDAP takes it in any case, RFC 3112 section 2.
    var folded: String { name.uppercased() }

    /// Splits a text; nil if it does not begin with a name of up to 40 letters, digits and `-_@.` in braces.
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
}
