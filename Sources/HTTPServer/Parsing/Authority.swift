// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Bytes

/// The host and port of a request (RFC 9110 section 7.2, RFC 3986 section 3.2).
enum Authority {
    /// Returns whether bytes are a host with an optional port.
    ///
    /// User information is not allowed in a request.
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

    /// Checks the form of a target: a path, or a URL whose authority is that of the Host field.
    ///
    /// By RFC 9112 section 3.2.2 the target's authority counts when the two differ. A proxy may do otherwise, so a
    /// request in which they differ is rejected.
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
        guard authority.equalsIgnoringCase(host) else { throw .malformed("the target and Host name different hosts") }
    }

    /// The characters of host names and IPv4 addresses: `unreserved` of RFC 3986 section 2.3, and no others of
    /// `reg-name`.
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
