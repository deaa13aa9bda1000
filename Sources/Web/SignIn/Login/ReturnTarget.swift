// SPDX-License-Identifier: Apache-2.0

package import AccessControl
internal import Bytes
internal import RealmConfiguration

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
        let bytes = text.utf8Span.span
        guard !bytes.isEmpty, bytes.count <= Self.maximumBytes else { return nil }
        for index in bytes.indices where !Self.isVisible(bytes[index]) { return nil }
        var origin: SignInSettings.Origin?
        var start = 0
        if bytes[0] != UInt8(ascii: "/") {
            guard let (named, end) = Self.origin(bytes) else { return nil }
            start = end
            if named.host != own.host.lowercased() || named.port != own.port {
                let isShared = hosts.map { $0.origin == named || $0.contains(named) } ?? false
                guard isShared || settings.returnTo.contains(named) else { return nil }
                origin = named
            }
        }
        var end = start
        while end < bytes.count, bytes[end] != UInt8(ascii: "?") { end += 1 }
        let root: StaticString = "/"
        let path =
            end == start
            ? RequestPath(target: root.description.utf8Span.span) : RequestPath(target: bytes.extracting(start..<end))
        guard let path else { return nil }
        // A return to a sign-in page would cause a loop.
        let hasPages = origin.map { named in hosts.map { $0.origin == named || $0.contains(named) } ?? false } ?? true
        if hasPages, !Routes(prefix: settings.prefix).canReturn(to: path) { return nil }
        var location = origin?.description ?? ""
        for segment in path.segments {
            location += "/" + PercentEncoding.encode(segment.string.utf8Span.span, keeping: Self.isPathCharacter)
        }
        if path.endsInSlash { location += "/" }
        if end < bytes.count {
            location +=
                "?" + PercentEncoding.encode(bytes.extracting((end + 1)..<bytes.count), keeping: Self.isQueryCharacter)
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

    // MARK: Origins

    /// Returns the origin at the beginning of a URL, and the index of its end.
    private static func origin(_ bytes: Span<UInt8>) -> (SignInSettings.Origin, end: Int)? {
        let scheme: StaticString = "https://"
        let length = scheme.utf8CodeUnitCount
        guard bytes.count > length else { return nil }
        for (index, byte) in scheme.description.utf8.enumerated() where ASCII.lowercased(bytes[index]) != byte {
            return nil
        }
        var end = length
        if bytes[end] == UInt8(ascii: "[") {
            end += 1
            while end < bytes.count, isAddressCharacter(bytes[end]) { end += 1 }
            guard end > length + 3, end < bytes.count, bytes[end] == UInt8(ascii: "]") else { return nil }
            end += 1
        } else {
            while end < bytes.count, isHostCharacter(bytes[end]) { end += 1 }
            // A browser treats a name with a final dot as another origin. Many programs ignore the final dot.
            guard end > length, bytes[end - 1] != UInt8(ascii: ".") else { return nil }
        }
        let host = String(decoding: (length..<end).map { ASCII.lowercased(bytes[$0]) }, as: UTF8.self)
        var port = 443
        if end < bytes.count, bytes[end] == UInt8(ascii: ":") {
            let start = end + 1
            port = 0
            end = start
            while end < bytes.count, ASCII.isDigit(bytes[end]), end - start < 5 {
                port = port * 10 + Int(bytes[end] - UInt8(ascii: "0"))
                end += 1
            }
            guard end > start, bytes[start] != UInt8(ascii: "0"), port <= 65_535 else { return nil }
        }
        guard end == bytes.count || bytes[end] == UInt8(ascii: "/") || bytes[end] == UInt8(ascii: "?") else {
            return nil
        }
        return (SignInSettings.Origin(host: host, port: port), end)
    }

    // MARK: Characters

    /// Returns true for the characters of `pchar` of RFC 3986, except the percent sign and the semicolon.
    private static func isPathCharacter(_ byte: UInt8) -> Bool {
        isHostCharacter(byte) || "~!$&'()*+,=:@".utf8.contains(byte)
    }

    /// Returns true for the characters of `query` of RFC 3986.
    private static func isQueryCharacter(_ byte: UInt8) -> Bool {
        isPathCharacter(byte) || "/?;%".utf8.contains(byte)
    }

    private static func isVisible(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "#") }

    private static func isHostCharacter(_ byte: UInt8) -> Bool {
        switch ASCII.lowercased(byte) {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func isAddressCharacter(_ byte: UInt8) -> Bool {
        switch ASCII.lowercased(byte) {
        case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: ":"),
            UInt8(ascii: "."):
            true
        default: false
        }
    }
}
