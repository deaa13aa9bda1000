// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import NIOCore
internal import NIOHPACK

/// Makes the head of a request out of the fields of HTTP/2.
///
/// It becomes what the same request would have been in HTTP/1.1, byte for byte but for the version, and goes by the same
/// rules; RFC 9113 sections 8.2 and 8.3 add theirs.
struct HTTP2HeadReader {
    /// Why fields are no request.
    enum Fault: Error {
        /// They are malformed by a rule that only HTTP/2 has: the stream is reset (RFC 9113 section 8.1.1).
        case malformed
        /// They would be refused in HTTP/1 too, and get the same answer.
        case refused(RequestFault)
    }

    let limits: HTTPLimits

    private var bytes = ByteBuffer()
    private var facts = RequestHead.Facts()
    private var summary = FieldSummary()
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
    ///   - block: The fields as the client sent them.
    ///   - endsStream: Whether no body follows.
    ///   - limits: How much there may be.
    ///   - fields: Room for the fields; what is there is replaced.
    /// - Returns: The head; its body is chunked if there is one whose length was not said.
    /// - Throws: What is wrong, and with which consequence.
    static func read(
        _ block: HPACKHeaders,
        endsStream: Bool,
        _ limits: HTTPLimits,
        into fields: inout [RequestHead.Field]
    ) throws(Fault) -> RequestHead {
        fields.removeAll(keepingCapacity: true)
        var reader = HTTP2HeadReader(limits)
        for (name, value, _) in block {
            if name.utf8.first == UInt8(ascii: ":") {
                try reader.takePseudoField(name, value)
            } else {
                try reader.take(name, value, &fields)
            }
        }
        return try reader.finish(endsStream: endsStream, &fields)
    }

    /// Whether fields may follow a body: any that are no pseudo-fields; nobody reads them.
    static func areTrailers(_ block: HPACKHeaders) -> Bool {
        block.allSatisfy { $0.name.utf8.first != UInt8(ascii: ":") }
    }

    // MARK: - Pseudo-fields

    private mutating func takePseudoField(_ name: String, _ value: String) throws(Fault) {
        // They come first, RFC 9113 section 8.3, and each at most once.
        guard !hasStarted else { throw .malformed }
        switch name {
        case ":method": try Self.set(&method, value)
        case ":scheme": try Self.set(&scheme, value)
        case ":path": try Self.set(&path, value)
        case ":authority": try Self.set(&authority, value)
        default: throw .malformed
        }
    }

    private static func set(_ field: inout String?, _ value: String) throws(Fault) {
        guard field == nil, !value.isEmpty else { throw .malformed }
        field = value
    }

    /// Writes what is the start line in HTTP/1, and Host.
    private mutating func start(_ fields: inout [RequestHead.Field]) throws(Fault) {
        guard !hasStarted else { return }
        hasStarted = true
        guard let method else { throw .malformed }
        if method == "CONNECT" { throw .refused(.malformed("there is no tunnel here")) }
        guard let path, let scheme else { throw .malformed }
        guard scheme == "https" else { throw .refused(.malformed("the scheme is not https")) }
        let methodEnd = method.utf8.count
        guard methodEnd + path.utf8.count + " HTTP/1.1".utf8.count + 1 <= limits.requestLine else {
            throw .refused(RequestFault(414, "the request line is too long"))
        }
        bytes.writeString(method)
        bytes.writeStaticString(" ")
        bytes.writeString(path)
        facts.version = .http2
        facts.methodText = RequestHead.Slice(0, methodEnd)
        facts.target = RequestHead.Slice(methodEnd + 1, bytes.readableBytes)
        try checkStart(bytes.readableBytesUInt8Span)
        facts.method = RequestHead.Method(bytes.readableBytesUInt8Span.extracting(0..<methodEnd))
        bytes.writeStaticString(" HTTP/2\r\n")
        if let authority { try append("host", authority, &fields) }
    }

    private func checkStart(_ bytes: Span<UInt8>) throws(Fault) {
        let method = bytes.extracting(facts.methodText.range)
        for index in method.indices where !Octet.isToken(method[index]) { throw .malformed }
        guard method.count <= 32 else { throw .refused(.malformed("the method is too long")) }
        let target = bytes.extracting(facts.target.range)
        for index in target.indices {
            guard Octet.isVisible(target[index]) else { throw .malformed }
            if target[index] == UInt8(ascii: "#") { throw .refused(.malformed("the target has a fragment")) }
        }
        // RFC 9113 section 8.3.1: a path, or * of OPTIONS; the URL of a proxy's request is in the other pseudo-fields.
        guard target[0] == UInt8(ascii: "/") || method.equals("OPTIONS") && target.equals("*") else {
            throw .malformed
        }
    }

