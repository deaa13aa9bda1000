// SPDX-License-Identifier: Apache-2.0

package import Bytes
package import HTTPTypes
internal import NIOCore

/// The head of a request: its start line and fields, as positions in the received bytes.
///
/// It is parsed on the event loop. Strings are made only when they are requested.
package struct RequestHead {
    /// A method, RFC 9110 section 9.
    package enum Method: Sendable, Hashable {
        case get, head, post, options, other
    }

    /// A version of HTTP.
    package enum Version: Sendable, Hashable {
        case http10, http11, http2
    }

    enum Body: Hashable {
        case none
        case length(Int)
        case chunked
    }

    /// A range of the received bytes.
    struct Slice: Hashable {
        var start: Int32
        var end: Int32

        init(_ start: Int, _ end: Int) {
            self.start = Int32(truncatingIfNeeded: start)
            self.end = Int32(truncatingIfNeeded: end)
        }

        var range: Range<Int> { Int(start)..<Int(end) }
    }

    struct Field {
        let kind: FieldKind
        let name: Slice
        let value: Slice
    }

    /// The request line, and the values of the fields about the connection and the body.
    struct Summary {
        var method = Method.other
        var methodText = Slice(0, 0)
        var target = Slice(0, 0)
        var version = Version.http11
        var host = Slice(0, 0)
        var body = Body.none
        var isKeptAlive = false
        var expectsContinue = false
    }

    let bytes: ByteBuffer
    let fields: [Field]
    let summary: Summary

    package var method: Method { summary.method }

    package var version: Version { summary.version }

    /// The method as received: a token in ASCII.
    package var methodText: String { text(summary.methodText) }

    /// The target as received: visible ASCII characters.
    package var target: String { text(summary.target) }

    /// The host and port of the request, in ASCII; empty for an HTTP/1.0 request without a Host field.
    package var host: String { text(summary.host) }

    /// Returns whether the request is for a host, on any port.
    ///
    /// Case and a dot at the end are ignored; `name` is in lower case and has no dot at the end.
    package func isFor(host name: String) -> Bool {
        let host = bytes.readableBytesUInt8Span.extracting(summary.host.range)
        var end = host.count
        // A port consists of the digits after the last colon. An IPv6 address ends with a bracket, so its last group is
        // not taken for a port.
        while end > 0, ASCII.isDigit(host[end - 1]) { end -= 1 }
        if end > 0, host[end - 1] == ASCII.colon { end -= 1 } else { end = host.count }
        if end > 0, host[end - 1] == UInt8(ascii: ".") { end -= 1 }
        return host.extracting(0..<end).equalsIgnoringCase(name.utf8Span.span)
    }

    package func withTarget<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        body(bytes.readableBytesUInt8Span.extracting(summary.target.range))
    }

    package func count(of kind: FieldKind) -> Int {
        var count = 0
        for field in fields where field.kind == kind { count += 1 }
        return count
    }

    /// Calls a function with the value of the first field of a kind, without blanks around it; returns nil if the head
    /// has no such field.
    package func withFirst<Result>(_ kind: FieldKind, _ body: (Span<UInt8>) -> Result) -> Result? {
        for field in fields where field.kind == kind {
            return body(bytes.readableBytesUInt8Span.extracting(field.value.range))
        }
        return nil
    }

    /// Returns the values of all fields of a kind, in order; bytes that are not UTF-8 become U+FFFD.
    package func values(of kind: FieldKind) -> [UTF8Text] {
        fields.filter { $0.kind == kind }.map { UTF8Text(text($0.value)) }
    }

    /// Calls a function with the value of each field of a kind, in order, without blanks around it.
    package func forEach(_ kind: FieldKind, _ body: (Span<UInt8>) -> Void) {
        for field in fields where field.kind == kind {
            body(bytes.readableBytesUInt8Span.extracting(field.value.range))
        }
    }

    /// Returns the values of all fields with a name in lower case, in order; bytes that are not UTF-8 become U+FFFD.
    ///
    /// Only case is ignored: `X_Forwarded_For` is not `x-forwarded-for` (CVE-2025-64484).
    package func values(named name: StaticString) -> [UTF8Text] {
        var values: [UTF8Text] = []
        let bytes = bytes.readableBytesUInt8Span
        for field in fields where field.name.range.count == name.utf8CodeUnitCount {
            guard bytes.extracting(field.name.range).equalsIgnoringCase(name) else { continue }
            values.append(UTF8Text(text(field.value)))
        }
        return values
    }

    private func text(_ slice: Slice) -> String {
        unsafe bytes.readableBytesUInt8Span.extracting(slice.range).withUnsafeBufferPointer {
            unsafe String(decoding: $0, as: UTF8.self)
        }
    }
}

extension RequestHead {
    /// The kinds of fields that the server reads without making strings.
    package enum FieldKind: UInt8, Sendable, Hashable {
        case accept, acceptLanguage, authorization, connection, contentLength, cookie, expect, host, transferEncoding,
            other

        /// Finds the kind of a field by its name, in upper or lower case.
        init(_ name: Span<UInt8>) {
            switch name.count {
            case 4 where name.equalsIgnoringCase("host"): self = .host
            case 6 where name.equalsIgnoringCase("accept"): self = .accept
            case 6 where name.equalsIgnoringCase("cookie"): self = .cookie
            case 6 where name.equalsIgnoringCase("expect"): self = .expect
            case 10 where name.equalsIgnoringCase("connection"): self = .connection
            case 13 where name.equalsIgnoringCase("authorization"): self = .authorization
            case 14 where name.equalsIgnoringCase("content-length"): self = .contentLength
            case 15 where name.equalsIgnoringCase("accept-language"): self = .acceptLanguage
            case 17 where name.equalsIgnoringCase("transfer-encoding"): self = .transferEncoding
            default: self = .other
            }
        }
    }
}

extension RequestHead {
    /// The fields as values of HTTPTypes, for the async lane.
    ///
    /// Authorization and Cookie are left out, because a string cannot be wiped. The responder has read them already.
    package var headerFields: HTTPFields {
        var fields = HTTPFields()
        fields.reserveCapacity(self.fields.count)
        for field in self.fields {
            switch field.kind {
            case .host, .authorization, .cookie: continue
            case .accept, .acceptLanguage, .connection, .contentLength, .expect, .transferEncoding, .other: break
            }
            // The parser accepts only tokens as names, so this cannot fail.
            guard let name = HTTPField.Name(text(field.name)) else { continue }
            fields.append(HTTPField(name: name, value: text(field.value)))
        }
        return fields
    }
}

extension RequestHead.Method {
    init(_ bytes: Span<UInt8>) {
        if bytes.equals("GET") {
            self = .get
        } else if bytes.equals("HEAD") {
            self = .head
        } else if bytes.equals("POST") {
            self = .post
        } else if bytes.equals("OPTIONS") {
            self = .options
        } else {
            self = .other
        }
    }
}
