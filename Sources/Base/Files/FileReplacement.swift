// SPDX-License-Identifier: Apache-2.0

package import Glibc

/// The atomic replacement of a file: if the program is killed, the file has its complete old or its complete new bytes.
package enum FileReplacement {
    /// What is done with the folder after the file has got its name, so that the name survives a power cut.
    package enum FolderSync: Sendable {
        case none
        /// An error is ignored.
        case attempted
        case required
    }

    /// What is done, as an error says it of the temporary file or of the folder.
    package enum Step: String, Sendable {
        case create, write, rename
        case setOwner = "change the owner of"
        case setMode = "set the mode of"
        case openFolder = "open"
        case syncFolder = "sync"
    }

    /// The step that failed; the file has its new bytes if it is a step of the folder.
    package struct Fault: Error {
        package let step: Step
        package let error: SystemError
    }

    /// Writes the bytes to a new temporary file of the same folder, which is synced and renamed.
    ///
    /// Owner and mode are set before the bytes are written: who may not read the file can never open it.
    package static func replace(
        _ path: String,
        with bytes: [UInt8],
        through temporary: String,
        owner: (user: uid_t, group: gid_t)?,
        mode: mode_t,
        folderSync: FolderSync
    ) throws(Fault) {
        let file = try attempt(.create) { () throws(SystemError) in try OpenFile(temporary, .new(0o600)) }
        do throws(Fault) {
            try attempt(.setOwner) { () throws(SystemError) in
                let status = try file.status()
                if let owner, owner != (status.owner, status.group) {
                    try file.setOwner(owner.user, group: owner.group)
                }
            }
            try attempt(.setMode) { () throws(SystemError) in try file.setMode(mode) }
            try attempt(.write) { () throws(SystemError) in
                try file.write(bytes)
                try file.sync()
            }
            try attempt(.rename) { () throws(SystemError) in
                _ = try SystemError.check { unsafe rename(temporary, path) }
            }
        } catch {
            unsafe unlink(temporary)
            throw error
        }
        do throws(Fault) {
            if folderSync != .none { try syncFolder(FilePath.split(path).folder) }
        } catch {
            if folderSync == .required { throw error }
        }
    }

    private static func syncFolder(_ path: String) throws(Fault) {
        let folder = try attempt(.openFolder) { () throws(SystemError) in try OpenFile(path, .folder) }
        do throws(Fault) {
            try attempt(.syncFolder) { () throws(SystemError) in try folder.sync() }
        } catch {
            // Some network file systems cannot sync folders, and need no sync.
            if error.error.number != EINVAL { throw error }
        }
    }

    private static func attempt<Value>(
        _ step: Step,
        _ body: () throws(SystemError) -> Value
    ) throws(Fault) -> Value {
        try Result(catching: body).mapError { Fault(step: step, error: $0) }.get()
    }
}

package enum FilePath {
    /// The folders of a path, from its first part to the whole.
    package static func parts(_ path: String) -> [String] {
        path.split(separator: "/").reduce(into: []) { parts, name in
            parts.append(parts.last.map { "\($0)/\(name)" } ?? (path.hasPrefix("/") ? "/\(name)" : String(name)))
        }
    }

    /// Makes a folder; false if something has its name.
    @discardableResult
    package static func makeFolder(_ path: String, mode: mode_t) throws(SystemError) -> Bool {
        if unsafe mkdir(path, mode) == 0 { return true }
        let error = SystemError.last
        // On network file systems another error may stand before EEXIST.
        guard error.number == EEXIST || (try? FileStatus(of: path))?.isFolder == true else { throw error }
        return false
    }

    /// Returns the path with links resolved.
    package static func resolve(_ path: String) throws(SystemError) -> String {
        guard let resolved = unsafe realpath(path, nil) else { throw .last }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    package static func split(_ path: String) -> (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        let name = String(path[path.index(after: slash)...])
        return (slash == path.startIndex ? "/" : String(path[..<slash]), name)
    }
}
