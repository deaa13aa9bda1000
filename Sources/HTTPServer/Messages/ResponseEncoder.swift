// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPTypes
internal import NIOCore

/// Writes the heads of HTTP/1.1 responses (RFC 9112 sections 4 and 5).
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

    /// Appends what belongs to the connection, and the empty line.
    ///
    /// - Parameters:
    ///   - date: The whole Date field with its line end.
    ///   - connection: What becomes of the connection.
    ///   - buffer: Where to.
    static func finish(date: ByteBuffer, _ connection: ConnectionOption, into buffer: inout ByteBuffer) {
        buffer.writeImmutableBuffer(date)
        switch connection {
        case .implied: buffer.writeStaticString("\r\n")
        case .keepAlive: buffer.writeStaticString("Connection: keep-alive\r\n\r\n")
        case .close: buffer.writeStaticString("Connection: close\r\n\r\n")
        }
    }

    /// What a response says about the connection.
    enum ConnectionOption {
        /// It goes on, as HTTP/1.1 has it unless something else is said.
        case implied
        /// It goes on, and an HTTP/1.0 client has to be told.
        case keepAlive
        /// It ends with this response.
        case close
    }
}
