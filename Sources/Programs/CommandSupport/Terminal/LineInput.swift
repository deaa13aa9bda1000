// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import RealmKit

/// Reading lines of a stream as secrets.
package enum LineInput {
    /// Reads one line.
    ///
    /// - Parameters:
    ///   - input: The descriptor of the stream.
    ///   - interrupt: Ends the wait for the line.
    /// - Returns: The line; nil at the end of the file, after an interrupt, or if the line is longer than
    ///   ``Terminal/maximumLine``.
    package static func readSecret(_ input: Int32, until interrupt: InputInterrupt? = nil) -> Secret? {
        var line = LineBuffer(capacity: Terminal.maximumLine)
        var byte: UInt8 = 0
        while true {
            if let interrupt, !interrupt.waits(for: input) { return nil }
            let count = unsafe Glibc.read(input, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return line.isEmpty ? nil : line.secret() }
            if byte == 0x0A {
                line.removeCarriageReturn()
                return line.secret()
            }
            guard line.append(byte) else { return nil }
        }
    }
}
