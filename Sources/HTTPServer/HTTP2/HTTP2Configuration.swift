// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import NIOCore
internal import NIOHTTP2

/// What clients may do with HTTP/2, as far as the library watches over it; the reasons are in
/// `docs/decisions/0007-http2.md`.
enum HTTP2Configuration {
    /// How much of all bodies of a connection may wait here to be read, in bytes: the window HTTP/2 begins with.
    static let window = 65_535
    /// How many requests of a connection may be refused or malformed before it ends.
    static let faults = 32

    /// The settings and limits of a connection.
    static func connection(_ limits: HTTPLimits) -> NIOHTTP2Handler.ConnectionConfiguration {
        var configuration = NIOHTTP2Handler.ConnectionConfiguration()
        configuration.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: limits.streams),
            // RFC 9113 section 6.5.2 counts 32 bytes for each field besides its name and value.
            HTTP2Setting(parameter: .maxHeaderListSize, value: limits.head + 32 * (limits.fieldCount + 4)),
            HTTP2Setting(parameter: .headerTableSize, value: 4096),
            HTTP2Setting(parameter: .initialWindowSize, value: window),
            HTTP2Setting(parameter: .maxFrameSize, value: 16_384),
        ]
        // Fields and lengths are checked here, by the rules HTTP/1 has too, and once.
        configuration.headerBlockValidation = .disabled
        configuration.contentLengthValidation = .disabled
        configuration.maximumSequentialEmptyDataFrames = 8
        configuration.maximumBufferedControlFrames = 256
        // Of 16,384 bytes each unless the client makes them small, for which there is no reason.
        configuration.maximumSequentialContinuationFrames = max(5, limits.head / 16_384 + 2)
        configuration.maximumRecentlyResetStreams = 128
        configuration.maximumConnectionGlitches = 100
        configuration.controlFrameRateLimit.maximumCount = 200
        configuration.controlFrameRateLimit.windowLength = .seconds(30)
        return configuration
    }

    /// The limits of its streams.
    static let stream: NIOHTTP2Handler.StreamConfiguration = {
        var configuration = NIOHTTP2Handler.StreamConfiguration()
        configuration.targetWindowSize = window
        configuration.streamResetFrameRateLimit.maximumCount = 200
        configuration.streamResetFrameRateLimit.windowLength = .seconds(30)
        configuration.streamErrorRateLimit.maximumCount = 100
        configuration.streamErrorRateLimit.windowLength = .seconds(30)
        return configuration
    }()
}
