// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Bytes
internal import HTTPLimits
internal import NIOCore
internal import NIOHPACK

/// Makes the head of a request from the fields of HTTP/2.
///
/// The head has the same bytes as the same request in HTTP/1.1 except for the version, and the same rules apply. RFC
/// 9113 sections 8.2 and 8.3 add theirs.
struct HTTP2HeadReader {
    /// The reason why fields are rejected.
    enum Fault: Error {
        /// They violate a rule that only HTTP/2 has: the stream is reset (RFC 9113 section 8.1.1).
        case malformed
        /// They would be rejected in HTTP/1 too, and get the same response.
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
    private var hasStarted = false
    private var hasHostField = false

    private init(_ limits: HTTPLimits) {
        self.limits = limits
        bytes.reserveCapacity(512)
    }

    /// Reads the fields of a request.
    ///
    /// - Parameters:
    ///   - block: The fields as received.
    ///   - endsStream: True if no body follows.
    ///   - limits: The limits for fields.
    ///   - fields: A buffer for the fields; its content is replaced.
    /// - Returns: The head. A body of unknown length is given as chunked.
    /// - Throws: The reason, and with it the consequence.
    static func read(
        _ block: HPACKHeaders,
        endsStream: Bool,
        limits: HTTPLimits,
        into fields: inout [RequestHead.Field]
    ) throws(Fault) -> RequestHead {
        fields.removeAll(keepingCapacity: true)
        var reader = HTTP2HeadReader(limits)
        for (name, value, _) in block {
            // NIOHTTP2 has checked neither. They are compared as bytes: to compare strings takes time with the square
            // of their length.
            let nameBytes = name.utf8Span.span
            if nameBytes.count > 0, nameBytes[0] == ASCII.colon {
                try reader.takePseudoField(nameBytes, value: value)
            } else {
                try reader.take(name, nameBytes: nameBytes, value: value, into: &fields)
            }
        }
        return try reader.finish(endsStream: endsStream, into: &fields)
    }

    /// Returns whether fields may follow a body: all but pseudo-fields.
    ///
    /// They are dropped.
    static func areTrailers(_ block: HPACKHeaders) -> Bool {
        block.allSatisfy { $0.name.utf8.first != UInt8(ascii: ":") }
    }

    // MARK: - Pseudo-fields

    private mutating func takePseudoField(_ name: Span<UInt8>, value: String) throws(Fault) {
        // RFC 9113 section 8.3: they come first, and each at most once.
        guard !hasStarted else { throw .malformed }
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

    /// Writes the start line and Host as in HTTP/1.
    private mutating func start(into fields: inout [RequestHead.Field]) throws(Fault) {
        guard !hasStarted else { return }
        hasStarted = true
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
        try checkStart(bytes.readableBytesUInt8Span)
        summary.method = RequestHead.Method(bytes.readableBytesUInt8Span.extracting(0..<methodEnd))
        bytes.writeStaticString(" HTTP/2\r\n")
        if let authority { try append("host", value: authority, kind: .host, to: &fields) }
    }

    private func checkStart(_ bytes: Span<UInt8>) throws(Fault) {
        let method = bytes.extracting(summary.methodText.range)
        for index in method.indices where !ASCII.isToken(method[index]) { throw .malformed }
        guard method.count <= 32 else { throw .refused(.malformed("the method is too long")) }
        let target = bytes.extracting(summary.target.range)
        for index in target.indices {
            guard ASCII.isVisible(target[index]) else { throw .malformed }
            if target[index] == UInt8(ascii: "#") { throw .refused(.malformed("the target has a fragment")) }
        }
        // RFC 9113 section 8.3.1: a path, or * for OPTIONS. A URL as sent to proxies is split into the other
        // pseudo-fields.
        guard target[0] == UInt8(ascii: "/") || method.equals("OPTIONS") && target.equals("*") else {
            throw .malformed
        }
    }

    // MARK: - Fields

    private mutating func take(
        _ name: String,
        nameBytes: Span<UInt8>,
        value: String,
        into fields: inout [RequestHead.Field]
    ) throws(Fault) {
        try start(into: &fields)
        try Self.checkName(nameBytes)
        let kind = RequestHead.FieldKind(nameBytes)
        switch kind {
        case .connection, .transferEncoding: throw .malformed
        case .host:
            guard !hasHostField else { throw .refused(.malformed("more than one Host")) }
            hasHostField = true
            if let authority {
                guard authority.utf8Span.span.equalsIgnoringCase(value.utf8Span.span) else {
                    throw .refused(.malformed(":authority and Host name different hosts"))
                }
                return
            }
        case .cookie:
            // RFC 9113 section 8.2.3: one field, split by the client.
            cookies.append(value)
            guard cookies.count <= limits.fieldCount else { throw .refused(.tooManyFields) }
            return
        case .other:
            // RFC 9113 section 8.2.2.
            if nameBytes.equals("keep-alive") || nameBytes.equals("proxy-connection") || nameBytes.equals("upgrade") {
                throw .malformed
            }
            if nameBytes.equals("te"), !value.utf8Span.span.equals("trailers") { throw .malformed }
        case .accept, .authorization, .contentLength, .expect: break
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
        // A span of the property would not allow the changes below.
        let bytes = bytes
        let all = bytes.readableBytesUInt8Span
        try Self.checkValue(all.extracting(valueSlice.range))
        let field = RequestHead.Field(kind: kind, name: nameSlice, value: valueSlice)
        fields.append(field)
        do throws(RequestFault) {
            try framing.note(field, in: all, into: &summary)
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
            // Real clients forward fields that they have received. They get a reason, as in HTTP/1.
            default: throw .refused(.malformed("a header field holds a control character"))
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
        try start(into: &fields)
        if !cookies.isEmpty { try append("cookie", value: cookies.joined(separator: "; "), kind: .cookie, to: &fields) }
        let bytes = bytes
        do throws(RequestFault) {
            try framing.settle(bytes.readableBytesUInt8Span, into: &summary)
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
