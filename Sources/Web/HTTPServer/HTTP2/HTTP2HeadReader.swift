// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import HTTPLimits
internal import NIOCore
internal import NIOHPACK

/// Makes the head of a request from HTTP/2 fields.
///
/// The head has the same bytes as the head of an HTTP/1.1 request with these fields, except for the version. The fields
/// must follow the rules for HTTP/1 and the rules of RFC 9113 sections 8.2 and 8.3.
struct HTTP2HeadReader {
    /// The reason why fields are rejected.
    enum Fault: Error {
        /// The fields violate a rule of HTTP/2. The stream is reset (RFC 9113 section 8.1.1).
        case malformed
        /// The fields violate a rule of HTTP/1. The request gets the same response as over HTTP/1.
        case refused(RequestFault)
    }

    let limits: HTTPLimits

    private var bytes = ByteBuffer()
    private var summary = RequestHead.Summary()
    private var framing = MessageFraming()
    private var method: String?
    private var scheme: String?
    private var path: String?
    private var authority: String?
    private var cookies: [String] = []
    private var hasRequestLine = false
    private var hasHostField = false

    private init(_ limits: HTTPLimits) {
        self.limits = limits
        bytes.reserveCapacity(512)
    }

    /// Reads the fields of a request; a body of unknown length is marked as chunked.
    ///
    /// The content of the buffer `fields` is replaced.
    static func read(
        _ block: HPACKHeaders,
        endsStream: Bool,
        limits: HTTPLimits,
        into fields: inout [RequestHead.Field]
    ) throws(Fault) -> RequestHead {
        fields.removeAll(keepingCapacity: true)
        var reader = HTTP2HeadReader(limits)
        for (name, value, _) in block {
            // NIOHTTP2 does not check names or values. Names are compared as bytes, because comparing strings can take
            // time with the square of their length.
            let nameBytes = name.utf8Span.span
            if nameBytes.count > 0, nameBytes[0] == ASCII.colon {
                try reader.addPseudoField(nameBytes, value: value)
            } else {
                try reader.addField(name, nameBytes: nameBytes, value: value, into: &fields)
            }
        }
        return try reader.finish(endsStream: endsStream, into: &fields)
    }

    /// Returns whether the fields contain no pseudo-field, as trailers must.
    static func areTrailers(_ block: HPACKHeaders) -> Bool {
        block.allSatisfy { $0.name.utf8.first != UInt8(ascii: ":") }
    }

    // MARK: - Pseudo-fields

    private mutating func addPseudoField(_ name: Span<UInt8>, value: String) throws(Fault) {
        // RFC 9113 section 8.3: pseudo-fields come first, and each occurs at most once.
        guard !hasRequestLine else { throw .malformed }
        if name.equals(":method") {
            try Self.set(&method, to: value)
        } else if name.equals(":scheme") {
            try Self.set(&scheme, to: value)
        } else if name.equals(":path") {
            try Self.set(&path, to: value)
        } else if name.equals(":authority") {
            try Self.set(&authority, to: value)
        } else {
            throw .malformed
        }
    }

    private static func set(_ field: inout String?, to value: String) throws(Fault) {
        guard field == nil, !value.isEmpty else { throw .malformed }
        field = value
    }

    /// Writes the request line and Host as in HTTP/1.
    private mutating func writeRequestLine(into fields: inout [RequestHead.Field]) throws(Fault) {
        guard !hasRequestLine else { return }
        hasRequestLine = true
        guard let method else { throw .malformed }
        if method.utf8Span.span.equals("CONNECT") { throw .refused(.malformed("CONNECT is not supported")) }
        guard let path, let scheme else { throw .malformed }
        guard scheme.utf8Span.span.equals("https") else { throw .refused(.malformed("the scheme is not https")) }
        let methodEnd = method.utf8.count
        guard methodEnd + path.utf8.count + " HTTP/1.1".utf8.count + 1 <= limits.requestLine else {
            throw .refused(.longRequestLine)
        }
        bytes.writeString(method)
        bytes.writeStaticString(" ")
        bytes.writeString(path)
        summary.version = .http2
        summary.methodText = RequestHead.Slice(0, methodEnd)
        summary.target = RequestHead.Slice(methodEnd + 1, bytes.readableBytes)
        try checkRequestLine(bytes.readableBytesUInt8Span)
        summary.method = RequestHead.Method(bytes.readableBytesUInt8Span.extracting(0..<methodEnd))
        bytes.writeStaticString(" HTTP/2\r\n")
        if let authority { try append("host", value: authority, kind: .host, to: &fields) }
    }

    private func checkRequestLine(_ bytes: Span<UInt8>) throws(Fault) {
        let method = bytes.extracting(summary.methodText.range)
        for index in method.indices where !ASCII.isToken(method[index]) { throw .malformed }
        guard method.count <= 32 else { throw .refused(.malformed("the method is too long")) }
        let target = bytes.extracting(summary.target.range)
        for index in target.indices {
            guard ASCII.isVisible(target[index]) else { throw .malformed }
            if target[index] == UInt8(ascii: "#") { throw .refused(.malformed("the target has a fragment")) }
        }
        // RFC 9113 section 8.3.1: the target is a path, or * for OPTIONS. It is never a URL.
        guard target[0] == UInt8(ascii: "/") || method.equals("OPTIONS") && target.equals("*") else {
            throw .malformed
        }
    }

