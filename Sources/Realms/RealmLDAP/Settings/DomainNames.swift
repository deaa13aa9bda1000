// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import RealmKit

/// The domains that a user may type with the user name, as in `EXAMPLE\ann` and `ann@example.org`.
struct DomainNames: Sendable {
    private let names: Set<UTF8Text>

    /// - Parameter names: The names, compared without regard to case.
    init(_ names: [String]) {
        self.names = Set(names.map { UTF8Text($0.lowercased()) })
    }

    /// Returns the user name without the domain.
    ///
    /// - Parameter typed: The name as it was typed.
    /// - Returns: The name; nil if the domain before a backslash is none of these. A name with an `@` and another domain
    ///   is returned as it is, because it may be a mail address.
    func withoutDomain(_ typed: String) -> String? {
        guard !names.isEmpty else { return typed }
        if let slash = typed.utf8.firstIndex(of: UInt8(ascii: "\\")) {
            let user = typed[typed.utf8.index(after: slash)...]
            guard isKnown(typed[..<slash]), !user.isEmpty else { return nil }
            return String(user)
        }
        if let at = typed.utf8.lastIndex(of: UInt8(ascii: "@")), at != typed.startIndex,
            isKnown(typed[typed.utf8.index(after: at)...])
        {
            return String(typed[..<at])
        }
        return typed
    }

    private func isKnown(_ domain: Substring) -> Bool { names.contains(UTF8Text(domain.lowercased())) }
}
#endif
