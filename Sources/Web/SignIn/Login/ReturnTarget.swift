// SPDX-License-Identifier: Apache-2.0

package import AccessControl
internal import Bytes

/// A checked target to return to after a sign-in or sign-out, which never leads to the site of an attacker.
///
/// It is a path at the origin of the request, or an `https` URL of this origin, of an origin in the settings, or of a
/// host that shares the sign-in host. The location is built from the parsed parts, so that a browser parses it in the
/// same way. A query may contain any text, even another URL.
///
/// Source: CVE-2021-29456, GHSA-j5r2-4c8j-xc3m. The URL Standard defines how browsers treat tabs and backslashes.
package struct ReturnTarget: Sendable, Hashable {
    /// The maximum length of a target as received and as sent, in bytes.
    package static let maximumBytes = 2048

    /// The value of the `Location` field: a path at the origin of the request, or a URL at another origin.
    package let location: String
    package let path: RequestPath
    /// The origin of the target; nil if it is the origin of the request.
    package let origin: SignInSettings.Origin?

    /// Parses a target; nil if it is not allowed.
    ///
    /// `own` is the origin of the request.
    package init?(
        _ text: String,
        at own: SignInSettings.Origin,
        _ settings: SignInSettings,
        sharing hosts: SignInHosts? = nil
    ) {
        guard text.utf8.count <= Self.maximumBytes, text.utf8.allSatisfy(Self.isVisible) else { return nil }
        var target = text
        var origin: SignInSettings.Origin?
        if text.utf8.first != UInt8(ascii: "/") {
            guard let url = RequestURL(text), let named = Self.origin(of: url) else { return nil }
            target = url.target
            if named.host != own.host.lowercased() || named.port != own.port {
                let isShared = hosts.map { $0.origin == named || $0.contains(named) } ?? false
                guard isShared || settings.returnTo.contains(named) else { return nil }
                origin = named
            }
        }
        guard let path = RequestPath(target: target) else { return nil }
        // A return to a sign-in page would cause a loop.
        let hasPages = origin.map { named in hosts.map { $0.origin == named || $0.contains(named) } ?? false } ?? true
        if hasPages, !Routes(prefix: settings.prefix).canReturn(to: path) { return nil }
        var location = origin?.description ?? ""
        for segment in path.segments {
            location += "/" + PercentEncoding.encode(segment.string.utf8Span.span, keeping: Self.isPathCharacter)
        }
        if path.endsInSlash { location += "/" }
        if let end = target.utf8.firstIndex(of: UInt8(ascii: "?")) {
            let query = target[target.utf8.index(after: end)...]
            location += "?" + PercentEncoding.encode(query.utf8Span.span, keeping: Self.isQueryCharacter)
        }
        guard location.utf8.count <= Self.maximumBytes else { return nil }
        self.location = location
        self.path = path
        self.origin = origin
    }

    /// Returns true if the location of a target has at most ``maximumBytes``, also if characters must be encoded.
    static func hasUsableLength(_ target: String) -> Bool {
        target.utf8.count <= maximumBytes
            && target.utf8.reduce(0) { $0 + (isQueryCharacter($1) ? 1 : 3) } <= maximumBytes
    }

    /// Returns the origin of a URL with the scheme `https`; nil unless its host and port have their only spelling but for
    /// case: browsers treat a name with a final dot as another origin, which many programs do not.
    private static func origin(of url: RequestURL) -> SignInSettings.Origin? {
        guard url.scheme == .https, let host = RequestHost(url.authority), host.text == url.authority.lowercased()
        else {
            return nil
        }
        return SignInSettings.Origin(host)
    }

    // MARK: Characters

    /// Returns true for the characters of `pchar` of RFC 3986, except the percent sign and the semicolon.
    private static func isPathCharacter(_ byte: UInt8) -> Bool {
        switch ASCII.lowercased(byte) {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "-._~!$&'()*+,=:@".utf8.contains(byte)
        }
    }

    /// Returns true for the characters of `query` of RFC 3986.
    private static func isQueryCharacter(_ byte: UInt8) -> Bool {
        isPathCharacter(byte) || "/?;%".utf8.contains(byte)
    }

    private static func isVisible(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "#") }
}