    // MARK: - Fields

    private mutating func addField(
        _ name: String,
        nameBytes: Span<UInt8>,
        value: String,
        into fields: inout [RequestHead.Field]
    ) throws(Fault) {
        try writeRequestLine(into: &fields)
        try Self.checkName(nameBytes)
        let kind = RequestHead.FieldKind(nameBytes)
        switch kind {
        case .connection, .transferEncoding: throw .malformed
        case .host:
            guard !hasHostField else { throw .refused(.malformed("more than one Host")) }
            hasHostField = true
            if let authority {
                guard authority.utf8Span.span.equalsIgnoringCase(value.utf8Span.span) else {
                    throw .refused(.malformed(":authority and the Host field contain different hosts"))
                }
                return
            }
        case .cookie:
            // RFC 9113 section 8.2.3: a client may split one Cookie field into several.
            cookies.append(value)
            guard cookies.count <= limits.fieldCount else { throw .refused(.tooManyFields) }
            return
        case .other:
            // RFC 9113 section 8.2.2.
            if nameBytes.equals("keep-alive") || nameBytes.equals("proxy-connection") || nameBytes.equals("upgrade") {
                throw .malformed
            }
            if nameBytes.equals("te"), !value.utf8Span.span.equals("trailers") { throw .malformed }
        case .accept, .acceptLanguage, .authorization, .contentLength, .expect: break
        }
        try append(name, value: value, kind: kind, to: &fields)
    }

    /// Appends a field whose name has been checked.
    private mutating func append(
        _ name: String,
        value: String,
        kind: RequestHead.FieldKind,
        to fields: inout [RequestHead.Field]
    ) throws(Fault) {
        guard fields.count < limits.fieldCount else { throw .refused(.tooManyFields) }
        let start = bytes.readableBytes
        let nameEnd = start + bytes.writeString(name)
        bytes.writeStaticString(": ")
        let valueStart = bytes.readableBytes
        let valueEnd = valueStart + bytes.writeString(value)
        bytes.writeStaticString("\r\n")
        guard valueEnd - start <= limits.fieldLine else { throw .refused(.longField) }
        guard bytes.readableBytes <= limits.header else { throw .refused(.longHeader) }
        let nameSlice = RequestHead.Slice(start, nameEnd)
        let valueSlice = RequestHead.Slice(valueStart, valueEnd)
        // A local copy, because a span of the property would forbid the changes below.
        let bytes = bytes
        let all = bytes.readableBytesUInt8Span
        try Self.checkValue(all.extracting(valueSlice.range))
        let field = RequestHead.Field(kind: kind, name: nameSlice, value: valueSlice)
        fields.append(field)
        do throws(RequestFault) {
            try framing.process(field, in: all, into: &summary)
        } catch {
            throw .refused(error)
        }
    }

    private static func checkName(_ name: Span<UInt8>) throws(Fault) {
        guard !name.isEmpty else { throw .malformed }
        for index in name.indices {
            let byte = name[index]
            guard ASCII.isToken(byte), ASCII.lowercased(byte) == byte else { throw .malformed }
        }
    }

    private static func checkValue(_ value: Span<UInt8>) throws(Fault) {
        guard !value.isEmpty else { return }
        for index in value.indices where !ASCII.isFieldContent(value[index]) {
            switch value[index] {
            case 0, ASCII.lineFeed, ASCII.carriageReturn: throw .malformed
            // Some proxies forward such fields from their clients. The clients get the same response as over HTTP/1.
            default: throw .refused(.malformed("a header field contains a control character"))
            }
        }
        // RFC 9113 section 8.2.1.
        guard !ASCII.isBlank(value[0]), !ASCII.isBlank(value[value.count - 1]) else {
            throw .refused(.malformed("a header field begins or ends with a blank"))
        }
    }

    // MARK: - The end

    private mutating func finish(
        endsStream: Bool,
        into fields: inout [RequestHead.Field]
    ) throws(Fault) -> RequestHead {
        try writeRequestLine(into: &fields)
        if !cookies.isEmpty { try append("cookie", value: cookies.joined(separator: "; "), kind: .cookie, to: &fields) }
        let bytes = bytes
        do throws(RequestFault) {
            try framing.finish(bytes.readableBytesUInt8Span, into: &summary)
        } catch {
            throw .refused(error)
        }
        switch (summary.body, endsStream) {
        case (.length(let length), true) where length > 0: throw .malformed
        case (_, true): summary.body = .none
        case (.none, false): summary.body = .chunked
        case (.length, false), (.chunked, false): break
        }
        return RequestHead(bytes: bytes, fields: fields, summary: summary)
    }
}
