// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Dispatch
internal import Glibc
internal import RealmKit
internal import Synchronization

extension UserFiles {
    /// The longest time that a writer waits for another, in nanoseconds.
    static let timeLimit = 10_000_000_000

    /// Makes a change; it is on the disk when this returns.
    ///
    /// - Parameters:
    ///   - edit: The change.
    ///   - isRehash: True if the password stays the same, so that cached credentials and sessions stay valid.
    /// - Throws: ``RealmError``, as from the methods of `ManagedRealm`.
    func make(_ edit: UserEdit, isRehash: Bool = false) async throws(RealmError) {
        let result: Result<Void, RealmError> = await writers.run { [self] in
            do throws(RealmError) {
                try write(edit, isRehash: isRehash)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    /// Reads the files under their locks, computes the change, and replaces the files that change.
    private func write(_ edit: UserEdit, isRehash: Bool) throws(RealmError) {
        let known = state.withLock { $0.version }
        let locks = try Self.unavailable { () throws(FileFault) in try lock() }
        // The locks are held to the end: otherwise an older version could be published after another writer's newer
        // one.
        defer { withExtendedLifetime(locks) {} }
        let old = try Self.unavailable { () throws(FileFault) in try readWhole(after: known) }
        try edit.check(old.table.form, paths: paths)
        guard let splices = try edit.splices(old) else { return }
        let before = old.table[edit.user]?.groups ?? []
        let file = Splice.apply(splices, to: old.file.bytes)
        let new = try check(file, edit: edit, old: old)
        let groups = try steps(edit, old: before)
        var isWritten = false
        // After an error in between, no user has more rights than before or after the change.
        try Self.unavailable { () throws(FileFault) in
            for step in groups.before { isWritten = try setGroups(step, of: edit.user) || isWritten }
            if file != old.file.bytes {
                try FileReplacement.replace(old.file, with: file)
                isWritten = true
            }
            for step in groups.after { isWritten = try setGroups(step, of: edit.user) || isWritten }
        }
        guard isWritten else { return }
        try Self.unavailable { () throws(FileFault) in try takeOver(edit, rehashed: isRehash ? new : nil, after: old) }
    }

    /// Reads the files; waits up to a second for a file that another program seems to write without a lock.
    private func readWhole(after known: UserFilesVersion) throws(FileFault) -> UserFilesVersion {
        while true {
            let read = try UserFilesVersion(reading: paths, after: known)
            guard read.isFresh(at: now()), read.looksUnfinished(after: known) else { return read }
            usleep(20_000)
        }
    }

    /// Takes both locks, always in the same order, so that no two writers wait for each other.
    private func lock() throws(FileFault) -> [FileLock] {
        var files: Set<String> = []
        for path in [paths.file, paths.groupFile].compactMap(\.self) { files.insert(try FileOwner.locate(path).path) }
        var locks: [FileLock] = []
        for file in files.sorted() { locks.append(try FileLock(of: file, timeLimit: Self.timeLimit)) }
        return locks
    }

    /// Returns the groups to write into the group file, before and after the user file is replaced.
    ///
    /// Two files cannot be replaced at once. The groups of a new user are written before the user, those of a removed
    /// user are deleted after it. A change first removes the groups that do not stay, then changes the password or the
    /// state, and then adds the new groups. So neither the old nor the new password ever gives access to a group that
    /// the user was not in before or is not in after.
    private func steps(_ edit: UserEdit, old: [String]) throws(RealmError) -> (before: [[String]], after: [[String]]) {
        guard paths.groupFile != nil else { return ([], []) }
        switch edit {
        case .add(let record, _): return ([UserEdit.each(record.groups)], [])
        case .remove: return ([], [[]])
        case .change(_, let changes):
            guard let groups = changes.groups.map(UserEdit.each) else { return ([], []) }
            let staying = old.filter { group in groups.contains { $0.utf8.elementsEqual(group.utf8) } }
            return ([staying], [groups])
        }
    }

    /// Replaces the group file if the user's groups in it differ.
    private func setGroups(_ groups: [String], of user: Username) throws(FileFault) -> Bool {
        guard let path = paths.groupFile else { return false }
        let old = try FileSnapshot(reading: path)
        let new = GroupFile.setting(groups, of: user, in: old.bytes)
        guard new != old.bytes else { return false }
        try FileReplacement.replace(old, with: new)
        return true
    }

    /// Reads the new contents before they are written, and checks that they contain the change.
    ///
    /// - Returns: The user's stored password in the new contents.
    private func check(_ bytes: [UInt8], edit: UserEdit, old: UserFilesVersion) throws(RealmError) -> String? {
        let lines = old.table.form.lines(of: edit.user, in: bytes)
        let wanted: Int
        switch edit {
        case .add, .change: wanted = 1
        case .remove: wanted = 0
        }
        guard lines.count == wanted else {
            throw .invalidOperation("\(edit.user) cannot be stored in \(old.table.form.name)")
        }
        guard let line = lines.first, var stored = bytes.text(line.stored) else { return nil }
        if stored.hasPrefix("!") { stored.removeFirst() }
        return stored
    }

    /// Makes the change visible to logins.
    private func takeOver(_ edit: UserEdit, rehashed: String?, after old: UserFilesVersion) throws(FileFault) {
        let new = try UserFilesVersion(reading: paths, after: old)
        let moment = now()
        let previous = state.withLock { state in
            let previous = state.version
            state.version = new
            (state.checkedStamps, state.checkedAt, state.fault) = (new.stamps, moment, nil)
            state.isSettled = !new.isFresh(at: moment)
            state.generation += 1
            if let rehashed { state.rehashed[edit.user] = rehashed } else { state.rehashed[edit.user] = nil }
            // The file is complete, so refresh() need not wait until it stops changing.
            state.unreportedSince = moment &- 5 * FileStamp.settling
            return previous
        }
        report(new.table.warnings, known: previous.table.warnings)
    }

    private static func unavailable<Value>(_ body: () throws(FileFault) -> Value) throws(RealmError) -> Value {
        do throws(FileFault) {
            return try body()
        } catch {
            throw .unavailable(error.description)
        }
    }
}
