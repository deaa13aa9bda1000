// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Bytes
internal import RealmKit

/// The header fields with the user of a request, for an application behind a proxy.
///
/// All fields are always set. If there is no user, their values are empty. If a field were missing, a proxy could
/// forward the client's field of the same name (CVE-2026-30851).
struct IdentityHeaders: Sendable, Hashable {
    /// The names of the fields, in the order of ``values``.
    static let names: [StaticString] = [
        "remote-user", "remote-groups", "remote-realm", "remote-email", "remote-name", "remote-token",
    ]

    /// The percent-encoded user name; empty if there is no user.
    let user: String
    /// The percent-encoded groups, separated by commas.
    let groups: String
    /// The percent-encoded name of the realm.
    let realm: String
    /// The first percent-encoded value of the attribute `mail`; empty if the user has none.
    let email: String
    /// The first percent-encoded value of the attribute `displayName`; empty if the user has none.
    let name: String
    /// The identity token; empty if there is no user, or if tokens are not configured.
    let token: String

    /// The values, in the order of ``names``.
    var values: [String] { [user, groups, realm, email, name, token] }

    /// Creates the fields for a user.
    ///
    /// - Parameters:
    ///   - user: The user; nil for a request without a user.
    ///   - token: The identity token; empty if there is none.
    init(_ user: SignedInUser?, token: String = "") {
        self.token = token
        self.user = user.map { Self.encoded($0.username.text) } ?? ""
        groups = user?.groups.map(Self.encoded).joined(separator: ",") ?? ""
        realm = user.map { Self.encoded($0.realm) } ?? ""
        email = user?.attributes.values(of: UserAttribute.mail).first.map(Self.encoded) ?? ""
        name = user?.attributes.values(of: UserAttribute.displayName).first.map(Self.encoded) ?? ""
    }

    /// Percent-encodes a text.
    ///
    /// ASCII letters and digits, `-`, `.`, `_`, `~` and `@` are not encoded.
    ///
    /// `+` is encoded because some applications decode it as a space.
    static func encoded(_ text: String) -> String { PercentEncoding.encode(text, keeping: "@") }
}
