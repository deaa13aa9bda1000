// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Reads the head of an HTTP/1 request, all of which is there.
///
/// It takes what RFC 9112 allows and nothing of what it only tolerates: where two programs might read a request
/// differently, one of them lets somebody in whom the other would have stopped. So there are no bare line feeds, no
/// folded lines, no blanks before a colon, one Host, and one way to say how long a body is.
struct HeadParser {
    let limits: HTTPLimits

    /// Reads a head.
    ///
    /// - Parameters:
    ///   - bytes: The head from the method to the empty line, which must be the last two line ends.
    ///   - fields: Where to put the fields; what is there is replaced.
    /// - Returns: The start line and what the fields say about the connection and the body.
    /// - Throws: 400, 414, 417, 431 or 505.
    func parse(_ bytes: Span<UInt8>, into fields: inout [RequestHead.Field]) throws(RequestFault) -> RequestHead.Facts {
        fields.removeAll(keepingCapacity: true)
        var facts = RequestHead.Facts()
        var position = try startLine(bytes, &facts)
        var summary = FieldSummary()
        while position < bytes.count, bytes[position] != Octet.carriageReturn {
            let field = try field(bytes, &position)
            guard fields.count < limits.fieldCount else { throw RequestFault(431, "too many header fields") }
            fields.append(field)
            try summary.note(field, bytes, &facts)
        }
        guard position + 2 == bytes.count, bytes[position + 1] == Octet.lineFeed else {
            throw .malformed("a line does not end in CR and LF")
        }
        try summary.settle(bytes, &facts)
        return facts
    }

    // method SP request-target SP HTTP-version CRLF
    private func startLine(_ bytes: Span<UInt8>, _ facts: inout RequestHead.Facts) throws(RequestFault) -> Int {
        var position = 0
        while position < bytes.count, Octet.isToken(bytes[position]) { position += 1 }
        guard position > 0, position <= 32, position < bytes.count, bytes[position] == Octet.space else {
            throw .malformed("the request line has no method")
        }
        facts.methodText = RequestHead.Slice(0, position)
        facts.method = RequestHead.Method(bytes.extracting(0..<position))
        position += 1
        let start = position
        while position < bytes.count, Octet.isVisible(bytes[position]) {
            if bytes[position] == UInt8(ascii: "#") { throw .malformed("the target has a fragment") }
            position += 1
        }
        guard position > start, position < bytes.count, bytes[position] == Octet.space else {
            throw .malformed("the request line has no target")
        }
        facts.target = RequestHead.Slice(start, position)
        position += 1
        guard position + 10 <= bytes.count, bytes[position + 8] == Octet.carriageReturn,
            bytes[position + 9] == Octet.lineFeed
        else { throw .malformed("the request line has no version") }
        facts.version = try version(bytes.extracting(position..<(position + 8)))
        guard position + 10 <= limits.requestLine + 2 else { throw RequestFault(414, "the request line is too long") }
        return position + 10
    }

    private func version(_ bytes: Span<UInt8>) throws(RequestFault) -> RequestHead.Version {
        if bytes.equals("HTTP/1.1") { return .http11 }
        if bytes.equals("HTTP/1.0") { return .http10 }
        guard bytes.extracting(first: 5).equals("HTTP/"), Octet.isDigit(bytes[5]), bytes[6] == UInt8(ascii: "."),
            Octet.isDigit(bytes[7])
        else { throw .malformed("the request line has no version") }
        throw RequestFault(505, "only HTTP/1.0, HTTP/1.1 and HTTP/2 are spoken here")
    }

    // field-name ":" OWS field-value OWS CRLF
    private func field(_ bytes: Span<UInt8>, _ position: inout Int) throws(RequestFault) -> RequestHead.Field {
        let start = position
        while position < bytes.count, Octet.isToken(bytes[position]) { position += 1 }
        guard position > start, position < bytes.count, bytes[position] == Octet.colon else {
            throw .malformed(
                Octet.isBlank(bytes[start]) ? "a header field is folded" : "a header field has no proper name"
            )
        }
        let name = RequestHead.Slice(start, position)
        position += 1
        while position < bytes.count, Octet.isBlank(bytes[position]) { position += 1 }
        let valueStart = position
        while position < bytes.count, Octet.isFieldContent(bytes[position]) { position += 1 }
        guard position + 1 < bytes.count, bytes[position] == Octet.carriageReturn,
            bytes[position + 1] == Octet.lineFeed
        else { throw .malformed("a header field holds a control character") }
        var valueEnd = position
        while valueEnd > valueStart, Octet.isBlank(bytes[valueEnd - 1]) { valueEnd -= 1 }
        position += 2
        guard position - start <= limits.fieldLine + 2 else { throw RequestFault(431, "a header field is too long") }
        let kind = RequestHead.FieldKind(bytes.extracting(name.range))
        return RequestHead.Field(kind: kind, name: name, value: RequestHead.Slice(valueStart, valueEnd))
    }
}
