// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc
internal import Logging
internal import Synchronization

/// One line on standard error for every message: time in UTC, level, label, text, metadata.
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
        GatehouseCommand.print(line, on: STDERR_FILENO)
    }

    /// The second that was written last: there may be thousands of lines in one.
    private static let lastSecond = Mutex((second: 0, text: ""))

    /// As RFC 3339 has it, with milliseconds.
    private static func timestamp() -> String {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        let second = lastSecond.withLock { last in
            if last.second != now.tv_sec { last = (now.tv_sec, text(second: now.tv_sec)) }
            return last.text
        }
        return "\(second).\(padded(now.tv_nsec / 1_000_000, 3))Z"
    }

    private static func padded(_ number: some BinaryInteger, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static func text(second: Int) -> String {
        var second = second
        var parts = unsafe tm()
        unsafe gmtime_r(&second, &parts)
        let date =
            unsafe "\(padded(parts.tm_year + 1900, 4))-\(padded(parts.tm_mon + 1, 2))-\(padded(parts.tm_mday, 2))"
        let time = unsafe "\(padded(parts.tm_hour, 2)):\(padded(parts.tm_min, 2)):\(padded(parts.tm_sec, 2))"
        return "\(date)T\(time)"
    }
}
