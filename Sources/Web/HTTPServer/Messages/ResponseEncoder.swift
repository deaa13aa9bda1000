// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import NIOCore

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

    /// Appends Date, Connection and the empty line.
    ///
    /// - Parameters:
    ///   - date: The whole Date field with its line end.
    ///   - connection: The Connection field.
    ///   - buffer: The buffer.
    static func finish(date: ByteBuffer, connection: ConnectionOption, into buffer: inout ByteBuffer) {
        buffer.writeImmutableBuffer(date)
        switch connection {
        case .implied: buffer.writeStaticString("\r\n")
        case .keepAlive: buffer.writeStaticString("Connection: keep-alive\r\n\r\n")
        case .close: buffer.writeStaticString("Connection: close\r\n\r\n")
        }
    }

    /// The Connection field of a response.
    enum ConnectionOption {
        /// No field. The connection stays open, which is the default in HTTP/1.1.
        case implied
        /// `keep-alive`. The connection stays open. The field is needed, because HTTP/1.0 closes by default.
        case keepAlive
        /// `close`. The connection ends with this response.
        case close
    }
}
