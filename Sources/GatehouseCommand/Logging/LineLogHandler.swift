// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc
internal import Logging
internal import Synchronization

/// A log that writes each message as a line to standard error: time in UTC, level, label, text, metadata.
///
/// The caller is often an event loop, which must not block. If the reader of the stream does not read, lines are dropped
/// and counted.
struct LineLogHandler: LogHandler {
    let label: String
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    init(label: String) {
        self.label = label
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var line = Self.timestamp()
        if event.level != .info { line += " \(event.level.rawValue)" }
        line += " "
        line += label
        line += ": "
        line += event.message.description
        if !metadata.isEmpty || !(event.metadata ?? [:]).isEmpty {
            let all = metadata.merging(event.metadata ?? [:]) { _, new in new }
            for (key, value) in all.sorted(by: { $0.key < $1.key }) { line += " \(key)=\(value)" }
        }
        LineWriter.standardError.write(line)
    }

    /// The second of the last line, and its text.
    ///
    /// The text is kept, because thousands of lines may have the same second.
    private static let lastSecond = Mutex((second: 0, text: ""))

    /// Returns the present time in the format of RFC 3339, with milliseconds.
    private static func timestamp() -> String {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        let second = lastSecond.withLock { last in
            if last.second != now.tv_sec { last = (now.tv_sec, text(second: now.tv_sec)) }
            return last.text
        }
        return "\(second).\(padded(now.tv_nsec / 1_000_000, to: 3))Z"
    }

    private static func padded(_ number: some BinaryInteger, to width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static func text(second: Int) -> String {
        var second = second
        var parts = unsafe tm()
        unsafe gmtime_r(&second, &parts)
        let date =
            unsafe "\(padded(parts.tm_year + 1900, to: 4))-\(padded(parts.tm_mon + 1, to: 2))-\(padded(parts.tm_mday, to: 2))"
        let time =
            unsafe "\(padded(parts.tm_hour, to: 2)):\(padded(parts.tm_min, to: 2)):\(padded(parts.tm_sec, to: 2))"
        return "\(date)T\(time)"
    }
}
