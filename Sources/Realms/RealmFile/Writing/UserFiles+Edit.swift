// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Files
internal import LibC
internal import RealmKit
internal import Synchronization

extension UserFiles {
    /// Makes a change, which is on the disk when this returns.
    ///
    /// With `isRehash` the password stays the same, so that cached credentials and sessions stay valid.
    func apply(_ edit: UserEdit, isRehash: Bool = false) async throws(RealmError) {
        try await writers.run { [self] in
            Result { try write(edit, isRehash: isRehash) }.mapError { RealmError(of: $0, name: settings.file) }
        }.get()
    }

    /// Locks and reads the files, computes the change, and replaces the changed files.
    private func write(_ edit: UserEdit, isRehash: Bool) throws {
        let known = state.withLock { $0.version }
        let locks = try lock()
        // The locks are held until the new version is published, so that it cannot replace a newer one.
        defer { withExtendedLifetime(locks) {} }
        let old = try readWhole(after: known)
        let edit = edit.spelled(as: old)
        try edit.check(old.table.format, settings: settings)
        guard let splices = try edit.splices(old) else { return }
        let before = old.table[edit.user]?.groups ?? []
        let file = Splice.apply(splices, to: old.file.bytes)
        let new = try check(file, edit: edit, old: old)
        let groups = groupSteps(edit, old: before)
        let isNew = if case .add = edit { true } else { false }
        // If an error stops the change halfway, the user is only in groups that are in both the old and the new list.
        var isWritten = isNew ? try setAttributes(edit) : false
        for step in groups.before { isWritten = try setGroups(step, of: edit.user) || isWritten }
        if file != old.file.bytes {
            try FileReplacement.replace(old.file, with: file)
            isWritten = true
        }
        for step in groups.after { isWritten = try setGroups(step, of: edit.user) || isWritten }
        if !isNew { isWritten = try setAttributes(edit) || isWritten }
        if isWritten { try publishEdit(edit, rehashed: isRehash ? new : nil, after: old) }
    }

    /// Reads the files; waits up to a second if another program seems to be writing one without the lock.
    private func readWhole(after known: UserFilesVersion) throws(FileFault) -> UserFilesVersion {
        while true {
            let read = try UserFilesVersion(reading: settings, after: known)
            guard read.isUnsettled(at: now()), read.looksUnfinished(after: known) else { return read }
            usleep(20_000)
        }
    }

    /// Takes the locks of all files, always in the same order, so that two writers never wait for each other.
    private func lock() throws(FileFault) -> [FileLock] {
        var files: Set<String> = []
        for path in settings.paths { files.insert(try FileFault.resolve(path)) }
        var locks: [FileLock] = []
        for file in files.sorted() { locks.append(try FileLock(of: file, timeLimit: 10_000_000_000)) }
        return locks
    }

    /// Returns the groups to write into the group file, before and after the user file is replaced.
    ///
    /// The two files cannot be replaced at the same moment. The groups of a new user are written before, those of a
    /// removed user deleted after the user. A change first removes old groups, then changes the password or the state,
    /// and then adds new groups: meanwhile the old and the new password both give only the groups that are in both
    /// lists.
    private func groupSteps(_ edit: UserEdit, old: [String]) -> (before: [[String]], after: [[String]]) {
        guard settings.groupFile != nil else { return ([], []) }
        switch edit {
        case .add(let record, _): return ([UserEdit.unique(record.groups)], [])
        case .remove: return ([], [[]])
        case .change(_, let changes):
            guard let groups = changes.groups.map(UserEdit.unique) else { return ([], []) }
            let staying = old.filter { group in groups.contains { $0.utf8.elementsEqual(group.utf8) } }
            return ([staying], [groups])
        }
    }

    /// Returns whether the group file has changed.
    private func setGroups(_ groups: [String], of user: Username) throws(FileFault) -> Bool {
        try rewrite(settings.groupFile) { [settings] old in
            GroupFile.replacingGroups(of: user, with: groups, in: old, by: settings.readOptions.key)
        }
    }

    /// Returns whether the attribute file has changed; a new user gets no attributes of an earlier one of that name.
    private func setAttributes(_ edit: UserEdit) throws(FileFault) -> Bool {
        let key = settings.readOptions.key
        return try rewrite(settings.attributeFile) { old in
            let removals = AttributeFile.removals(of: edit.user, in: old, by: key)
            let changes =
                switch edit {
                case .add(let record, _): removals + record.attributes.map { .set($0) }
                case .change(_, let changes): changes.attributes
                case .remove: removals
                }
            return AttributeFile.applying(changes, of: edit.user, to: old, by: key)
        }
    }

    /// Replaces a file, and returns whether it has changed.
    private func rewrite(_ path: String?, to contents: ([UInt8]) -> [UInt8]) throws(FileFault) -> Bool {
        guard let path else { return false }
        let old = try FileSnapshot(reading: path)
        let new = contents(old.bytes)
        guard new != old.bytes else { return false }
        try FileReplacement.replace(old, with: new)
        return true
    }

    /// Checks that the new contents contain the change, before they are written, and returns the new stored password.
    private func check(_ bytes: [UInt8], edit: UserEdit, old: UserFilesVersion) throws(RealmError) -> String? {
        let lines = old.table.format.lines(of: edit.user, in: bytes)
        let isRemoval = if case .remove = edit { true } else { false }
        guard lines.count == (isRemoval ? 0 : 1) else {
            throw .invalidOperation("\(edit.user) cannot be stored in \(old.table.format.name)")
        }
        guard let line = lines.first, var stored = bytes.text(line.stored) else { return nil }
        if stored.utf8.first == UInt8(ascii: "!") { stored.unicodeScalars.removeFirst() }
        return stored
    }

    private func publishEdit(_ edit: UserEdit, rehashed: String?, after old: UserFilesVersion) throws(FileFault) {
        let new = try UserFilesVersion(reading: settings, after: old)
        let moment = now()
        let previous = state.withLock { state in
            defer { state.use(new, at: moment) }
            state.rehashed[edit.user] = rehashed
            // The file is complete, so refresh() reports the change immediately.
            state.unreportedSince = moment &- 5 * FileStamp.settlingTime
            return state.version
        }
        report(new.warnings, known: previous.warnings)
    }
}
