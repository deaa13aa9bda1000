// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import RealmKit
internal import Synchronization

extension UserFiles {
    /// The time between two reads of a file that has changed recently, in nanoseconds.
    private static let pause = 250_000_000

    /// Reads the files if they have changed.
    func reload() async {
        let stamps = settings.stamps()
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

    /// Reads and publishes the files; returns false if another version was published during the read.
    ///
    /// The files must then be read again.
    private func read() -> Bool {
        let (old, generation) = state.withLock { ($0.version, $0.generation) }
        // The stamps are read before the files, so that the next check detects a change during the read.
        let stamps = settings.stamps()
        let moment = now()
        do throws(FileFault) {
            let new = try UserFilesVersion(reading: settings, after: old)
            let isUnsettled = new.isUnsettled(at: moment)
            let isUnfinished = isUnsettled && new.looksUnfinished(after: old)
            return publish(
                isUnfinished ? nil : new,
                over: generation,
                stamps: stamps,
                moment: moment,
                isSettled: !isUnsettled
            )
        } catch {
            return keepVersion(because: error, over: generation, stamps: stamps, moment: moment)
        }
    }

    /// Replaces the version in use, or keeps it if `new` is nil.
    private func publish(
        _ new: UserFilesVersion?,
        over generation: Int,
        stamps: [FileStamp?],
        moment: Int,
        isSettled: Bool
    ) -> Bool {
        let (isDone, old, fault) = state.withLock { state in
            guard state.generation == generation else { return (false, state.version, nil as FileFault?) }
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
        if fault != nil { log?("\(settings.file): it can be read again", .notice) }
        report(new.warnings, known: old.warnings)
        return true
    }

    /// Keeps the version in use after an error, and logs the error once.
    private func keepVersion(
        because fault: FileFault,
        over generation: Int,
        stamps: [FileStamp?],
        moment: Int
    ) -> Bool {
        let (isDone, isNew) = state.withLock { state in
            guard state.generation == generation else { return (false, false) }
            let isNew = state.fault != fault
            // The state is not settled: the problem may be solved without a change of the file, for example by a new
            // mode of its folder.
            (state.checkedStamps, state.checkedAt, state.isSettled, state.fault) = (stamps, moment, false, fault)
            return (true, isNew)
        }
        if isNew { log?("\(fault); the previous users are kept", .error) }
        return isDone
    }

    /// Returns the users that have changed since the last call.
    ///
    /// A change is reported when the file has not changed for one second, or five seconds after the change at the
    /// latest. A file that is written in place may be empty for a moment, and its users must then not be reported as
    /// changed.
    func refresh() async -> ChangedUsers {
        await reload()
        let moment = now()
        let pending: (old: UserTable, new: UserTable, rehashed: [Username: String])? = state.withLock { state in
            guard let since = state.unreportedSince else { return nil }
            guard state.isSettled || (moment &- since).magnitude >= 5 * FileStamp.settlingTime.magnitude else {
                return nil
            }
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
    /// Returns whether the bytes of the files are the same.
    func hasSameContents(as other: UserFilesVersion) -> Bool {
        file.bytes == other.file.bytes && groupFile?.bytes == other.groupFile?.bytes
            && attributeFile?.bytes == other.attributeFile?.bytes
    }
}
