// SPDX-License-Identifier: Apache-2.0

/// Reads the body of one message; every value is nil if the body is too short or breaks a limit.
package struct MessageReader {
    private let body: ArraySlice<UInt8>
    private var position: Int

    /// Returns the length of a body from its first 4 bytes; nil if it is too long or empty.
    ///
    /// - Parameter header: At least 4 bytes.
    /// - Returns: The length from 1 to ``PAMMessage/maximumBody``.
    package static func length(_ header: ArraySlice<UInt8>) -> Int? {
        var count: UInt32 = 0
        for (index, byte) in header.prefix(4).enumerated() { count |= UInt32(byte) << UInt32(8 * index) }
        return (1...UInt32(PAMMessage.maximumBody)).contains(count) ? Int(count) : nil
    }

    /// Creates a reader.
    ///
    /// - Parameter body: The body of a message.
    package init(_ body: ArraySlice<UInt8>) {
        self.body = body
        position = body.startIndex
    }

    /// True if nothing follows.
    package var isAtEnd: Bool { position == body.endIndex }

    /// Reads the kind of the message.
    package mutating func kind() -> PAMMessage.Kind? { byte().flatMap(PAMMessage.Kind.init) }

    /// Reads the number of the request, which follows the kind.
    package mutating func request() -> UInt64? {
        guard body.endIndex - position >= 8 else { return nil }
        var number: UInt64 = 0
        for index in 0..<8 { number |= UInt64(body[position + index]) << UInt64(8 * index) }
        position += 8
        return number
    }

    /// Reads a byte.
    package mutating func byte() -> UInt8? {
        guard position < body.endIndex else { return nil }
        defer { position += 1 }
        return body[position]
    }

    /// Reads a number of 4 bytes.
    package mutating func number() -> Int32? {
        guard body.endIndex - position >= 4 else { return nil }
        var bits: UInt32 = 0
        for index in 0..<4 { bits |= UInt32(body[position + index]) << UInt32(8 * index) }
        position += 4
        return Int32(bitPattern: bits)
    }

    /// Reads a text with its length.
    package mutating func text() -> ArraySlice<UInt8>? {
        guard let count = number(), (0...Int32(PAMMessage.maximumText)).contains(count),
            body.endIndex - position >= Int(count)
        else { return nil }
        defer { position += Int(count) }
        return body[position..<(position + Int(count))]
    }
}
