// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Dispatch
internal import RealmKit
internal import Synchronization

extension UserFiles {
    /// The time between two reads of a file that may still be changing, in nanoseconds.
    private static let pause = 250_000_000

    /// Reads the files if they have changed.
    func reload() async {
        let stamps = paths.stamps()
        let moment = now()
        let isMine = state.withLock { state in
            let isDue = !state.isSettled && (moment &- state.checkedAt).magnitude >= Self.pause.magnitude
            guard isDue || stamps != state.checkedStamps, !state.isReading else { return false }
            state.isReading = true
            return true
        }
        guard isMine else { return }
        await readers.run { [self] in
            while !read() {}
            state.withLock { $0.isReading = false }
        }
    }

    /// Reads the files; false if a writer has replaced them meanwhile, so that they must be read again.
    private func read() -> Bool {
        let (old, ticket) = state.withLock { ($0.version, $0.generation) }
        // The stamps are taken before the files are read, so that the next check detects a change during the read.
        let stamps = paths.stamps()
        let moment = now()
        do throws(FileFault) {
            let new = try UserFilesVersion(reading: paths, after: old)
            let isFresh = new.isFresh(at: moment)
            let isUnfinished = isFresh && new.looksUnfinished(after: old)
            return publish(isUnfinished ? nil : new, over: ticket, stamps: stamps, moment: moment, isSettled: !isFresh)
        } catch {
            return keep(because: error, over: ticket, stamps: stamps, moment: moment)
        }
    }

    /// Replaces the version in use; nil keeps it.
    private func publish(
        _ new: UserFilesVersion?,
        over ticket: Int,
        stamps: [FileStamp?],
        moment: Int,
        isSettled: Bool
    ) -> Bool {
        let (isDone, old, fault) = state.withLock { state in
            guard state.generation == ticket else { return (false, state.version, nil as FileFault?) }
            let (old, fault) = (state.version, state.fault)
            (state.checkedStamps, state.checkedAt, state.isSettled) = (new?.stamps ?? stamps, moment, isSettled)
            if let new {
                state.fault = nil
                if !new.hasSameContents(as: old) { state.unreportedSince = state.unreportedSince ?? moment }
                state.version = new
                state.generation += 1
            }
            return (true, old, fault)
        }
        guard isDone, let new else { return isDone }
        if fault != nil { log?("\(paths.file): it can be read again", .notice) }
        report(new.table.warnings, known: old.table.warnings)
        return true
    }

    /// Keeps the version in use, and logs the reason once.
    private func keep(
        because fault: FileFault,
        over ticket: Int,
        stamps: [FileStamp?],
        moment: Int
    ) -> Bool {
        let (isDone, isNews) = state.withLock { state in
            guard state.generation == ticket else { return (false, false) }
            let isNews = state.fault != fault
            // It is never settled: the problem may be corrected without a change of the file, as in its folder.
            (state.checkedStamps, state.checkedAt, state.isSettled, state.fault) = (stamps, moment, false, fault)
            return (true, isNews)
        }
        if isNews { log?("\(fault); the previous users stay", .error) }
        return isDone
    }

    /// Returns the users that have changed since the last call.
    ///
    /// Changes are reported when the file has not changed for one second, or after five seconds: a file that is written
    /// in place may have no users for a moment.
    func refresh() async -> ChangedUsers {
        await reload()
        let moment = now()
        let pending: (old: UserTable, new: UserTable, rehashed: [Username: String])? = state.withLock { state in
            guard let since = state.unreportedSince else { return nil }
            guard state.isSettled || (moment &- since).magnitude >= 5 * FileStamp.settling.magnitude else { return nil }
            defer {
                state.reported = state.version.table
                state.rehashed = [:]
                state.unreportedSince = nil
            }
            return (state.reported, state.version.table, state.rehashed)
        }
        guard let pending else { return .none }
        return .some(pending.new.changes(since: pending.old, rehashed: pending.rehashed))
    }
}

extension UserFilesVersion {
    /// Returns whether the bytes are the same.
    func hasSameContents(as other: UserFilesVersion) -> Bool {
        file.bytes == other.file.bytes && groupFile?.bytes == other.groupFile?.bytes
    }
}
