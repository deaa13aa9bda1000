// SPDX-License-Identifier: Apache-2.0

public import HTTPTypes
public import NIOCore
internal import NIOHPACK

/// A complete response that is encoded once and can be sent many times.
public struct PreparedResponse: Sendable {
    /// The status code.
    public let status: Int
    /// The number of bytes of the body.
    public var bodyLength: Int { body.readableBytes }
    /// The status line and the fields, without Date and Connection.
    let head: ByteBuffer
    let body: ByteBuffer
    /// The status and the fields in the form of HTTP/2, without Date.
    let fields: HPACKHeaders

    /// Encodes a response.
    ///
    /// - Parameters:
    ///   - response: The status and fields. Content-Length is added here. Date and Connection are added when the response
    ///     is sent.
    ///   - body: The body.
    public init(_ response: HTTPResponse, body: ByteBuffer) {
        var head = ByteBuffer()
        var response = response
        response.headerFields[.contentLength] = String(body.readableBytes)
        ResponseEncoder.encode(response, into: &head)
        status = response.status.code
        self.head = head
        self.body = body
        fields = HTTP2Fields.fields(of: response)
    }
}

/// Encodes the heads of HTTP/1.1 responses (RFC 9112 sections 4 and 5).
enum ResponseEncoder {
    /// Appends the status line and the fields, each with its line end.
    static func encode(_ response: HTTPResponse, into buffer: inout ByteBuffer) {
        buffer.writeStaticString("HTTP/1.1 ")
        buffer.writeString(String(response.status.code))
        buffer.writeStaticString(" ")
        buffer.writeString(response.status.reasonPhrase)
        buffer.writeStaticString("\r\n")
        for field in response.headerFields {
            buffer.writeString(field.name.rawName)
            buffer.writeStaticString(": ")
            buffer.writeString(field.value)
            buffer.writeStaticString("\r\n")
        }
    }

    /// Appends Date, Connection and the empty line; `date` is the whole field with its line end.
    static func finish(date: ByteBuffer, connection: ConnectionOption, into buffer: inout ByteBuffer) {
        buffer.writeImmutableBuffer(date)
        switch connection {
        case .implied: buffer.writeStaticString("\r\n")
        case .keepAlive: buffer.writeStaticString("Connection: keep-alive\r\n\r\n")
        case .close: buffer.writeStaticString("Connection: close\r\n\r\n")
        }
    }

    enum ConnectionOption {
        /// No field. The connection stays open, which is the default in HTTP/1.1.
        case implied
        /// `keep-alive`. The connection stays open. The field is needed, because HTTP/1.0 closes by default.
        case keepAlive
        /// `close`. The connection ends with this response.
        case close
    }
}

/// Converts the fields of responses to the form of HTTP/2 (RFC 9113 section 8.3.2).
enum HTTP2Fields {
    /// Returns `:status` and the fields, with names in lower case; fields that only HTTP/1 has are left out.
    static func fields(of response: HTTPResponse) -> HPACKHeaders {
        var fields = HPACKHeaders()
        fields.reserveCapacity(response.headerFields.count + 2)
        fields.add(name: ":status", value: String(response.status.code))
        for field in response.headerFields {
            let name = field.name.canonicalName
            guard !isConnectionSpecific(name) else { continue }
            // RFC 9110 section 8.6: a response of status 204 has no body and no Content-Length.
            if response.status.code == 204, name == "content-length" { continue }
            // Secrets are kept out of the compression table (RFC 7541 section 7.1.3).
            fields.add(name: name, value: field.value, indexing: name == "set-cookie" ? .neverIndexed : .indexable)
        }
        return fields
    }

    /// Returns whether a field is not allowed in HTTP/2, RFC 9113 section 8.2.2.
    private static func isConnectionSpecific(_ name: String) -> Bool {
        switch name {
        case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade": true
        default: false
        }
    }
}

/// The Date field, RFC 9110 section 6.6.1.
enum HTTPDate {
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Returns the field with its line end, such as `Date: Sun, 06 Nov 1994 08:49:37 GMT`.
    static func field(_ text: String) -> ByteBuffer { ByteBuffer(string: "Date: \(text)\r\n") }

    /// Returns an IMF-fixdate (RFC 9110 section 5.6.7) of seconds since 1970-01-01 00:00 UTC.
    static func text(_ seconds: Int) -> String {
        let seconds = max(0, seconds)
        let day = seconds / 86_400
        let (year, month, dayOfMonth) = date(day)
        let clock = [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60].map(padded).joined(separator: ":")
        return "\(days[day % 7]), \(padded(dayOfMonth)) \(months[month - 1]) \(year) \(clock) GMT"
    }

    /// Years begin in March here, so that a leap day is the last day of a year.
    private static func date(_ daysSince1970: Int) -> (year: Int, month: Int, day: Int) {
        // Days are counted from 0000-03-01, in eras of 400 years. An era has 146,097 days.
        let days = daysSince1970 + 719_468
        let era = days / 146_097
        let dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * month + 2) / 5 + 1
        return (yearOfEra + era * 400 + (month >= 10 ? 1 : 0), month < 10 ? month + 3 : month - 9, day)
    }

    private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
