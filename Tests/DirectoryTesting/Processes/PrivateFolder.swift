// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization

/// A temporary folder for the files of a server.
///
/// Only the user of this process can read it. It is removed when this object is deinitialized, or when the process exits.
package final class PrivateFolder: Sendable {
    /// The path, without symbolic links.
    package let path: String

    package init() throws {
        let base = (NSTemporaryDirectory() as NSString).resolvingSymlinksInPath
        // The path is short, because some servers make sockets in their folder, and a socket's path has a maximum.
        let name = "gatehouse-directory-\(UUID().uuidString.prefix(8).lowercased())"
        path = (base == "/" ? "" : base) + "/" + name
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        AtExit.remove(path)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Returns the path of a file.
    package func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file.
    @discardableResult
    package func write(_ text: String, to name: String) throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: file(name)))
        return file(name)
    }

    /// Creates a folder.
    @discardableResult
    package func folder(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: file(name), withIntermediateDirectories: true)
        return file(name)
    }

    /// The text of a file; empty if there is none.
    package func text(_ name: String) -> String {
        String(decoding: FileManager.default.contents(atPath: file(name)) ?? Data(), as: UTF8.self)
    }
}

/// Ends processes and removes folders when this process exits, also those of static properties.
enum AtExit {
    private struct State {
        var isRegistered = false
        var processes: Set<pid_t> = []
        var folders: [String] = []
    }

    private static let state = Mutex(State())

    static func kill(_ process: pid_t) { change { $0.processes.insert(process) } }

    static func forget(_ process: pid_t) { change { $0.processes.remove(process) } }

    static func remove(_ folder: String) { change { $0.folders.append(folder) } }

    private static func change(_ body: (inout State) -> Void) {
        let isFirst = state.withLock { state in
            defer { state.isRegistered = true }
            body(&state)
            return !state.isRegistered
        }
        guard isFirst else { return }
        atexit {
            let (processes, folders) = AtExit.state.withLock { ($0.processes, $0.folders) }
            for process in processes { Glibc.kill(process, SIGKILL) }
            for folder in folders { try? FileManager.default.removeItem(atPath: folder) }
        }
    }
}
