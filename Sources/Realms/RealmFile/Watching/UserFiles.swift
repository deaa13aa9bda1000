// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Files
internal import RealmKit
internal import Synchronization

/// The users of one complete version of a file, read again after each change.
///
/// A login calls ``reload()`` and then reads the ``table``. If the file has not changed, a reload costs one stat(2).
/// Otherwise the first login after the change reads the file on a separate thread, while other logins use the old
/// users.
final class UserFiles: Sendable {
    struct State {
        private(set) var version: UserFilesVersion
        /// The stamps of the last version that was read, even if it was not valid.
        var checkedStamps: [FileStamp?]
        var checkedAt: Int
        /// True if every later change will change the stamps.
        var isSettled: Bool
        /// The number of the version, so that a slow reader does not replace a newer one.
        private(set) var generation = 0
        var isReading = false
        /// The error of the newest version; nil if it is in use.
        var fault: FileFault?
        /// The users at the last ``refresh()``.
        var reported: UserTable
        /// The time of the first change after the last ``refresh()``.
        var unreportedSince: Int?
        /// The new hashes of users since the last ``refresh()``.
        var rehashed: [Username: String] = [:]

        init(_ version: UserFilesVersion, at moment: Int) {
            self.version = version
            (checkedStamps, checkedAt, isSettled) = (version.stamps, moment, !version.isUnsettled(at: moment))
            reported = version.table
        }

        mutating func use(_ new: UserFilesVersion, at moment: Int) {
            (version, fault) = (new, nil)
            (checkedStamps, checkedAt, isSettled) = (new.stamps, moment, !new.isUnsettled(at: moment))
            generation += 1
        }
    }

    let settings: UserFileSettings
    let log: RealmLog?
    /// In nanoseconds since 1970.
    let now: @Sendable () -> Int
    let state: Mutex<State>
    let readers = DispatchQueue(label: "file realm: reader")
    let writers = DispatchQueue(label: "file realm: writer")

    init(_ settings: UserFileSettings, log: RealmLog?, now: @escaping @Sendable () -> Int) throws(FileFault) {
        self.settings = settings
        self.log = log
        self.now = now
        let version = try UserFilesVersion(reading: settings, after: nil)
        state = Mutex(State(version, at: now()))
        // The warnings about owners and modes are those of the configuration, which name its line.
        report(version.table.warnings, known: [])
    }

    var table: UserTable { state.withLock { $0.version.table } }

    /// Returns the newest version; throws if it cannot be used.
    func newest() async throws(RealmError) -> UserFilesVersion {
        await reload()
        let (version, fault) = state.withLock { ($0.version, $0.fault) }
        if let fault { throw .unavailable(fault.description) }
        return version
    }

    /// Logs the warnings that are not in `known`, at most twenty at a time.
    func report(_ warnings: [String], known: [String]) {
        let old = Set(known)
        let new = warnings.filter { !old.contains($0) }
        for warning in new.prefix(20) { log?(warning) }
        if new.count > 20 { log?("\(settings.file): \(new.count - 20) more warnings of this kind") }
    }

    /// The time between two reads of a file that has changed recently, in nanoseconds.
    private static let pause = 250_000_000

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

    /// Reads and publishes the files; false if they must be read again, because another version was published.
    private func read() -> Bool {
        let (old, generation) = state.withLock { ($0.version, $0.generation) }
        // The stamps are read before the files, so that the next check detects a change during the read.
        let stamps = settings.stamps()
        let moment = now()
        var (new, fault): (UserFilesVersion?, FileFault?)
        do throws(FileFault) {
            let read = try UserFilesVersion(reading: settings, after: old)
            if !read.isUnsettled(at: moment) || !read.looksUnfinished(after: old) { new = read }
        } catch {
            fault = error
        }
        let (isDone, known) = state.withLock { state in
            guard state.generation == generation else { return (false, state.fault) }
            let known = state.fault
            if let new {
                if !new.hasContents(of: old.files) { state.unreportedSince = state.unreportedSince ?? moment }
                state.use(new, at: moment)
            } else {
                // Not settled: a new mode of its folder, for example, may solve the problem without a change of the file.
                (state.checkedStamps, state.checkedAt, state.isSettled) = (stamps, moment, false)
                state.fault = fault ?? known
            }
            return (true, known)
        }
        guard isDone else { return false }
        if let fault, fault != known { log?("\(fault); the previous users are kept", .error) }
        if let new {
            if known != nil { log?("\(settings.file): it can be read again", .notice) }
            report(new.warnings, known: old.warnings)
        }
        return true
    }

    /// Returns the users that have changed since the last call, as ``FileRealm/refresh()`` documents.
    func refresh() async -> ChangedUsers {
        await reload()
        let moment = now()
        let tables: (old: UserTable, new: UserTable, rehashed: [Username: String])? = state.withLock { state in
            guard let since = state.unreportedSince,
                state.isSettled || (moment &- since).magnitude >= 5 * FileStamp.settlingTime.magnitude
            else { return nil }
            defer { (state.reported, state.rehashed, state.unreportedSince) = (state.version.table, [:], nil) }
            return (state.reported, state.version.table, state.rehashed)
        }
        guard let tables else { return .none }
        return .some(tables.new.changes(since: tables.old, rehashed: tables.rehashed))
    }
}
