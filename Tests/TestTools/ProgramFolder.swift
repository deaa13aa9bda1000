// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A temporary folder for the programs and files of one test.
package final class ProgramFolder: Sendable {
    package let path: String

    package init() throws {
        let base = (NSTemporaryDirectory() as NSString).resolvingSymlinksInPath
        path = (base == "/" ? "" : base) + "/gatehouse-helpers-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        unsafe chmod(path, 0o755)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    package func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file, which can be executed at once.
    @discardableResult
    package func write(_ text: String, to name: String, mode: UInt32 = 0o644) throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: file(name)))
        unsafe chmod(file(name), mode)
        if mode & 0o111 != 0 { waitForEndOfWriting(name) }
        return file(name)
    }

    /// Waits for the processes of other tests, which have the descriptor of the writer until they are executed: meanwhile the
    /// file cannot be executed (ETXTBSY), and gets no lease.
    private func waitForEndOfWriting(_ name: String) {
        let descriptor = unsafe open(file(name), O_RDONLY | O_CLOEXEC)
        // F_SETLEASE is not in the module of Glibc.
        while fcntl(descriptor, 1024, F_RDLCK) < 0, errno == EAGAIN { usleep(100) }
        close(descriptor)
    }

    /// Writes a shell script that can be executed.
    package func script(_ text: String, name: String = "helper.sh") throws -> String {
        try write("#!/bin/sh\n" + text, to: name, mode: 0o755)
    }

    /// The text of a file; empty if there is none.
    package func text(_ name: String) -> String {
        String(decoding: FileManager.default.contents(atPath: file(name)) ?? Data(), as: UTF8.self)
    }
}
