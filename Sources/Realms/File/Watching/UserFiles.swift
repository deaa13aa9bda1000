// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Dispatch
internal import RealmKit
internal import Synchronization

/// The users of a file, always those of one whole state of it.
///
/// A login asks for the ``table`` after a ``look()``, which costs one stat(2) where nothing has changed. Where something
/// has, the one login that sees it first reads the file, on a thread of its own; the others go on with the old users.
final class UserFiles: Sendable {
    struct State {
        var version: UserFilesVersion
        /// The last state that was looked at, good or not.
        var looked: [FileStamp?]
        var lookedAt: Int
        /// Whether the stamps will tell of any further change.
        var isSettled: Bool
        /// Counts the states, so that a slow reader does not put an older one over a newer.
        var generation = 0
        var isReading = false
        /// What is wrong with the newest state; nil if it is the one in use.
        var fault: FileFault?
        /// The users as ``refresh()`` has last seen them.
        var reported: UserTable
        /// When the first change after ``reported`` was taken over; nil if there was none.
        var unreportedSince: Int?
        /// Hashes that were made anew of the same password since.
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
                looked: version.stamps,
                lookedAt: moment,
                isSettled: !version.isFresh(at: moment),
                reported: version.table
            )
        )
        report(version.table.warnings, known: [])
    }

    /// The users, as last read.
    var table: UserTable { state.withLock { $0.version.table } }

    /// Says what the administrator should know, at most twenty things at once.
    func report(_ warnings: [String], known: [String]) {
        guard let log, !warnings.isEmpty else { return }
        let old = Set(known)
        let news = warnings.filter { !old.contains($0) }
        for warning in news.prefix(20) { log(warning) }
        if news.count > 20 { log("\(paths.file): \(news.count - 20) more warnings of this kind") }
    }
}

extension DispatchQueue {
    /// Does blocking work on this queue.
    func run<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            async { continuation.resume(returning: work()) }
        }
    }
}
