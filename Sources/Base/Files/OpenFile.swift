// SPDX-License-Identifier: Apache-2.0

package import LibC

/// An error of a system call, by its number; its description is the system's text.
package struct SystemError: Error, Sendable, Hashable, CustomStringConvertible {
    package let number: Int32

    package init(number: Int32) { self.number = number }

    /// The error of the last call of this thread.
    package static var last: SystemError { SystemError(number: errno) }

    package var description: String { unsafe String(cString: strerror(number)) }

    /// Returns what a call returns, and throws another error in the place of its own.
    package static func mapping<Value, Fault: Error>(
        _ call: @autoclosure () throws(SystemError) -> Value,
        to fault: (SystemError) -> Fault
    ) throws(Fault) -> Value {
        do throws(SystemError) { return try call() } catch { throw fault(error) }
    }

    /// Calls `body`, which returns a negative number after an error, again until no signal interrupts it.
    @discardableResult
    static func check<Number: SignedInteger>(_ body: () -> Number) throws(SystemError) -> Number {
        while true {
            let result = body()
            if result >= 0 { return result }
            guard errno == EINTR else { throw .last }
        }
    }
}

/// An open file, which is closed when nothing refers to it any more, and when another program is executed.
package final class OpenFile: Sendable {
    package enum Access: Sendable {
        /// For reading; the end of a pipe is not waited for.
        case reading
        /// As `reading`, but a symbolic link is an error.
        case readingWithoutLink
        /// For reading whatever the name stands for; waits for the other end of a pipe.
        case stream
        case appending
        /// A file that does not exist yet; the mode without the bits of umask(2).
        case new(mode_t)
        /// For reading and writing; created for the owner alone if it is missing. A symbolic link is an error.
        case own
        case folder

        fileprivate var flags: Int32 {
            switch self {
            case .reading: O_RDONLY | O_NOCTTY | O_NONBLOCK
            case .readingWithoutLink: O_RDONLY | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK
            case .stream: O_RDONLY
            case .appending: O_WRONLY | O_APPEND
            case .new: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY
            case .own: O_RDWR | O_CREAT | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK
            case .folder: O_RDONLY | O_DIRECTORY
            }
        }
    }

    package let descriptor: Int32

    package init(_ path: String, _ access: Access) throws(SystemError) {
        let mode: mode_t = if case .new(let mode) = access { mode } else { 0o600 }
        descriptor = unsafe open(path, access.flags | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw .last }
    }

    /// Takes over an open descriptor that nothing else closes.
    package init(owning descriptor: Int32) { self.descriptor = descriptor }

    package static func standardInput() throws(SystemError) -> OpenFile {
        OpenFile(owning: try SystemError.check { fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) })
    }

    // An initializer that throws has no descriptor, and closing it would change errno.
    deinit { if descriptor >= 0 { close(descriptor) } }

    // MARK: Reading

    /// Appends what one read(2) returns, at the present place or at an offset; nothing at the end of the file.
    private func read(into output: inout OutputSpan<UInt8>, at offset: Int?) throws(SystemError) {
        try unsafe output.withUnsafeMutableBufferPointer { buffer, count throws(SystemError) in
            let free = unsafe UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[count...])
            count += try SystemError.check {
                guard let offset else { return unsafe LibC.read(descriptor, free.baseAddress, free.count) }
                return unsafe pread(descriptor, free.baseAddress, free.count, off_t(offset))
            }
        }
    }

    /// Reads until the output is full or the file ends, without another copy of the bytes.
    package func fill(_ output: inout OutputSpan<UInt8>) throws(SystemError) {
        while !output.isFull {
            let count = output.count
            try read(into: &output, at: nil)
            if output.count == count { return }
        }
    }

    /// Returns what one read(2) returns; nothing at the end of the file.
    package func part(ofAtMost count: Int, at offset: Int? = nil) throws(SystemError) -> [UInt8] {
        try [UInt8](capacity: count) { output throws(SystemError) in try read(into: &output, at: offset) }
    }

    /// Returns the next bytes, fewer than `count` only at the end of the file.
    package func bytes(atMost count: Int) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let part = try part(ofAtMost: min(count - bytes.count, 1 << 16))
            if part.isEmpty { break }
            bytes += part
        }
        return bytes
    }

    package func rewind() throws(SystemError) { try SystemError.check { lseek(descriptor, 0, SEEK_SET) } }

    // MARK: Changing

    /// Writes all bytes, at the present place or at an offset.
    package func write(_ bytes: [UInt8], at offset: Int? = nil) throws(SystemError) {
        var done = 0
        while done < bytes.count {
            let count = try SystemError.check {
                unsafe bytes.withUnsafeBytes { bytes in
                    let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
                    guard let offset else { return unsafe LibC.write(descriptor, rest.baseAddress, rest.count) }
                    return unsafe pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + done))
                }
            }
            guard count > 0 else { throw SystemError(number: EIO) }
            done += count
        }
    }

    package func truncate(to size: Int) throws(SystemError) {
        try SystemError.check { ftruncate(descriptor, off_t(size)) }
    }

    package func setMode(_ mode: mode_t) throws(SystemError) { try SystemError.check { fchmod(descriptor, mode) } }

    package func setOwner(_ owner: uid_t, group: gid_t) throws(SystemError) {
        try SystemError.check { fchown(descriptor, owner, group) }
    }

    /// Returns when the contents and the status are on the disk.
    package func sync() throws(SystemError) {
        #if canImport(Darwin)
        try syncContents()
        #else
        try SystemError.check { fsync(descriptor) }
        #endif
    }

    /// Returns when the contents are on the disk.
    package func syncContents() throws(SystemError) { try SystemError.check { fdatasync(descriptor) } }

    package func status() throws(SystemError) -> FileStatus {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .last }
        return FileStatus(status)
    }
}
