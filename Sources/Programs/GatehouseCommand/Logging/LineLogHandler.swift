// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Gatehouse
internal import Glibc
internal import Logging
internal import Synchronization

/// A log that writes each message as a line to standard error: time in UTC, level, label, text, metadata.
///
/// The caller is often an event loop, which must not block: lines that are not read are dropped and counted.
struct LineLogHandler: LogHandler {
    let label: String
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]

    init(label: String) { self.label = label }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var line: [UInt8] = []
        LineTime.append(to: &line)
        if event.level != .info { line += " \(event.level.rawValue)".utf8 }
        line += " \(label): \(event.message)".utf8
        if !metadata.isEmpty || !(event.metadata ?? [:]).isEmpty {
            let all = metadata.merging(event.metadata ?? [:]) { _, new in new }
            for (key, value) in all.sorted(by: { $0.key < $1.key }) { line += " \(key)=\(value)".utf8 }
        }
        LineWriter.standardError.write(line.span)
    }
}

/// The lines of the access log on standard error, in the form of ``LineLogHandler``.
struct AccessLogLines: AccessLogOutput {
    private static let label = Array(" access: ".utf8)

    func write(_ line: Span<UInt8>) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(LineTime.length + Self.label.count + line.count)
        LineTime.append(to: &bytes)
        bytes += Self.label
        unsafe line.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
        LineWriter.standardError.write(bytes.span)
    }
}

/// The time at the beginning of a log line, in UTC, in the format of RFC 3339 with milliseconds.
enum LineTime {
    static let length = "2026-11-24T00:00:00.000Z".utf8.count

    /// The second of the last line, and its text up to the decimal point, which thousands of lines may have.
    private static let lastSecond = Mutex((second: 0, text: [UInt8]()))

    static func append(to line: inout [UInt8]) {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        line += lastSecond.withLock { last in
            if last.second != now.tv_sec { last = (now.tv_sec, Array("\(UTCTime.text(now.tv_sec).dropLast()).".utf8)) }
            return last.text
        }
        ASCII.append(decimal: now.tv_nsec / 1_000_000, width: 3, to: &line)
        line.append(UInt8(ascii: "Z"))
    }
}
