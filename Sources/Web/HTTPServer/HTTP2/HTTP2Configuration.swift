// SPDX-License-Identifier: Apache-2.0

internal import HTTPLimits
internal import NIOCore
internal import NIOHTTP2

/// The configuration of NIOHTTP2, with limits for clients; the reasons are in `docs/decisions/0007-http2.md`.
enum HTTP2Configuration {
    /// The window of a connection and of a stream in bytes, as HTTP/2 has it by default; it limits the bodies that
    /// wait.
    static let windowSize = 65_535
    /// The maximum number of rejected requests of a connection; a further one ends it.
    static let maximumFaults = 32

    /// Returns the maximum length of a header list in bytes, counted as in RFC 9113 section 6.5.2.
    ///
    /// A longer list ends the connection. A shorter list that exceeds ``HTTPLimits`` is answered with 431; it must
    /// still be decoded, because both sides share the state of the compression. Decoding needs a limit, because a small
    /// block can expand to a long list.
    static func maximumHeaderListSize(_ limits: HTTPLimits) -> Int {
        max(4 * limits.header, 262_144) + fieldOverhead * (limits.fieldCount + 4)
    }

    /// The number of bytes that RFC 9113 section 6.5.2 adds to each field's name and value.
    private static let fieldOverhead = 32

    /// Returns the settings that restrict clients; they apply only after the client has acknowledged them.
    static func restrictiveSettings(_ limits: HTTPLimits) -> [HTTP2Setting] {
        [HTTP2Setting(parameter: .maxConcurrentStreams, value: limits.streams)]
    }

    /// Returns the settings and limits of a connection; the settings apply at once, see ``EarlySettings``.
    static func connection(_ limits: HTTPLimits) -> NIOHTTP2Handler.ConnectionConfiguration {
        var configuration = NIOHTTP2Handler.ConnectionConfiguration()
        configuration.initialSettings = [
            HTTP2Setting(parameter: .maxHeaderListSize, value: maximumHeaderListSize(limits)),
            HTTP2Setting(parameter: .headerTableSize, value: 4096),
            HTTP2Setting(parameter: .initialWindowSize, value: windowSize),
            HTTP2Setting(parameter: .maxFrameSize, value: 16_384),
        ]
        // HTTP2HeadReader checks fields and lengths, with the rules of HTTP/1.
        configuration.headerBlockValidation = .disabled
        configuration.contentLengthValidation = .disabled
        configuration.maximumSequentialEmptyDataFrames = 8
        configuration.maximumBufferedControlFrames = 256
        // An ordinary client fills each frame of a header block with 16,384 bytes, except the last frame.
        configuration.maximumSequentialContinuationFrames = maximumHeaderListSize(limits) / 16_384 + 2
        configuration.maximumRecentlyResetStreams = 128
        configuration.maximumConnectionGlitches = 100
        configuration.controlFrameRateLimit.maximumCount = 200
        configuration.controlFrameRateLimit.windowLength = .seconds(30)
        return configuration
    }

    /// The limits of a stream.
    static let stream: NIOHTTP2Handler.StreamConfiguration = {
        var configuration = NIOHTTP2Handler.StreamConfiguration()
        configuration.targetWindowSize = windowSize
        configuration.streamResetFrameRateLimit.maximumCount = 200
        configuration.streamResetFrameRateLimit.windowLength = .seconds(30)
        configuration.streamErrorRateLimit.maximumCount = 100
        configuration.streamErrorRateLimit.windowLength = .seconds(30)
        return configuration
    }()
}

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

    /// Filters received bytes for NIOHTTP2; the bytes of an incomplete frame header are returned later.
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
