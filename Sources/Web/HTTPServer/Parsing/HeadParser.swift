// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import HTTPLimits

/// Parses the complete head of an HTTP/1 request.
///
/// The parser accepts the forms that RFC 9112 allows clients to send. It rejects the malformed forms that the RFC
/// allows servers to tolerate: bare line feeds, folded lines and blanks before a colon. It also rejects a second Host
/// field, and a second field for the length of the body. If a proxy and this server read such a request differently, a
/// client could bypass the checks of the proxy or of this server.
struct HeadParser {
    let limits: HTTPLimits

    /// `bytes` is the head from the method to the empty line and no further; the content of `fields` is replaced.
    func parse(_ bytes: Span<UInt8>, into fields: inout [RequestHead.Field]) throws(RequestFault) -> RequestHead.Summary
    {
        fields.removeAll(keepingCapacity: true)
        var summary = RequestHead.Summary()
        var position = try startLine(bytes, into: &summary)
        var framing = MessageFraming()
        while position < bytes.count, bytes[position] != ASCII.carriageReturn {
            let field = try field(bytes, at: &position)
            guard fields.count < limits.fieldCount else { throw .tooManyFields }
            fields.append(field)
            try framing.process(field, in: bytes, into: &summary)
        }
        guard position + 2 == bytes.count, bytes[position + 1] == ASCII.lineFeed else {
            throw .malformed("a line does not end in CR and LF")
        }
        try framing.finish(bytes, into: &summary)
        return summary
    }

    // method SP request-target SP HTTP-version CRLF
    private func startLine(_ bytes: Span<UInt8>, into summary: inout RequestHead.Summary) throws(RequestFault) -> Int {
        var position = 0
        while position < bytes.count, ASCII.isToken(bytes[position]) { position += 1 }
        guard position > 0, position <= 32, position < bytes.count, bytes[position] == ASCII.space else {
            throw .malformed("the request line has no method")
        }
        summary.methodText = RequestHead.Slice(0, position)
        summary.method = RequestHead.Method(bytes.extracting(0..<position))
        position += 1
        let start = position
        while position < bytes.count, ASCII.isVisible(bytes[position]) {
            if bytes[position] == UInt8(ascii: "#") { throw .malformed("the target has a fragment") }
            position += 1
        }
        guard position > start, position < bytes.count, bytes[position] == ASCII.space else {
            throw .malformed("the request line has no target")
        }
        summary.target = RequestHead.Slice(start, position)
        position += 1
        guard position + 10 <= bytes.count, bytes[position + 8] == ASCII.carriageReturn,
            bytes[position + 9] == ASCII.lineFeed
        else { throw .malformed("the request line has no version") }
        summary.version = try version(bytes.extracting(position..<(position + 8)))
        guard position + 10 <= limits.requestLine + 2 else { throw .longRequestLine }
        return position + 10
    }

    private func version(_ bytes: Span<UInt8>) throws(RequestFault) -> RequestHead.Version {
        if bytes.equals("HTTP/1.1") { return .http11 }
        if bytes.equals("HTTP/1.0") { return .http10 }
        guard bytes.extracting(first: 5).equals("HTTP/"), ASCII.isDigit(bytes[5]), bytes[6] == UInt8(ascii: "."),
            ASCII.isDigit(bytes[7])
        else { throw .malformed("the request line has no version") }
        throw RequestFault(505, "only HTTP/1.0, HTTP/1.1 and HTTP/2 are supported")
    }

    // field-name ":" OWS field-value OWS CRLF
    private func field(_ bytes: Span<UInt8>, at position: inout Int) throws(RequestFault) -> RequestHead.Field {
        let start = position
        while position < bytes.count, ASCII.isToken(bytes[position]) { position += 1 }
        guard position > start, position < bytes.count, bytes[position] == ASCII.colon else {
            throw .malformed(
                ASCII.isBlank(bytes[start]) ? "a header field is folded" : "a header field has an invalid name"
            )
        }
        let name = RequestHead.Slice(start, position)
        position += 1
        while position < bytes.count, ASCII.isBlank(bytes[position]) { position += 1 }
        let valueStart = position
        while position < bytes.count, ASCII.isFieldContent(bytes[position]) { position += 1 }
        guard position + 1 < bytes.count, bytes[position] == ASCII.carriageReturn,
            bytes[position + 1] == ASCII.lineFeed
        else { throw .malformed("a header field contains a control character") }
        var valueEnd = position
        while valueEnd > valueStart, ASCII.isBlank(bytes[valueEnd - 1]) { valueEnd -= 1 }
        position += 2
        guard position - start <= limits.fieldLine + 2 else { throw .longField }
        let kind = RequestHead.FieldKind(bytes.extracting(name.range))
        return RequestHead.Field(kind: kind, name: name, value: RequestHead.Slice(valueStart, valueEnd))
    }
}

/// Finds the end of a header whose bytes arrive in several pieces, each byte of which is scanned only once.
struct HeadScanner {
    let followsEmptyLine: Bool
    private var scanned = 0
    private var lineStart = 0
    private var lineCount = 0

    init(followsEmptyLine: Bool = false) { self.followsEmptyLine = followsEmptyLine }

    var hasBegun: Bool { scanned > 0 }

    /// Scans the bytes that have arrived since the last call.
    ///
    /// `bytes` has all bytes of the header so far. The result is the length of the header with its empty line; nil if
    /// the end has not arrived. A line or a header that is too long is an error at once. If both are too long, the
    /// error is for the limit that is exceeded at the earlier byte, however the bytes are divided into pieces.
    mutating func end(of bytes: Span<UInt8>, limits: HTTPLimits) throws(RequestFault) -> Int? {
        let count = bytes.count
        while scanned < count {
            guard bytes[scanned] == ASCII.lineFeed else {
                scanned += 1
                continue
            }
            let length = scanned - lineStart
            try checkLine(length: length, end: scanned + 1, limits: limits)
            scanned += 1
            lineStart = scanned
            lineCount += 1
            // A line feed without a carriage return also ends the header. The parser then rejects it.
            if length == 0 || length == 1 && bytes[scanned - 2] == ASCII.carriageReturn { return scanned }
        }
        try checkLine(length: count - lineStart, end: count, limits: limits)
        return nil
    }

    /// Checks the length of a line without its line feed, and the length of the header up to the end of the line.
    private func checkLine(length: Int, end: Int, limits: HTTPLimits) throws(RequestFault) {
        // `length` counts the carriage return, and the limits do not.
        let maximum = (lineCount == 0 ? limits.requestLine : limits.fieldLine) + 1
        guard length > maximum || end > limits.header else { return }
        guard length > maximum, lineStart + maximum <= limits.header else { throw .longHeader }
        throw lineCount == 0 ? .longRequestLine : .longField
    }
}
