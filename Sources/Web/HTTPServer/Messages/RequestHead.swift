// SPDX-License-Identifier: Apache-2.0

public import Bytes
internal import HTTPTypes
internal import NIOCore

/// The head of a request: its start line and fields, as positions in the received bytes.
///
/// It is parsed on the event loop. Strings are made only when they are requested.
public struct RequestHead {
    /// A method, RFC 9110 section 9.
    public enum Method: Sendable, Hashable {
        /// GET.
        case get
        /// HEAD.
        case head
        /// POST.
        case post
        /// OPTIONS.
        case options
        /// Any other method; ``RequestHead/methodText`` has its name.
        case other
    }

    /// A version of HTTP.
    public enum Version: Sendable, Hashable {
        /// HTTP/1.0 (RFC 1945).
        case http10
        /// HTTP/1.1 (RFC 9112).
        case http11
        /// HTTP/2 (RFC 9113).
        case http2
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

    /// The method.
    public var method: Method { summary.method }

    /// The HTTP version of the request.
    public var version: Version { summary.version }

    /// The method as received: a token in ASCII.
    public var methodText: String { text(summary.methodText) }

    /// The target as received: visible ASCII characters.
    public var target: String { text(summary.target) }

    /// The host and port of the request, in ASCII; empty for an HTTP/1.0 request without a Host field.
    public var host: String { text(summary.host) }

    /// Returns whether the request is for a host, on any port.
    ///
    /// Case and a dot at the end are ignored.
    ///
    /// - Parameter name: The host's name, in lower case and without a dot at the end.
    /// - Returns: True if the Host field names the host.
    public func isFor(host name: String) -> Bool {
        let host = bytes.readableBytesUInt8Span.extracting(summary.host.range)
        var end = host.count
        // A port consists of the digits after the last colon. An IPv6 address ends with a bracket, so its last group is
        // not taken for a port.
        while end > 0, ASCII.isDigit(host[end - 1]) { end -= 1 }
        if end > 0, host[end - 1] == ASCII.colon { end -= 1 } else { end = host.count }
        if end > 0, host[end - 1] == UInt8(ascii: ".") { end -= 1 }
        return host.extracting(0..<end).equalsIgnoringCase(name.utf8Span.span)
    }

    /// Calls a function with the target's bytes.
    public func withTarget<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        body(bytes.readableBytesUInt8Span.extracting(summary.target.range))
    }

    /// Returns the number of fields of a kind.
    public func count(of kind: FieldKind) -> Int {
        var count = 0
        for field in fields where field.kind == kind { count += 1 }
        return count
    }

    /// Calls a function with the value of the first field of a kind, without blanks around it; returns nil if the head
    /// has no such field.
    public func withFirst<Result>(_ kind: FieldKind, _ body: (Span<UInt8>) -> Result) -> Result? {
        for field in fields where field.kind == kind {
            return body(bytes.readableBytesUInt8Span.extracting(field.value.range))
        }
        return nil
    }

    /// Returns the values of all fields of a kind, in order; bytes that are not UTF-8 become U+FFFD.
    public func values(of kind: FieldKind) -> [UTF8Text] {
        fields.filter { $0.kind == kind }.map { UTF8Text(text($0.value)) }
    }

    /// Calls a function with the value of each field of a kind, in order, without blanks around it.
    public func forEach(_ kind: FieldKind, _ body: (Span<UInt8>) -> Void) {
        for field in fields where field.kind == kind {
            body(bytes.readableBytesUInt8Span.extracting(field.value.range))
        }
    }

    /// Returns the values of all fields with a name, in order; bytes that are not UTF-8 become U+FFFD.
    ///
    /// Only case is ignored: `X_Forwarded_For` is not `x-forwarded-for` (CVE-2025-64484).
    ///
    /// - Parameter name: The name, in lower case.
    /// - Returns: The values; empty if the head has no such field.
    public func values(named name: StaticString) -> [UTF8Text] {
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
    public enum FieldKind: UInt8, Sendable, Hashable {
        /// Accept, RFC 9110 section 12.5.1.
        case accept
        /// Accept-Language, RFC 9110 section 12.5.4.
        case acceptLanguage
        /// Authorization, RFC 9110 section 11.6.2.
        case authorization
        /// Connection, RFC 9110 section 7.6.1.
        case connection
        /// Content-Length, RFC 9110 section 8.6.
        case contentLength
        /// Cookie, RFC 6265 section 4.2.
        case cookie
        /// Expect, RFC 9110 section 10.1.1.
        case expect
        /// Host, RFC 9110 section 7.2.
        case host
        /// Transfer-Encoding, RFC 9112 section 6.1.
        case transferEncoding
        /// Any other field.
        case other

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
    /// The head as a value of HTTPTypes, for the async lane.
    ///
    /// Authorization and Cookie are left out, because a string cannot be wiped. The responder has read them already. A
    /// target in absolute form becomes a path, because its authority equals the Host field.
    var request: HTTPRequest {
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
        return HTTPRequest(
            method: HTTPRequest.Method(methodText) ?? .get,
            scheme: "https",
            authority: host.isEmpty ? nil : host,
            path: pathAndQuery,
            headerFields: fields
        )
    }

    /// The target without the scheme and authority of its absolute form.
    private var pathAndQuery: String {
        let bytes = bytes.readableBytesUInt8Span
        var range = summary.target.range
        guard bytes[range.lowerBound] != UInt8(ascii: "/"), bytes[range.lowerBound] != UInt8(ascii: "*") else {
            return target
        }
        var slashes = 0
        while let start = range.first, slashes < 3, bytes[start] != UInt8(ascii: "?") {
            if bytes[start] == UInt8(ascii: "/") { slashes += 1 }
            if slashes < 3 { range.removeFirst() }
        }
        let rest = text(Slice(range.lowerBound, range.upperBound))
        return slashes == 3 ? rest : "/" + rest
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
