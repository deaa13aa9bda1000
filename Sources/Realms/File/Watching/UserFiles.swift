// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Dispatch
internal import RealmKit
internal import Synchronization

/// The users of a file, always those of one complete version of it.
///
/// A login reads the ``table`` after a ``reload()``, which costs one stat(2) if nothing has changed. Otherwise the first
/// login that sees the change reads the file, on a separate thread; other logins use the old users meanwhile.
final class UserFiles: Sendable {
    struct State {
        var version: UserFilesVersion
        /// The stamps of the last version that was read, valid or not.
        var checkedStamps: [FileStamp?]
        var checkedAt: Int
        /// True if every further change will change the stamps.
        var isSettled: Bool
        /// Counts the versions, so that a slow reader does not replace a newer version by an older one.
        var generation = 0
        var isReading = false
        /// The problem of the newest version; nil if it is in use.
        var fault: FileFault?
        /// The users at the last ``refresh()``.
        var reported: UserTable
        /// The time of the first change after ``reported``; nil if there was none.
        var unreportedSince: Int?
        /// The hashes that have been replaced by others of the same passwords since.
        var rehashed: [Username: String] = [:]
    }

    let paths: UserFilePaths
    let log: RealmLog?
    /// Nanoseconds since 1970.
    let now: @Sendable () -> Int
    let state: Mutex<State>
    let readers = DispatchQueue(label: "file realm: reader")
    let writers = DispatchQueue(label: "file realm: writer")

    init(
        _ paths: UserFilePaths,
        log: RealmLog?,
        now: @escaping @Sendable () -> Int = FileStamp.systemNow
    ) throws(FileFault) {
        self.paths = paths
        self.log = log
        self.now = now
        let version = try UserFilesVersion(reading: paths, after: nil)
        let moment = now()
        state = Mutex(
            State(
                version: version,
                checkedStamps: version.stamps,
                checkedAt: moment,
                isSettled: !version.isFresh(at: moment),
                reported: version.table
            )
        )
        report(version.table.warnings, known: [])
    }

    /// The users of the version in use.
    var table: UserTable { state.withLock { $0.version.table } }

    /// Logs new warnings, at most twenty at once.
    func report(_ warnings: [String], known: [String]) {
        guard let log, !warnings.isEmpty else { return }
        let old = Set(known)
        let news = warnings.filter { !old.contains($0) }
        for warning in news.prefix(20) { log(warning) }
        if news.count > 20 { log("\(paths.file): \(news.count - 20) more warnings of this kind") }
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
