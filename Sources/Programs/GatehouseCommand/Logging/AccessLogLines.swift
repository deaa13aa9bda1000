// SPDX-License-Identifier: Apache-2.0

internal import Gatehouse

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
