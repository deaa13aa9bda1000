// SPDX-License-Identifier: Apache-2.0

package import LibC

/// The atomic replacement of a file: if the program is killed, the file has its complete old or its complete new bytes.
package enum FileReplacement {
    /// The sync of the folder after the file has got its name, so that the name survives a power cut.
    package enum FolderSync: Sendable {
        case none
        /// An error is ignored.
        case attempted
        case required
    }

    /// A step of the replacement, in the words of an error about the temporary file or the folder.
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
        let file = try attempt(.create, OpenFile(temporary, .new(0o600)))
        do throws(Fault) {
            let status = try attempt(.setOwner, file.status())
            if let owner, owner != (status.owner, status.group) {
                try attempt(.setOwner, file.setOwner(owner.user, group: owner.group))
            }
            try attempt(.setMode, file.setMode(mode))
            try attempt(.write, file.write(bytes))
            try attempt(.write, file.sync())
            try attempt(.rename, FilePath.rename(temporary, to: path))
        } catch {
            unsafe unlink(temporary)
            throw error
        }
        do throws(Fault) {
            if folderSync == .none { return }
            let folder = try attempt(.openFolder, OpenFile(FilePath.split(path).folder, .folder))
            try attempt(.syncFolder, folder.sync())
        } catch {
            // Some network file systems cannot sync folders, and need no sync.
            let isNotNeeded = error.step == .syncFolder && error.error.number == EINVAL
            if folderSync == .required, !isNotNeeded { throw error }
        }
    }

    private static func attempt<Value>(
        _ step: Step,
        _ call: @autoclosure () throws(SystemError) -> Value
    ) throws(Fault) -> Value {
        try SystemError.mapping(call()) { Fault(step: step, error: $0) }
    }
}
