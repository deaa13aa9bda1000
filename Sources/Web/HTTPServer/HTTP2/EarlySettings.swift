// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// Makes the server's settings apply from the first request, before the client has acknowledged them.
///
/// Before the acknowledgement, NIOHTTP2 ends a connection whose header list is longer than 16 KiB. A browser with many
/// cookies sends such a list with its first request. The settings of ``HTTP2Configuration/connection(_:)`` only allow
/// more than the defaults (RFC 9113 section 6.5.2), so they can apply before the client knows them. This filter inserts
/// an acknowledgement after the client's own SETTINGS, and removes the client's acknowledgement.
struct EarlySettings {
    private enum State {
        /// In the preface (RFC 9113 section 3.4). The number is the count of missing bytes.
        case preface(Int)
        /// In the header of a frame. The value has the bytes of the header that have arrived.
        case header([UInt8])
        /// In the payload of a frame. The number is the count of missing bytes.
        case payload(Int)
        /// The client's acknowledgement has been removed.
        case done
    }

    private static let prefaceLength = 24
    private static let headerLength = 9
    private static let settings: UInt8 = 0x4
    private static let acknowledgement: [UInt8] = [0, 0, 0, settings, 0x1, 0, 0, 0, 0]

    private var state = State.preface(EarlySettings.prefaceLength)
    private var isFirst = true

    /// Filters received bytes for NIOHTTP2.
    ///
    /// - Parameter bytes: The received bytes.
    /// - Returns: The bytes for NIOHTTP2: an acknowledgement is inserted after the client's first frame, and the client's
    ///   first acknowledgement is removed. The bytes of an incomplete frame header are returned later.
    mutating func filter(_ bytes: ByteBuffer) -> ByteBuffer {
        if case .done = state { return bytes }
        var (input, output) = (bytes, ByteBuffer())
        output.reserveCapacity(bytes.readableBytes + Self.acknowledgement.count)
        while input.readableBytes > 0 {
            switch state {
            case .preface(let count):
                let rest = move(count, from: &input, to: &output)
                state = rest > 0 ? .preface(rest) : .header([])
            case .header(var header):
                header += input.readBytes(length: min(Self.headerLength - header.count, input.readableBytes)) ?? []
                state = header.count < Self.headerLength ? .header(header) : take(header, into: &output)
            case .payload(let count):
                let rest = move(count, from: &input, to: &output)
                state = rest > 0 ? .payload(rest) : end(&output)
            case .done:
                output.writeBuffer(&input)
            }
        }
        return output
    }

    /// Moves up to `count` bytes, and returns how many of them have not arrived.
    private func move(_ count: Int, from input: inout ByteBuffer, to output: inout ByteBuffer) -> Int {
        let length = min(count, input.readableBytes)
        if var part = input.readSlice(length: length) { output.writeBuffer(&part) }
        return count - length
    }

    private mutating func take(_ header: [UInt8], into output: inout ByteBuffer) -> State {
        if !isFirst, header == Self.acknowledgement { return .done }
        output.writeBytes(header)
        let length = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
        // NIOHTTP2 rejects a first frame that is not SETTINGS, so no further filtering is needed.
        if isFirst, header[3] != Self.settings { return .done }
        return length > 0 ? .payload(length) : end(&output)
    }

    /// Inserts the acknowledgement at the end of the first frame.
    private mutating func end(_ output: inout ByteBuffer) -> State {
        if isFirst {
            isFirst = false
            output.writeBytes(Self.acknowledgement)
        }
        return .header([])
    }
}