    // MARK: - Fields

    private mutating func take(_ name: String, _ value: String, _ fields: inout [RequestHead.Field]) throws(Fault) {
        try start(&fields)
        switch name {
        case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade": throw .malformed
        case "te": guard value == "trailers" else { throw .malformed }
        case "host":
            guard !hasHostField else { throw .refused(.malformed("more than one Host")) }
            hasHostField = true
            if let authority {
                guard authority.lowercased() == value.lowercased() else {
                    throw .refused(.malformed(":authority and Host name different hosts"))
                }
                return
            }
        case "cookie":
            // One field in pieces, RFC 9113 section 8.2.3.
            cookies.append(value)
            guard cookies.count <= limits.fieldCount else { throw .refused(.tooManyFields) }
            return
        default: break
        }
        try append(name, value, &fields)
    }

    private mutating func append(
        _ name: String,
        _ value: String,
        _ fields: inout [RequestHead.Field]
    ) throws(Fault) {
        guard fields.count < limits.fieldCount else { throw .refused(.tooManyFields) }
        let start = bytes.readableBytes
        let nameEnd = start + bytes.writeString(name)
        bytes.writeStaticString(": ")
        let valueStart = bytes.readableBytes
        let valueEnd = valueStart + bytes.writeString(value)
        bytes.writeStaticString("\r\n")
        guard valueEnd - start <= limits.fieldLine else { throw .refused(.longField) }
        guard bytes.readableBytes <= limits.head else { throw .refused(.longHead) }
        let nameSlice = RequestHead.Slice(start, nameEnd)
        let valueSlice = RequestHead.Slice(valueStart, valueEnd)
        // A view of the property would keep all of this value from being changed.
        let bytes = bytes
        let all = bytes.readableBytesUInt8Span
        try Self.checkName(all.extracting(nameSlice.range))
        try Self.checkValue(all.extracting(valueSlice.range))
        let kind = RequestHead.FieldKind(all.extracting(nameSlice.range))
        let field = RequestHead.Field(kind: kind, name: nameSlice, value: valueSlice)
        fields.append(field)
        do throws(RequestFault) {
            try summary.note(field, all, &facts)
        } catch {
            throw .refused(error)
        }
    }

    private static func checkName(_ name: Span<UInt8>) throws(Fault) {
        guard !name.isEmpty else { throw .malformed }
        for index in name.indices {
            let byte = name[index]
            guard Octet.isToken(byte), Octet.lowercased(byte) == byte else { throw .malformed }
        }
    }

    private static func checkValue(_ value: Span<UInt8>) throws(Fault) {
        guard !value.isEmpty else { return }
        for index in value.indices where !Octet.isFieldContent(value[index]) {
            switch value[index] {
            case 0, Octet.lineFeed, Octet.carriageReturn: throw .malformed
            // Real clients send on what they were given; they are told what is wrong, as in HTTP/1.
            default: throw .refused(.malformed("a header field holds a control character"))
            }
        }
        // RFC 9113 section 8.2.1.
        guard !Octet.isBlank(value[0]), !Octet.isBlank(value[value.count - 1]) else {
            throw .refused(.malformed("a header field begins or ends with a blank"))
        }
    }

    // MARK: - The end

    private mutating func finish(
        endsStream: Bool,
        _ fields: inout [RequestHead.Field]
    ) throws(Fault) -> RequestHead {
        try start(&fields)
        if !cookies.isEmpty { try append("cookie", cookies.joined(separator: "; "), &fields) }
        let bytes = bytes
        do throws(RequestFault) {
            try summary.settle(bytes.readableBytesUInt8Span, &facts)
        } catch {
            throw .refused(error)
        }
        switch (facts.body, endsStream) {
        case (.length(let length), true) where length > 0: throw .malformed
        case (_, true): facts.body = .none
        case (.none, false): facts.body = .chunked
        case (.length, false), (.chunked, false): break
        }
        return RequestHead(bytes: bytes, fields: fields, facts: facts)
    }
}

extension RequestFault {
    fileprivate static let longField = RequestFault(431, "a header field is too long")
    fileprivate static let longHead = RequestFault(431, "the header is too long")
    fileprivate static let tooManyFields = RequestFault(431, "too many header fields")
}
