// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import HTTPServer
internal import HTTPTypes
internal import RealmKit
internal import SignIn

/// The header fields with the user of a request, for an application behind a proxy.
///
/// All fields are always set. If there is no user, their values are empty. If a field were missing, a proxy could
/// forward the client's field of the same name (CVE-2026-30851).
struct IdentityHeaders: Sendable, Hashable {
    /// The names of the fields in the order of ``values``, in the spelling that applications know.
    static let names = [
        HTTPField.Name.known("Remote-User"), .known("Remote-Groups"), .known("Remote-Realm"), .known("Remote-Email"),
        .known("Remote-Name"), .known("Remote-Token"),
    ]

    let user: String
    /// Separated by commas.
    let groups: String
    let realm: String
    /// The first value of the attribute `mail`; empty if the user has none.
    let email: String
    /// The first value of the attribute `displayName`; empty if the user has none.
    let name: String
    /// The identity token; empty if there is no user, or if tokens are not configured.
    let token: String

    var values: [String] { [user, groups, realm, email, name, token] }

    /// Creates the fields; all texts but the token are encoded.
    init(_ user: SignedInUser?, token: String = "", encoding: ProtectRule.IdentityFieldEncoding = .percent) {
        let encode =
            switch encoding {
            case .percent: Self.encoded
            case .utf8: Self.readable
            }
        self.token = token
        self.user = user.map { encode($0.username.text) } ?? ""
        groups = (user?.groups ?? []).filter { encoding == .percent || Self.isReadable($0) && !$0.utf8.contains(0x2C) }
            .map(encode).joined(separator: ",")
        realm = user.map { encode($0.realm) } ?? ""
        email = user?.attributes.values(of: UserAttribute.mail).first.map(encode) ?? ""
        name = user?.attributes.values(of: UserAttribute.displayName).first.map(encode) ?? ""
    }

    /// Returns a text as it is, or percent-encoded if a field cannot contain it.
    private static func readable(_ text: String) -> String { isReadable(text) ? text : encoded(text) }

    /// Returns whether a field can contain a text as it is: without control characters, and without blanks at its ends,
    /// which a recipient removes (RFC 9110 section 5.5).
    private static func isReadable(_ text: String) -> Bool {
        guard let first = text.utf8.first, let last = text.utf8.last, first != 0x20, last != 0x20 else { return false }
        return text.unicodeScalars.allSatisfy { scalar in
            switch scalar.value {
            case 0x00...0x1F, 0x7F...0x9F, 0x2028, 0x2029: false
            default: true
            }
        }
    }

    /// Percent-encodes all but ASCII letters and digits, `-`, `.`, `_`, `~` and `@`.
    ///
    /// `+` is encoded because some applications decode it as a space.
    static func encoded(_ text: String) -> String { PercentEncoding.encode(text, keeping: "@") }
}

/// An encoded response with an identity token in a `ResponseCache`.
final class TokenResponse: Sendable {
    let response: PreparedResponse
    private let host: String
    /// The time of the token, in seconds since 1970.
    private let time: Int

    init(_ response: PreparedResponse, for host: String, at time: Int) {
        self.response = response
        self.host = host
        self.time = time
    }

    /// Returns whether the response can be sent again: the token is for this host and new enough.
    ///
    /// If the clock was set back, the token would be valid for longer than it says, so it is not sent again.
    func isCurrent(for host: String, at now: Int) -> Bool {
        let isNew = (time..<time + IdentityTokenSource.reuseTime).contains(now)
        return response.status == 200 && isNew && self.host.hasBytes(of: host)
    }
}
