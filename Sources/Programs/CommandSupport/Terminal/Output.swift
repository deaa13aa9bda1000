// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Writing to streams without a buffer, so that no output is lost when the process exits.
package enum Output {
    /// Writes a line.
    ///
    /// It blocks while the reader of the stream does not read.
    ///
    /// - Returns: True if the whole line was written.
    @discardableResult
    package static func write(_ text: String, to descriptor: Int32) -> Bool {
        writeBytes(Array((text + "\n").utf8), to: descriptor)
    }

    /// Writes bytes.
    ///
    /// It blocks while the reader of the stream does not read.
    ///
    /// - Returns: True if all bytes were written.
    @discardableResult
    package static func writeBytes(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            if written < 0, errno == EAGAIN {
                // Another program has set the stream to non-blocking.
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                guard unsafe poll(&ready, 1, -1) >= 0 || errno == EINTR else { return false }
                continue
            }
            guard written > 0 else { return false }
            rest = rest.dropFirst(written)
        }
        return true
    }
}
