// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes
package import NIOCore
internal import NIOHPACK

/// A complete response that is encoded once and can be sent many times.
package final class PreparedResponse: Sendable {
    package let status: Int
    /// The number of bytes of the body.
    package var bodyLength: Int { body.readableBytes }
    /// The status line and the fields, without Date and Connection.
    let head: ByteBuffer
    let body: ByteBuffer
    /// The status and the fields in the form of HTTP/2, without Date.
    let fields: HPACKHeaders

    /// Encodes a response and adds Content-Length, which a response of status 204 does not have (RFC 9110 section 8.6).
    package init(_ response: HTTPResponse, body: ByteBuffer) {
        var head = ByteBuffer()
        var response = response
        if response.status != .noContent { response.headerFields[.contentLength] = String(body.readableBytes) }
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
