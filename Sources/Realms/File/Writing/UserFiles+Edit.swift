// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Dispatch
internal import RealmKit
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

extension UserFiles {
    /// How long a writer waits for another, in nanoseconds.
    static let patience = 10_000_000_000

    /// Makes a change, for good.
    ///
    /// - Parameters:
    ///   - edit: The change.
    ///   - isRehash: Whether the password stays the same, so that nobody has to be forgotten.
    /// - Throws: ``RealmError``, as the methods of `ManagedRealm` do.
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

    /// Reads the files under their locks, works out the change, and replaces what is otherwise.
    private func write(_ edit: UserEdit, isRehash: Bool) throws(RealmError) {
        let known = state.withLock { $0.version }
        let locks = try Self.unavailable { () throws(FileFault) in try lock() }
        // To the end: what is published here must not be older than what another writer has published.
        defer { withExtendedLifetime(locks) {} }
        let old = try Self.unavailable { () throws(FileFault) in try readWhole(after: known) }
        try edit.check(old.table.form, paths)
        guard let splices = try edit.splices(old) else { return }
        let before = old.table[edit.user]?.groups ?? []
        let file = Splice.apply(splices, to: old.file.bytes)
        let new = try check(file, edit, old)
        let groups = try steps(edit, before)
        var isWritten = false
        // An error on the way leaves a state in which nobody may do more than before or after.
        try Self.unavailable { () throws(FileFault) in
            for step in groups.before { isWritten = try setGroups(step, of: edit.user) || isWritten }
            if file != old.file.bytes {
                try FileReplacement.replace(old.file, with: file)
                isWritten = true
            }
            for step in groups.after { isWritten = try setGroups(step, of: edit.user) || isWritten }
        }
        guard isWritten else { return }
        try Self.unavailable { () throws(FileFault) in try takeOver(edit, isRehash ? new : nil, after: old) }
    }

    /// Reads the files; one that another program, which takes no lock, seems to be writing is given a second to end.
    private func readWhole(after known: UserFilesVersion) throws(FileFault) -> UserFilesVersion {
        while true {
            let read = try UserFilesVersion(reading: paths, after: known)
            guard read.isFresh(at: now()), read.looksUnfinished(after: known) else { return read }
            usleep(20_000)
        }
    }

    /// Both locks, always in the same order, so that no two writers wait for each other.
    private func lock() throws(FileFault) -> [FileLock] {
        var files: Set<String> = []
        for path in [paths.file, paths.groupFile].compactMap(\.self) { files.insert(try FileOwner.locate(path).path) }
        var locks: [FileLock] = []
        for file in files.sorted() { locks.append(try FileLock(of: file, patience: Self.patience)) }
        return locks
    }

    /// Which groups the group file has to say in turn, before and after the user file is replaced.
    ///
    /// Two files cannot be replaced at once. A new user's groups are there before the user is, a removed one's go after;
    /// a change first takes away the groups that do not stay, then changes the password or the state, and only then gives
    /// the new groups. So whoever knows the old password, or the new one, is never in a group they were not in before or
    /// will not be in after.
    private func steps(_ edit: UserEdit, _ old: [String]) throws(RealmError) -> (before: [[String]], after: [[String]])
    {
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

    /// Replaces the group file if a user's groups are others in it.
    private func setGroups(_ groups: [String], of user: Username) throws(FileFault) -> Bool {
        guard let path = paths.groupFile else { return false }
        let old = try FileSnapshot(reading: path)
        let new = GroupFile.setting(groups, of: user, in: old.bytes)
        guard new != old.bytes else { return false }
        try FileReplacement.replace(old, with: new)
        return true
    }

    /// Reads the new contents before they are written: the user must be in them as was asked.
    ///
    /// - Returns: What is stored of the user's password then.
    private func check(_ bytes: [UInt8], _ edit: UserEdit, _ old: UserFilesVersion) throws(RealmError) -> String? {
        let lines = old.table.form.lines(of: edit.user, in: bytes)
        let wanted: Int
        switch edit {
        case .add, .change: wanted = 1
        case .remove: wanted = 0
        }
        guard lines.count == wanted else {
            throw .invalidOperation("\(edit.user) cannot be written down in \(old.table.form.name)")
        }
        guard let line = lines.first, var stored = bytes.text(line.stored) else { return nil }
        if stored.hasPrefix("!") { stored.removeFirst() }
        return stored
    }

    /// Has logins see the change from now on.
    private func takeOver(_ edit: UserEdit, _ rehashed: String?, after old: UserFilesVersion) throws(FileFault) {
        let new = try UserFilesVersion(reading: paths, after: old)
        let moment = now()
        let previous = state.withLock { state in
            let previous = state.version
            state.version = new
            (state.looked, state.lookedAt, state.fault) = (new.stamps, moment, nil)
            state.isSettled = !new.isFresh(at: moment)
            state.generation += 1
            if let rehashed { state.rehashed[edit.user] = rehashed } else { state.rehashed[edit.user] = nil }
            // What was written here is complete, so refresh() need not wait for the file to come to rest.
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
