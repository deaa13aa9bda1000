// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Bytes
internal import RealmKit

/// The header fields that name the user to an application behind a proxy.
///
/// All of them are always set, if necessary to an empty value. Otherwise a proxy could pass on a field of the client
/// (CVE-2026-30851).
struct IdentityHeaders: Sendable, Hashable {
    /// The names of the fields, in the order of ``values``.
    static let names: [StaticString] = ["remote-user", "remote-groups", "remote-realm"]

    /// The user name, percent-encoded; empty without a user.
    let user: String
    /// The groups, each percent-encoded, separated by commas.
    let groups: String
    /// The realm's name, percent-encoded.
    let realm: String

    /// The values, in the order of ``names``.
    var values: [String] { [user, groups, realm] }

    /// The fields of a user, or of a request without one.
    init(_ user: SignedInUser?) {
        self.user = user.map { Self.encoded($0.username.text) } ?? ""
        groups = user?.groups.map(Self.encoded).joined(separator: ",") ?? ""
        realm = user.map { Self.encoded($0.realm) } ?? ""
    }

    /// Returns a text in percent-encoding, except for ASCII letters and digits, `-`, `.`, `_`, `~` and `@`.
    ///
    /// `+` is encoded: some applications decode it as a blank.
    static func encoded(_ text: String) -> String { PercentEncoding.encode(text, keeping: "@") }
}
