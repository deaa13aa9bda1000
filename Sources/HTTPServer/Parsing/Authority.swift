// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The host and port of a request (RFC 9110 section 7.2, RFC 3986 section 3.2).
enum Authority {
    /// Whether bytes are a host, and a port if there is one; without user information, which has no place in a request.
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
        guard bytes[end] == Octet.colon, bytes.count - end <= 6 else { return false }
        var port = 0
        for index in (end + 1)..<bytes.count {
            guard Octet.isDigit(bytes[index]) else { return false }
            port = port * 10 + Int(bytes[index] - UInt8(ascii: "0"))
        }
        return port <= 65_535
    }

    /// The forms a target may have: a path, or a URL whose authority is that of the Host field.
    ///
    /// RFC 9112 section 3.2.2 has the target's authority count when the two differ. Whoever stands in front may think
    /// otherwise, so a request in which they differ is refused.
    static func check(_ bytes: Span<UInt8>, _ facts: RequestHead.Facts, hasHost: Bool) throws(RequestFault) {
        let target = bytes.extracting(facts.target.range)
        guard target[0] != UInt8(ascii: "/") else { return }
        if facts.method == .options, target.equals("*") { return }
        let scheme =
            target.count > 8 && target.extracting(first: 8).equalsIgnoringCase("https://")
            ? 8
            : target.count > 7 && target.extracting(first: 7).equalsIgnoringCase("http://") ? 7 : 0
        guard scheme > 0 else { throw .malformed("the target is neither a path nor a URL") }
        var end = scheme
        while end < target.count, target[end] != UInt8(ascii: "/"), target[end] != UInt8(ascii: "?") { end += 1 }
        let authority = target.extracting(scheme..<end)
        guard isValid(authority) else { throw .malformed("the target names no host") }
        guard hasHost else { return }
        let host = bytes.extracting(facts.host.range)
        guard authority.count == host.count else { throw .malformed("the target and Host name different hosts") }
        for index in host.indices where Octet.lowercased(host[index]) != Octet.lowercased(authority[index]) {
            throw .malformed("the target and Host name different hosts")
        }
    }

    /// `unreserved` and `sub-delims` without what no host name has, and percent signs for encoded names.
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
            UInt8(ascii: "a")...UInt8(ascii: "f"), Octet.colon, UInt8(ascii: "."):
            true
        default: false
        }
    }
}
