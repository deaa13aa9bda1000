// SPDX-License-Identifier: Apache-2.0
// Gatehouse

package import Glibc

/// The folder in which a program keeps what it makes itself; for its owner only.
package struct StateFolder {
    /// A system call failed.
    package struct Fault: Error {
        package let reason: String

        package init(reason: String) { self.reason = reason }

        /// - Parameter what: What was tried; the system's reason is added.
        init(_ what: String) {
            let number = errno
            reason = "\(what): \(unsafe String(cString: strerror(number)))"
        }
    }

    package let path: String

    /// Opens the folder, making it and those above it if they are not there.
    package init(_ path: String) throws(Fault) {
        self.path = path
        var made = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            made += made.isEmpty || made.hasSuffix("/") ? String(part) : "/\(part)"
            guard unsafe mkdir(made, 0o700) != 0, errno != EEXIST else { continue }
            throw Fault("cannot make \(made)")
        }
        guard unsafe access(path, R_OK | W_OK | X_OK) == 0 else { throw Fault("cannot use \(path)") }
        let owner = try Self.checkClosed(path)
        guard owner == geteuid() else { throw Fault(reason: "\(path) belongs to another user") }
    }

    /// Looks whether others may write to a folder: whoever can, can choose the key that is shown, and who the users are.
    ///
    /// - Returns: Whose it is.
    @discardableResult
    static func checkClosed(_ path: String) throws(Fault) -> uid_t {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw Fault("cannot look at \(path)") }
        guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else { throw Fault(reason: "\(path): others may write to it") }
        return status.st_uid
    }

    package func path(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file that is either there with all its bytes or not there at all.
    ///
    /// The mode is that of a new file from its first moment, so nobody can open a key before it is closed to them.
    package func write(_ bytes: [UInt8], to name: String, mode: mode_t) throws(Fault) {
        let temporary = path(".\(name).\(getpid())")
        unsafe unlink(temporary)
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw Fault("cannot make \(temporary)") }
        do throws(Fault) {
            defer { close(descriptor) }
            guard fchmod(descriptor, mode) == 0 else { throw Fault("cannot set the mode of \(temporary)") }
            try writeAll(bytes, descriptor)
            guard fsync(descriptor) == 0 else { throw Fault("cannot write \(temporary)") }
        } catch {
            unsafe unlink(temporary)
            throw error
        }
        guard unsafe rename(temporary, path(name)) == 0 else {
            let fault = Fault("cannot rename \(temporary)")
            unsafe unlink(temporary)
            throw fault
        }
    }

    /// Makes an empty file, unless there is one; that one gets the mode, if more people may use it.
    ///
    /// One that is there is not opened: closing it again would give up the locks that SQLite has on it in this process. A
    /// file that came back from a backup has the mode it was given there.
    package func makeFile(_ name: String, mode: mode_t) throws(Fault) {
        let path = path(name)
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        guard descriptor < 0 else {
            close(descriptor)
            return
        }
        guard errno == EEXIST else { throw Fault("cannot make \(path)") }
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { throw Fault("cannot look at \(path)") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Fault(reason: "\(path) is no ordinary file") }
        guard status.st_uid == geteuid() else { throw Fault(reason: "\(path) belongs to another user") }
        guard status.st_mode & 0o777 & ~mode != 0 else { return }
        guard unsafe chmod(path, mode) == 0 else { throw Fault("cannot set the mode of \(path)") }
    }

    /// Opens the file that stands for a right which one program has at a time, making it if it is not there.
    ///
    /// It is for its owner only, and stays: a file that was removed could be locked by two, each of which has another.
    func openLock(_ name: String) throws(Fault) -> Int32 {
        let path = path(".\(name).lock")
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Fault("cannot open \(path)") }
        return descriptor
    }

    private func writeAll(_ bytes: [UInt8], _ descriptor: Int32) throws(Fault) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw Fault("cannot write") }
            rest = rest.dropFirst(written)
        }
    }
}
