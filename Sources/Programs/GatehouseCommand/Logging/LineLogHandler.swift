// SPDX-License-Identifier: Apache-2.0

internal import Logging

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
