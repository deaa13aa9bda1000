// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// Reads the fields of a head that decide the length of the body and whether the connection stays open.
///
/// The rules are in RFC 9112 sections 3.2, 6 and 9.3.
struct MessageFraming {
    private var hostCount = 0
    private var hasLength = false
    private var hasCoding = false
    private var closes = false
    private var keepsAlive = false

    /// Records a field.
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

    /// Completes the summary after the last field.
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
