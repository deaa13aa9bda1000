// SPDX-License-Identifier: Apache-2.0

/// Writes one message.
package struct MessageWriter {
    /// The message with the length of its body; complete after ``finish()``.
    ///
    /// A writer of secrets wipes it.
    package var bytes: [UInt8]

    /// Begins a message.
    ///
    /// - Parameters:
    ///   - kind: The kind of the message.
    ///   - request: The number of the request that the message belongs to.
    ///   - capacity: The maximum length of the body. No copy is left in memory if the body is not longer.
    package init(_ kind: PAMMessage.Kind, request: UInt64, capacity: Int = 256) {
        bytes = []
        bytes.reserveCapacity(capacity + 13)
        bytes += [0, 0, 0, 0, kind.rawValue]
        for index in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: request >> UInt64(8 * index))) }
    }

    /// Appends a byte.
    package mutating func append(_ byte: UInt8) { bytes.append(byte) }

    /// Appends a number of 4 bytes.
    package mutating func append(number: Int32) {
        let bits = UInt32(bitPattern: number)
        for shift in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(shift))) }
    }

    /// Appends a text with its length.
    package mutating func append(text: some Collection<UInt8>) {
        append(number: Int32(text.count))
        bytes.append(contentsOf: text)
    }

    /// Appends bytes with their length.
    package mutating func append(text: Span<UInt8>) {
        append(number: Int32(text.count))
        for index in text.indices { bytes.append(text[index]) }
    }

    /// Sets the length of the body.
    package mutating func finish() {
        let count = UInt32(bytes.count - 4)
        for index in 0..<4 { bytes[index] = UInt8(truncatingIfNeeded: count >> UInt32(8 * index)) }
    }
}
