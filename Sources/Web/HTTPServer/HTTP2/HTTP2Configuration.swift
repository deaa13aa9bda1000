// SPDX-License-Identifier: Apache-2.0

internal import HTTPLimits
internal import NIOCore
internal import NIOHTTP2

/// The configuration of NIOHTTP2, with limits for clients.
///
/// The reasons are in `docs/decisions/0007-http2.md`.
enum HTTP2Configuration {
    /// The flow-control window of a connection and of a stream, in bytes: the default of HTTP/2.
    ///
    /// It limits the bytes of request bodies that wait to be read.
    static let windowSize = 65_535
    /// The maximum number of rejected requests of a connection.
    ///
    /// A further rejected request ends the connection.
    static let maximumFaults = 32

    /// Returns the maximum length of a header list in bytes, counted as in RFC 9113 section 6.5.2.
    ///
    /// A longer list ends the connection.
    ///
    /// A shorter list that exceeds ``HTTPLimits`` is answered with 431. Such a list must still be decoded, because both
    /// sides share the state of the compression. Decoding needs a limit, because a small block can expand to a long
    /// list.
    static func maximumHeaderListSize(_ limits: HTTPLimits) -> Int {
        max(4 * limits.header, 262_144) + fieldOverhead * (limits.fieldCount + 4)
    }

    /// The number of bytes that RFC 9113 section 6.5.2 adds to each field's name and value.
    private static let fieldOverhead = 32

    /// Returns the settings that restrict clients.
    ///
    /// They apply only after the client has acknowledged them.
    static func restrictiveSettings(_ limits: HTTPLimits) -> [HTTP2Setting] {
        [HTTP2Setting(parameter: .maxConcurrentStreams, value: limits.streams)]
    }

    /// Returns the settings and limits of a connection.
    ///
    /// The settings apply at once, see ``EarlySettings``.
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
