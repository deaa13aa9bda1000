// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import CommandSupport
internal import Glibc

/// A file with a log, or standard input.
enum LogFile {
    private static let chunk = 1 << 18

    /// Reads a file to its end, in memory that does not depend on its size.
    ///
    /// The end is where the file ends when it is reached. A file that is cut off meanwhile ends there.
    ///
    /// - Parameters:
    ///   - name: The path; `-` for standard input.
    ///   - use: Takes the next bytes.
    /// - Throws: ``CommandError`` when the file cannot be read, or is compressed.
    static func read(_ name: String, use: ([UInt8]) -> Void) throws(CommandError) {
        let isInput = name == "-"
        let descriptor = isInput ? STDIN_FILENO : unsafe open(name, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(name, errno) }
        defer { if !isInput { close(descriptor) } }
        var isBeginning = true
        while true {
            var count = 0
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: chunk) { buffer, initialized in
                repeat {
                    count = unsafe Glibc.read(descriptor, buffer.baseAddress, chunk)
                } while count < 0 && errno == EINTR
                initialized = max(0, count)
            }
            guard count >= 0 else { throw failure(name, errno) }
            guard count > 0 else { return }
            if isBeginning, bytes.starts(with: [0x1F, 0x8B]) {
                let name = Printable.line(name)
                throw CommandError(.failed, "\(name) is compressed; use zcat \(name) | gatehouse log")
            }
            isBeginning = false
            use(bytes)
        }
    }

    private static func failure(_ name: String, _ number: Int32) -> CommandError {
        let reason = unsafe String(cString: strerror(number))
        return CommandError(.failed, "\(displayName(name)) cannot be read: \(reason)")
    }

    private static func displayName(_ name: String) -> String { name == "-" ? "standard input" : Printable.line(name) }
}
