// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc
internal import Logging

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
        let all = metadata.merging(event.metadata ?? [:]) { _, new in new }
        let facts = all.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        let level = event.level == .info ? "" : " \(event.level.rawValue)"
        GatehouseCommand.print("\(Self.timestamp())\(level) \(label): \(event.message)\(facts)", on: STDERR_FILENO)
    }

    /// As RFC 3339 has it, with milliseconds.
    private static func timestamp() -> String {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        var parts = unsafe tm()
        unsafe gmtime_r(&now.tv_sec, &parts)
        func padded(_ number: some BinaryInteger, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let date =
            unsafe "\(padded(parts.tm_year + 1900, 4))-\(padded(parts.tm_mon + 1, 2))-\(padded(parts.tm_mday, 2))"
        let time = unsafe "\(padded(parts.tm_hour, 2)):\(padded(parts.tm_min, 2)):\(padded(parts.tm_sec, 2))"
        return "\(date)T\(time).\(padded(now.tv_nsec / 1_000_000, 3))Z"
    }
}
