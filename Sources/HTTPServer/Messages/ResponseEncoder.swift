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

    /// Appends the fields that depend on the connection, and the empty line.
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
        /// None: the connection stays open, as is the default of HTTP/1.1.
        case implied
        /// `keep-alive`: the connection stays open, which is not the default of HTTP/1.0.
        case keepAlive
        /// `close`: the connection ends with this response.
        case close
    }
}
