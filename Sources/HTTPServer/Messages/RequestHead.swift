// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPTypes
internal import NIOCore

/// The head of a request: its start line and fields, as places in the bytes that came.
///
/// It is read on the event loop and made into strings only where somebody needs one.
public struct RequestHead {
    /// What to do with the target, RFC 9110 section 9; other methods than these are known by ``methodText``.
    public enum Method: Sendable, Hashable {
        /// GET.
        case get
        /// HEAD.
        case head
        /// POST.
        case post
        /// OPTIONS.
        case options
        /// Any other.
        case other
    }

    /// The version of HTTP the request came in.
    public enum Version: Sendable, Hashable {
        /// HTTP/1.0 (RFC 1945).
        case http10
        /// HTTP/1.1 (RFC 9112).
        case http11
        /// HTTP/2 (RFC 9113).
        case http2
    }

    /// How long the body is.
    enum Body: Hashable {
        case none
        case length(Int)
        case chunked
    }

    /// A place in the bytes.
    struct Slice: Hashable {
        var start: Int32
        var end: Int32

        init(_ start: Int, _ end: Int) {
            self.start = Int32(truncatingIfNeeded: start)
            self.end = Int32(truncatingIfNeeded: end)
        }

        var range: Range<Int> { Int(start)..<Int(end) }
    }

    /// A header field.
    struct Field {
        let kind: FieldKind
        let name: Slice
        let value: Slice
    }

    /// What the start line and the fields say about the connection.
    struct Facts {
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
    let facts: Facts

    /// What to do with the target.
    public var method: Method { facts.method }

    /// The version of HTTP the request came in.
    public var version: Version { facts.version }

    /// The method as it came.
    public var methodText: String { text(facts.methodText) }

    /// The target as it came: visible characters of ASCII.
    public var target: String { text(facts.target) }

    /// The host and port that are asked; empty in HTTP/1.0 requests without one.
    public var host: String { text(facts.host) }

    /// Whether the request is for a host, whatever its port; upper and lower case and a dot at the end make no difference.
    ///
    /// - Parameter name: The host's name, in lower case and without a dot at the end.
    /// - Returns: True if the Host field names it.
    public func isFor(host name: String) -> Bool {
        var host = self.host.lowercased()
        if let colon = host.lastIndex(of: ":"), !host.hasSuffix("]") { host = String(host[..<colon]) }
        if host.hasSuffix(".") { host.removeLast() }
        return host.utf8.elementsEqual(name.utf8)
    }

    /// Lends the target's bytes.
    public func withTarget<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        body(bytes.readableBytesUInt8Span.extracting(facts.target.range))
    }

    /// How many fields of a kind there are.
    public func count(of kind: FieldKind) -> Int {
        var count = 0
        for field in fields where field.kind == kind { count += 1 }
        return count
    }

    /// Lends the value of the first field of a kind, without blanks around it; nil if there is none.
    public func withFirst<Result>(_ kind: FieldKind, _ body: (Span<UInt8>) -> Result) -> Result? {
        for field in fields where field.kind == kind {
            return body(bytes.readableBytesUInt8Span.extracting(field.value.range))
        }
        return nil
    }

    /// The values of all fields of a kind, in order; bytes that are not UTF-8 are repaired.
    public func values(of kind: FieldKind) -> [String] {
        fields.filter { $0.kind == kind }.map { text($0.value) }
    }

    /// Lends the values of all fields of a kind, in order, without blanks around them.
    public func forEach(_ kind: FieldKind, _ body: (Span<UInt8>) -> Void) {
        for field in fields where field.kind == kind {
            body(bytes.readableBytesUInt8Span.extracting(field.value.range))
        }
    }

    /// The values of all fields of a name, in order; bytes that are not UTF-8 are repaired.
    ///
    /// Names that differ in more than upper and lower case are other names: `X_Forwarded_For` is not `x-forwarded-for`
    /// (CVE-2025-64484).
    ///
    /// - Parameter name: The name, in lower case.
    /// - Returns: The values; none if there is no such field.
    public func values(named name: StaticString) -> [String] {
        var values: [String] = []
        let bytes = bytes.readableBytesUInt8Span
        for field in fields where field.name.range.count == name.utf8CodeUnitCount {
            guard bytes.extracting(field.name.range).equalsIgnoringCase(name) else { continue }
            values.append(text(field.value))
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
    /// The head in the currency of HTTPTypes, for the async lane.
    ///
    /// What identifies somebody is left out: the responder has read it, and a string cannot be wiped.
    /// A target in absolute form has become a path; its authority was found to be that of the Host field.
    var request: HTTPRequest {
        var fields = HTTPFields()
        fields.reserveCapacity(self.fields.count)
        for field in self.fields {
            switch field.kind {
            case .host, .authorization, .cookie: continue
            case .accept, .connection, .contentLength, .expect, .transferEncoding, .other: break
            }
            // The parser has let through tokens only, so there is none that is not a name.
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
}

extension RequestHead {
    /// The target without the scheme and authority of its absolute form.
    private var pathAndQuery: String {
        let bytes = bytes.readableBytesUInt8Span
        var range = facts.target.range
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
