// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc

/// Writing to the process's streams without buffering, so that nothing stays behind in memory or gets lost at exit.
package enum Output {
    /// Writes a line, waiting for whoever reads it.
    ///
    /// - Returns: Whether all of it was written.
    @discardableResult
    package static func write(_ text: String, to descriptor: Int32) -> Bool {
        writeBytes(Array((text + "\n").utf8), to: descriptor)
    }

    /// Writes bytes, waiting for whoever reads them.
    ///
    /// - Returns: Whether all were written.
    @discardableResult
    package static func writeBytes(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { return false }
            rest = rest.dropFirst(written)
        }
        return true
    }
}
