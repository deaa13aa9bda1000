// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// The URL of a server: `https://HOST`, `https://HOST:PORT`, or one of these with the prefix of its pages.
///
/// The text is canonical, so that each server has one entry in the file of known servers.
struct ServerURL: Sendable, CustomStringConvertible {
    /// The URL in lower case up to the path, without the port 443 and without a `/` at its end.
    let description: String

    /// Reads a URL; nil if it is not the URL of a server.
    init?(_ text: String) {
        let scheme = "https://"
        guard text.utf8.count <= 1024, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            !text.utf8.contains(where: { "?#@\\%\"<>".utf8.contains($0) }),
            text.prefix(scheme.count).lowercased() == scheme
        else { return nil }
        let rest = text.dropFirst(scheme.count)
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        var authority = rest[..<slash].lowercased()
        guard !authority.isEmpty, authority.utf8.first != UInt8(ascii: ":") else { return nil }
        if authority.hasSuffix(":443") { authority.removeLast(4) }
        var path = rest[slash...]
        while path.hasSuffix("/") { path.removeLast() }
        description = scheme + authority + path
    }

    /// The URL of the list of realms.
    var realms: String { description + "/realms" }

    /// Returns the URL that checks credentials in a realm.
    func check(_ realm: String) -> String { "\(realms)/\(PercentEncoding.encode(realm))/check" }
}
