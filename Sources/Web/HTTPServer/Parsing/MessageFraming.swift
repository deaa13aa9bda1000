// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// The fields that decide the length of the body and whether the connection stays open (RFC 9112 sections 3.2, 6, 9.3).
struct MessageFraming {
    private var hostCount = 0
    private var hasLength = false
    private var hasCoding = false
    private var closes = false
    private var keepsAlive = false

    mutating func process(
        _ field: RequestHead.Field,
        in bytes: Span<UInt8>,
        into summary: inout RequestHead.Summary
    ) throws(RequestFault) {
        switch field.kind {
        case .host:
            hostCount += 1
            guard hostCount == 1 else { throw .malformed("more than one Host") }
            summary.host = field.value
        case .contentLength:
            guard !hasLength else { throw .malformed("more than one Content-Length") }
            hasLength = true
            summary.body = .length(try length(bytes.extracting(field.value.range)))
        case .transferEncoding:
            guard !hasCoding, bytes.extracting(field.value.range).equalsIgnoringCase("chunked") else {
                throw .malformed("Transfer-Encoding is not \"chunked\"")
            }
            hasCoding = true
        case .connection:
            readConnectionOptions(bytes.extracting(field.value.range))
        case .expect:
            guard bytes.extracting(field.value.range).equalsIgnoringCase("100-continue") else {
                throw RequestFault(417, "the only supported expectation is 100-continue")
            }
            summary.expectsContinue = true
        case .accept, .acceptLanguage, .authorization, .cookie, .other: break
        }
    }

    mutating func finish(_ bytes: Span<UInt8>, into summary: inout RequestHead.Summary) throws(RequestFault) {
        if hasCoding {
            guard !hasLength else { throw .malformed("both Content-Length and Transfer-Encoding") }
            guard summary.version == .http11 else { throw .malformed("Transfer-Encoding in HTTP/1.0") }
            summary.body = .chunked
        }
        guard hostCount == 1 || summary.version == .http10 else { throw .malformed("no Host") }
        if hostCount == 1 {
            guard Authority.isValid(bytes.extracting(summary.host.range)) else {
                throw .malformed("Host is not a valid host")
            }
        }
        try Authority.checkTarget(of: summary, in: bytes, hasHost: hostCount == 1)
        switch summary.version {
        case .http10:
            summary.isKeptAlive = keepsAlive && !closes
            summary.expectsContinue = false
        case .http11, .http2: summary.isKeptAlive = !closes
        }
    }

    /// Parses a Content-Length of 1 to 18 digits, so that it fits into an Int.
    private func length(_ value: Span<UInt8>) throws(RequestFault) -> Int {
        guard !value.isEmpty, value.count <= 18 else { throw .malformed("Content-Length is not a valid length") }
        var length = 0
        for index in value.indices {
            guard ASCII.isDigit(value[index]) else { throw .malformed("Content-Length is not a valid length") }
            length = length * 10 + Int(value[index] - UInt8(ascii: "0"))
        }
        return length
    }

    private mutating func readConnectionOptions(_ value: Span<UInt8>) {
        var start = 0
        while start < value.count {
            var end = start
            while end < value.count, value[end] != ASCII.comma { end += 1 }
            let option = value.extracting(value.trimmed(start..<end))
            if option.equalsIgnoringCase("close") { closes = true }
            if option.equalsIgnoringCase("keep-alive") { keepsAlive = true }
            start = end + 1
        }
    }
}

/// The host and port of a request (RFC 9110 section 7.2, RFC 3986 section 3.2).
enum Authority {
    /// Returns whether bytes are a host with an optional port; user information (`user@host`) is not allowed.
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

    /// The `unreserved` characters of RFC 3986 section 2.3; the other characters of `reg-name` are rejected.
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
