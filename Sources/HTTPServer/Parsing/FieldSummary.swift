// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// What the fields of a head come to for the connection: where the body ends, whether another request may follow.
///
/// Source: RFC 9112 sections 3.2, 6 and 9.3.
struct FieldSummary {
    private var hostCount = 0
    private var hasLength = false
    private var hasCoding = false
    private var closes = false
    private var keepsAlive = false

    mutating func note(
        _ field: RequestHead.Field,
        _ bytes: Span<UInt8>,
        _ facts: inout RequestHead.Facts
    ) throws(RequestFault) {
        switch field.kind {
        case .host:
            hostCount += 1
            guard hostCount == 1 else { throw .malformed("more than one Host") }
            facts.host = field.value
        case .contentLength:
            guard !hasLength else { throw .malformed("more than one Content-Length") }
            hasLength = true
            facts.body = .length(try length(bytes.extracting(field.value.range)))
        case .transferEncoding:
            guard !hasCoding, bytes.extracting(field.value.range).equalsIgnoringCase("chunked") else {
                throw .malformed("Transfer-Encoding is not just chunked")
            }
            hasCoding = true
        case .connection:
            noteConnection(bytes.extracting(field.value.range))
        case .expect:
            guard bytes.extracting(field.value.range).equalsIgnoringCase("100-continue") else {
                throw RequestFault(417, "only 100-continue can be expected")
            }
            facts.expectsContinue = true
        case .accept, .authorization, .cookie, .other: break
        }
    }

    mutating func settle(_ bytes: Span<UInt8>, _ facts: inout RequestHead.Facts) throws(RequestFault) {
        if hasCoding {
            guard !hasLength else { throw .malformed("both Content-Length and Transfer-Encoding") }
            guard facts.version == .http11 else { throw .malformed("Transfer-Encoding in HTTP/1.0") }
            facts.body = .chunked
        }
        guard hostCount == 1 || facts.version == .http10 else { throw .malformed("no Host") }
        if hostCount == 1 {
            guard Authority.isValid(bytes.extracting(facts.host.range)) else { throw .malformed("Host names no host") }
        }
        try Authority.check(bytes, facts, hasHost: hostCount == 1)
        switch facts.version {
        case .http10:
            facts.isKeptAlive = keepsAlive && !closes
            facts.expectsContinue = false
        case .http11, .http2: facts.isKeptAlive = !closes
        }
    }

    /// Digits and nothing else, and no more than an Int can hold.
    private func length(_ value: Span<UInt8>) throws(RequestFault) -> Int {
        guard !value.isEmpty, value.count <= 18 else { throw .malformed("Content-Length is no length") }
        var length = 0
        for index in value.indices {
            guard Octet.isDigit(value[index]) else { throw .malformed("Content-Length is no length") }
            length = length * 10 + Int(value[index] - UInt8(ascii: "0"))
        }
        return length
    }

    private mutating func noteConnection(_ value: Span<UInt8>) {
        var start = 0
        while start < value.count {
            var end = start
            while end < value.count, value[end] != Octet.comma { end += 1 }
            let option = value.extracting(value.trimmed(start..<end))
            if option.equalsIgnoringCase("close") { closes = true }
            if option.equalsIgnoringCase("keep-alive") { keepsAlive = true }
            start = end + 1
        }
    }
}
