// SPDX-License-Identifier: Apache-2.0

internal import Files
internal import LibC

extension FileReplacement {
    /// Replaces the contents of a file durably under the lock that the caller holds; owner and mode stay.
    ///
    /// The next writer removes the temporary file of a program that was killed.
    static func replace(_ old: FileSnapshot, with bytes: [UInt8]) throws(FileFault) {
        let (folder, name) = FilePath.split(old.path)
        let temporary = "\(folder)/\(prefix(name))\(getpid())"
        removeLeftovers(of: name, in: folder)
        let (user, group) = (old.status.owner, old.status.group)
        do throws(Fault) {
            try replace(
                old.path,
                with: bytes,
                through: temporary,
                owner: (user, group),
                mode: old.status.mode,
                folderSync: .required
            )
        } catch {
            let what: String
            switch error.step {
            case .create, .setMode, .write: what = "nothing is changed: cannot \(error.step.rawValue) \(temporary)"
            case .setOwner:
                what = "nothing is changed: cannot change the owner of \(temporary) to user \(user), group \(group)"
            case .rename:
                // A single file that is mounted into a container cannot be replaced.
                let hint = error.error.number == EBUSY ? "; mount its folder rather than the file" : ""
                what = "nothing is changed: cannot replace \(old.path)\(hint)"
            case .openFolder, .syncFolder:
                what = "changed, but not yet safe on the disk: cannot \(error.step.rawValue) \(folder)"
            }
            throw FileFault(what, because: error.error)
        }
    }

    private static func prefix(_ name: String) -> String { ".\(name).new-" }

    /// Removes the temporary files of writers that were killed; the caller holds the lock, so no other writer runs.
    private static func removeLeftovers(of name: String, in folder: String) {
        guard let entries = unsafe opendir(folder) else { return }
        defer { unsafe closedir(entries) }
        let start = prefix(name)
        while let entry = unsafe readdir(entries) {
            let found = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            guard found.hasPrefix(start),
                found.utf8.dropFirst(start.utf8.count).allSatisfy({ (0x30...0x39).contains($0) })
            else { continue }
            unsafe unlink("\(folder)/\(found)")
        }
    }
}

extension FileLock {
    /// Takes the lock for replacing a file, of `.NAME.lock`; blocks the thread for at most `timeLimit` nanoseconds.
    convenience init(of name: String, timeLimit: Int) throws(FileFault) {
        let file = try FileFault.resolve(name)
        let parts = FilePath.split(file)
        let path = "\(parts.folder)/.\(parts.name).lock"
        let status = try SystemError.mapping(FileStatus(of: file)) { FileFault(name, because: $0) }
        do throws(Fault) {
            try self.init(path, owner: (status.owner, status.group), timeLimit: timeLimit)
        } catch {
            switch error {
            case .cannotOpen(let error): throw FileFault("cannot open the lock file \(path)", because: error)
            case .cannotLock(let error): throw FileFault("cannot lock \(path)", because: error)
            case .isHeld(let holder):
                throw FileFault("\(file) is locked by \(holder), which is changing it (\(path))")
            }
        }
    }
}
