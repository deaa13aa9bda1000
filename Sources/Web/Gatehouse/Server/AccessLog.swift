// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
public import Logging
internal import RealmConfiguration
internal import RealmKit
internal import SignIn

/// Takes the lines of the access log.
public protocol AccessLogOutput: Sendable {
    /// Writes a line of visible ASCII characters and spaces, without an end of line; the texts of clients are quoted.
    ///
    /// It is called on any thread, the event loops included, with several lines at the same time, so it must not block.
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

/// The access log: one line for each request, with the client, the user, the request, the response and the duration.
///
/// A line never contains a query, a header field or anything else that may be a secret. Text from a client is quoted,
/// so that it cannot forge another line.
///
/// The line is written as bytes into one array, because a `String` for each of its parts cost a fifth of a request.
struct AccessLog {
    private let output: any AccessLogOutput
    private let clock: SystemClock
    let isEnabled: Bool

    init(_ output: any AccessLogOutput, clock: SystemClock, isEnabled: Bool) {
        self.output = output
        self.clock = clock
        self.isEnabled = isEnabled
    }

    struct Entry {
        var peer: String?
        var user: (username: Username, realm: String)?
        var method = "-"
        /// The path; nil if it is ambiguous.
        var path: RequestPath?
        var status = 0
        var length = 0
        /// The original request of a forward-auth request.
        var original: OriginalRequest?
        /// Texts at the end of the line, each with a space before it: remarks, the reason of a denied request, its
        /// rule.
        var remarks = ("", "", "")
    }

    /// The present time of the clock; 0 if the access log is disabled.
    var now: UInt64 { isEnabled ? clock.now : 0 }

    func write(_ entry: Entry, since begin: UInt64) {
        var line: [UInt8] = []
        line.reserveCapacity(224)
        line += (entry.peer ?? "-").utf8
        line.append(ASCII.space)
        if let user = entry.user {
            LogText.appendQuoted(user.username.text, to: &line)
            line.append(UInt8(ascii: "@"))
            LogText.appendQuoted(user.realm, to: &line)
        } else {
            line.append(UInt8(ascii: "-"))
        }
        line.append(ASCII.space)
        LogText.appendQuoted(entry.method, to: &line)
        line.append(ASCII.space)
        if let path = entry.path {
            line.append(UInt8(ascii: "\""))
            LogText.append(path, to: &line)
            line.append(UInt8(ascii: "\""))
        } else {
            line += "(ambiguous path)".utf8
        }
        line.append(ASCII.space)
        ASCII.append(decimal: entry.status, to: &line)
        line.append(ASCII.space)
        ASCII.append(decimal: entry.length, to: &line)
        line.append(ASCII.space)
        ASCII.append(decimal: Int(truncatingIfNeeded: (clock.now &- begin) / 1000), to: &line)
        line += "us".utf8
        if let original = entry.original {
            line += " for=\"".utf8
            LogText.appendEscaped(original.method, to: &line)
            line.append(ASCII.space)
            LogText.appendEscaped(original.host.text, to: &line)
            LogText.append(original.path.path, to: &line)
            line.append(UInt8(ascii: "\""))
        }
        line += entry.remarks.0.utf8
        line += entry.remarks.1.utf8
        line += entry.remarks.2.utf8
        output.write(line.span)
    }
}

extension LogText {
    /// Appends a path with its escapes, without quotes.
    fileprivate static func append(_ path: RequestPath, to line: inout [UInt8]) {
        for segment in path.segments {
            line.append(UInt8(ascii: "/"))
            appendEscaped(segment.string, to: &line)
        }
        if path.endsInSlash { line.append(UInt8(ascii: "/")) }
    }
}
