// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Dispatch
internal import RealmKit
internal import Synchronization

extension UserFiles {
    /// How long a file that may still be changing is left alone between two looks, in nanoseconds.
    private static let pause = 250_000_000

    /// Takes over what has changed in the files.
    func look() async {
        let stamps = paths.stamps()
        let moment = now()
        let isMine = state.withLock { state in
            let isDue = !state.isSettled && (moment &- state.lookedAt).magnitude >= Self.pause.magnitude
            guard isDue || stamps != state.looked, !state.isReading else { return false }
            state.isReading = true
            return true
        }
        guard isMine else { return }
        await readers.run { [self] in
            while !read() {}
            state.withLock { $0.isReading = false }
        }
    }

    /// Reads the files; false if a writer was faster, so that it has to be done again.
    private func read() -> Bool {
        let (old, ticket) = state.withLock { ($0.version, $0.generation) }
        // Taken before anything is read, so that what changes meanwhile is seen by the next look.
        let stamps = paths.stamps()
        let moment = now()
        do throws(FileFault) {
            let new = try UserFilesVersion(reading: paths, after: old)
            let isFresh = new.isFresh(at: moment)
            let isUnfinished = isFresh && new.looksUnfinished(after: old)
            return publish(isUnfinished ? nil : new, over: ticket, stamps, moment, isSettled: !isFresh)
        } catch {
            return keep(because: error, over: ticket, stamps, moment)
        }
    }

    /// Puts a state in the place of the one in use; nil leaves it.
    private func publish(
        _ new: UserFilesVersion?,
        over ticket: Int,
        _ stamps: [FileStamp?],
        _ moment: Int,
        isSettled: Bool
    ) -> Bool {
        let (isDone, old, fault) = state.withLock { state in
            guard state.generation == ticket else { return (false, state.version, nil as FileFault?) }
            let (old, fault) = (state.version, state.fault)
            (state.looked, state.lookedAt, state.isSettled) = (new?.stamps ?? stamps, moment, isSettled)
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

    /// Keeps the users there are, and says why, once.
    private func keep(
        because fault: FileFault,
        over ticket: Int,
        _ stamps: [FileStamp?],
        _ moment: Int
    ) -> Bool {
        let (isDone, isNews) = state.withLock { state in
            guard state.generation == ticket else { return (false, false) }
            let isNews = state.fault != fault
            // Never settled: what is wrong may be put right without a trace on the file, as in its folder.
            (state.looked, state.lookedAt, state.isSettled, state.fault) = (stamps, moment, false, fault)
            return (true, isNews)
        }
        if isNews { log?("\(fault); the users there were stay", .error) }
        return isDone
    }

    /// Whom to forget since the last time.
    ///
    /// What has changed is told once the file has come to rest, or after five seconds: one that is being written in place
    /// may be without users for a moment.
    func refresh() async -> ChangedUsers {
        await look()
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
    /// Whether the same bytes were read.
    func hasSameContents(as other: UserFilesVersion) -> Bool {
        file.bytes == other.file.bytes && groupFile?.bytes == other.groupFile?.bytes
    }
}
