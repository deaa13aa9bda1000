// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import RealmKit
internal import Synchronization

/// The users of a file, read again after each change of the file.
///
/// The users are always those of one complete version of the file. A login calls ``reload()`` and then reads the
/// ``table``. If the file has not changed, a reload costs one stat(2). Otherwise the first login after the change reads
/// the file on a separate thread. Until the file is read, other logins use the old users.
final class UserFiles: Sendable {
    struct State {
        var version: UserFilesVersion
        /// The stamps of the last version that was read, even if that version was not valid.
        var checkedStamps: [FileStamp?]
        var checkedAt: Int
        /// True if every later change will change the stamps.
        var isSettled: Bool
        /// The number of the version, so that a slow reader does not replace a newer version by an older version.
        var generation = 0
        var isReading = false
        /// The error of the newest version; nil if that version is in use.
        var fault: FileFault?
        /// The users at the time of the last ``refresh()``.
        var reported: UserTable
        /// The time of the first change after the last ``refresh()``; nil if nothing has changed.
        var unreportedSince: Int?
        /// The new hashes of the users whose passwords were rehashed since the last ``refresh()``.
        var rehashed: [Username: String] = [:]
    }

    let settings: UserFileSettings
    let log: RealmLog?
    /// Returns the time, in nanoseconds since 1970.
    let now: @Sendable () -> Int
    let state: Mutex<State>
    let readers = DispatchQueue(label: "file realm: reader")
    let writers = DispatchQueue(label: "file realm: writer")

    init(
        _ settings: UserFileSettings,
        log: RealmLog?,
        now: @escaping @Sendable () -> Int = FileStamp.systemNow
    ) throws(FileFault) {
        self.settings = settings
        self.log = log
        self.now = now
        let version = try UserFilesVersion(reading: settings, after: nil)
        let moment = now()
        state = Mutex(
            State(
                version: version,
                checkedStamps: version.stamps,
                checkedAt: moment,
                isSettled: !version.isUnsettled(at: moment),
                reported: version.table
            )
        )
        // The warnings about owners and modes are those of the configuration, which name its line.
        report(version.table.warnings, known: [])
    }

    /// The users of the version in use.
    var table: UserTable { state.withLock { $0.version.table } }

    /// Logs the warnings that are not in `known`, at most twenty at a time.
    func report(_ warnings: [String], known: [String]) {
        guard let log, !warnings.isEmpty else { return }
        let old = Set(known)
        let newWarnings = warnings.filter { !old.contains($0) }
        for warning in newWarnings.prefix(20) { log(warning) }
        if newWarnings.count > 20 { log("\(settings.file): \(newWarnings.count - 20) more warnings of this kind") }
    }
}

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

extension DispatchQueue {
    /// Runs blocking work on this queue.
    func run<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            async { continuation.resume(returning: work()) }
        }
    }
}
