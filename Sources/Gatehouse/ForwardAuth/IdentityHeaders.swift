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
    /// `+` is encoded: some read it as a blank.
    static func encoded(_ text: String) -> String { PercentEncoding.encode(text, keeping: "@") }
}
