// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// The host and port of a request (RFC 9110 section 7.2, RFC 3986 section 3.2).
enum Authority {
    /// Returns whether bytes are a host with an optional port.
    ///
    /// User information (`user@host`) is not allowed in a request.
    static func isValid(_ bytes: Span<UInt8>) -> Bool {
        guard !bytes.isEmpty, bytes.count <= 300 else { return false }
        var end = 0
        if bytes[0] == UInt8(ascii: "[") {
            end = 1
            while end < bytes.count, isAddressCharacter(bytes[end]) { end += 1 }
            guard end > 3, end < bytes.count, bytes[end] == UInt8(ascii: "]") else { return false }
            end += 1
        } else {
            while end < bytes.count, isNameCharacter(bytes[end]) { end += 1 }
            guard end > 0 else { return false }
        }
        guard end < bytes.count else { return true }
        guard bytes[end] == ASCII.colon, bytes.count - end <= 6 else { return false }
        var port = 0
        for index in (end + 1)..<bytes.count {
            guard ASCII.isDigit(bytes[index]) else { return false }
            port = port * 10 + Int(bytes[index] - UInt8(ascii: "0"))
        }
        return port <= 65_535
    }

    /// Checks that a target is a path, or a URL whose authority equals the Host field.
    ///
    /// If they differ, a server must use the target's authority (RFC 9112 section 3.2.2). Some proxies use the Host
    /// field, so the request is rejected.
    static func checkTarget(
        of summary: RequestHead.Summary,
        in bytes: Span<UInt8>,
        hasHost: Bool
    ) throws(RequestFault) {
        let target = bytes.extracting(summary.target.range)
        guard target[0] != UInt8(ascii: "/") else { return }
        if summary.method == .options, target.equals("*") { return }
        let scheme =
            target.count > 8 && target.extracting(first: 8).equalsIgnoringCase("https://")
            ? 8
            : target.count > 7 && target.extracting(first: 7).equalsIgnoringCase("http://") ? 7 : 0
        guard scheme > 0 else { throw .malformed("the target is neither a path nor a URL") }
        var end = scheme
        while end < target.count, target[end] != UInt8(ascii: "/"), target[end] != UInt8(ascii: "?") { end += 1 }
        let authority = target.extracting(scheme..<end)
        guard isValid(authority) else { throw .malformed("the target has no valid host") }
        guard hasHost else { return }
        let host = bytes.extracting(summary.host.range)
        guard authority.equalsIgnoringCase(host) else {
            throw .malformed("the target and the Host field contain different hosts")
        }
    }

    /// Returns whether a byte is a character of a host name or an IPv4 address.
    ///
    /// These are the `unreserved` characters of RFC 3986 section 2.3. The other characters of `reg-name` are rejected.
    private static func isNameCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func isAddressCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "F"),
            UInt8(ascii: "a")...UInt8(ascii: "f"), ASCII.colon, UInt8(ascii: "."):
            true
        default: false
        }
    }
}
