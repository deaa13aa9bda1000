// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// What an application behind a proxy is told of who is signed in.
///
/// All are set always, if to nothing: what is not set, a proxy would leave as the client has sent it (CVE-2026-30851).
struct IdentityHeaders: Sendable, Hashable {
    /// The names of the fields, in the order of ``values``.
    static let names: [StaticString] = ["remote-user", "remote-groups", "remote-realm"]

    /// The name, percent-encoded; empty for nobody.
    let user: String
    /// The groups, each percent-encoded, separated by commas.
    let groups: String
    /// The realm's name, percent-encoded.
    let realm: String

    /// The values, in the order of ``names``.
    var values: [String] { [user, groups, realm] }

    /// What is told of somebody, or of nobody.
    init(_ user: SignedInUser?) {
        self.user = user.map { Self.encoded($0.username.text) } ?? ""
        groups = user?.groups.map(Self.encoded).joined(separator: ",") ?? ""
        realm = user.map { Self.encoded($0.realm) } ?? ""
    }

    /// Letters and digits of ASCII, `-`, `.`, `_`, `~` and `@` as they are, all other bytes as `%` and two digits.
    ///
    /// `+` is encoded: some read it as a blank. Source: RFC 3986 sections 2.1 and 2.3.
    static func encoded(_ text: String) -> String {
        guard !text.utf8.allSatisfy(isPlain) else { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count * 3)
        for byte in text.utf8 {
            if isPlain(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"), UInt8(ascii: "@"):
            true
        default: false
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }
}
