// SPDX-License-Identifier: Apache-2.0

public import Logging

/// Takes the lines of the access log.
public protocol AccessLogOutput: Sendable {
    /// Writes a line.
    ///
    /// It is called on any thread, the event loops included, with several lines at the same time, so it must not block.
    ///
    /// - Parameter line: Visible ASCII characters and spaces, without an end of line; the texts of clients are quoted.
    func write(_ line: Span<UInt8>)
}

/// An access log that is written by a logger, at the level `info`.
public struct LoggerAccessLog: AccessLogOutput {
    private let logger: Logger

    /// Creates the output.
    ///
    /// - Parameter logger: Writes each line as the message of an event.
    public init(_ logger: Logger) { self.logger = logger }

    /// Writes a line.
    public func write(_ line: Span<UInt8>) {
        let text = unsafe line.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
        logger.info("\(text)")
    }
}
