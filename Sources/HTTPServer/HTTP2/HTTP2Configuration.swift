// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPLimits
internal import NIOCore
internal import NIOHTTP2

/// The configuration of NIOHTTP2, with its limits for clients; the reasons are in `docs/decisions/0007-http2.md`.
enum HTTP2Configuration {
    /// The number of bytes of all bodies of a connection that may wait to be read: the default window of HTTP/2.
    static let window = 65_535
    /// The number of rejected requests of a connection before it ends.
    static let faults = 32

    /// The longest header list before the connection ends, in bytes as RFC 9113 section 6.5.2 counts them.
    ///
    /// A request whose list is longer than ``HTTPLimits`` allow is answered with 431. The list must be decoded all the
    /// same, as both sides share the state of the compression. That needs a limit: a small block can expand to a long
    /// list.
    static func headerList(_ limits: HTTPLimits) -> Int {
        max(4 * limits.header, 262_144) + fieldOverhead * (limits.fieldCount + 4)
    }

    /// The number of bytes that RFC 9113 section 6.5.2 adds to each field's name and value.
    private static let fieldOverhead = 32

    /// The settings that forbid something to clients.
    ///
    /// They apply when a client has acknowledged them.
    static func later(_ limits: HTTPLimits) -> [HTTP2Setting] {
        [HTTP2Setting(parameter: .maxConcurrentStreams, value: limits.streams)]
    }

    /// The settings and limits of a connection.
    ///
    /// These settings apply at once, see ``EarlySettings``.
    static func connection(_ limits: HTTPLimits) -> NIOHTTP2Handler.ConnectionConfiguration {
        var configuration = NIOHTTP2Handler.ConnectionConfiguration()
        configuration.initialSettings = [
            HTTP2Setting(parameter: .maxHeaderListSize, value: headerList(limits)),
            HTTP2Setting(parameter: .headerTableSize, value: 4096),
            HTTP2Setting(parameter: .initialWindowSize, value: window),
            HTTP2Setting(parameter: .maxFrameSize, value: 16_384),
        ]
        // Fields and lengths are checked by HTTP2HeadReader, with the rules of HTTP/1.
        configuration.headerBlockValidation = .disabled
        configuration.contentLengthValidation = .disabled
        configuration.maximumSequentialEmptyDataFrames = 8
        configuration.maximumBufferedControlFrames = 256
        // Each has 16,384 bytes, unless a client makes them smaller for no reason.
        configuration.maximumSequentialContinuationFrames = headerList(limits) / 16_384 + 2
        configuration.maximumRecentlyResetStreams = 128
        configuration.maximumConnectionGlitches = 100
        configuration.controlFrameRateLimit.maximumCount = 200
        configuration.controlFrameRateLimit.windowLength = .seconds(30)
        return configuration
    }

    /// The limits of a stream.
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
