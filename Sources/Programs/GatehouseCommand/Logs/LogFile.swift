// SPDX-License-Identifier: Apache-2.0

internal import CommandSupport
internal import Glibc

/// A file with a log, or standard input.
enum LogFile {
    private static let chunk = 1 << 18

    /// Reads a file to its end, in memory that does not depend on its size.
    ///
    /// The end is where the file ends when it is reached. A file that is cut off meanwhile ends there. A file that was
    /// compressed by gzip is decompressed.
    ///
    /// - Parameters:
    ///   - name: The path; `-` for standard input.
    ///   - use: Takes the next bytes.
    /// - Throws: ``CommandError`` when the file cannot be read or decompressed.
    static func read(_ name: String, use: ([UInt8]) -> Void) throws(CommandError) {
        let isInput = name == "-"
        let descriptor = isInput ? STDIN_FILENO : unsafe open(name, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(name, errno) }
        defer { if !isInput { close(descriptor) } }
        var bytes = try nextBytes(of: descriptor, name)
        if bytes.starts(with: [0x1F, 0x8B]) { return try readCompressed(descriptor, name, use: use) }
        while !bytes.isEmpty {
            use(bytes)
            bytes = try nextBytes(of: descriptor, name)
        }
    }

    private static func readCompressed(
        _ descriptor: Int32,
        _ name: String,
        use: ([UInt8]) -> Void
    ) throws(CommandError) {
        // A pipe cannot be read again from its beginning.
        guard lseek(descriptor, 0, SEEK_SET) == 0 else {
            throw CommandError(.failed, "\(displayName(name)) is compressed; use zcat FILE | gatehouse log")
        }
        guard let gzip = GzipProcess(input: descriptor) else {
            let message = "\(displayName(name)) is compressed, and gzip cannot be started"
            throw CommandError(.failed, "\(message); decompress it in another way")
        }
        do throws(CommandError) {
            defer { close(gzip.output) }
            while true {
                let bytes = try nextBytes(of: gzip.output, name)
                guard !bytes.isEmpty else { break }
                use(bytes)
            }
        } catch {
            _ = gzip.finish()
            throw error
        }
        guard gzip.finish() else {
            throw CommandError(.failed, "\(displayName(name)) is damaged or cut off: gzip cannot decompress all of it")
        }
    }

    /// Returns the next bytes; none at the end.
    private static func nextBytes(of descriptor: Int32, _ name: String) throws(CommandError) -> [UInt8] {
        var count = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: chunk) { buffer, initialized in
            repeat {
                count = unsafe Glibc.read(descriptor, buffer.baseAddress, chunk)
            } while count < 0 && errno == EINTR
            initialized = max(0, count)
        }
        guard count >= 0 else { throw failure(name, errno) }
        return bytes
    }

    private static func failure(_ name: String, _ number: Int32) -> CommandError {
        let reason = unsafe String(cString: strerror(number))
        return CommandError(.failed, "\(displayName(name)) cannot be read: \(reason)")
    }

    private static func displayName(_ name: String) -> String { name == "-" ? "standard input" : Printable.line(name) }
}
