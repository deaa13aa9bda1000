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

extension DispatchQueue {
    /// Runs blocking work on this queue.
    func run<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            async { continuation.resume(returning: work()) }
        }
    }
}
