// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Files
internal import Glibc
internal import Sessions
internal import Synchronization

/// A file for the IDs of sessions that end while the database cannot be written: lines of 22 characters; dots are free.
///
/// The file gets its full length before the first session is stored. On most file systems its bytes can then be
/// overwritten even if the disk is full, or another program has locked the database. The system calls block, so they
/// run on a separate queue.
final class EndedSessionFile: Sendable {
    static let fileName = "gatehouse.ended"
    /// The number of IDs that fit into the file.
    static let capacity = 2000

    /// The system calls that fail if a disk is full or broken, which tests replace.
    struct SystemCalls: Sendable {
        typealias Sync = @Sendable (_ file: OpenFile) throws(SystemError) -> Void

        var write: @Sendable (_ file: OpenFile, _ bytes: [UInt8], _ offset: Int) throws(SystemError) -> Void = {
            (file, bytes, offset) throws(SystemError) in
            try file.write(bytes, at: offset)
        }
        var sync: Sync = { file throws(SystemError) in try file.syncContents() }
        var syncFolder: Sync = { folder throws(SystemError) in try folder.sync() }
    }

    private static let lineLength = 23
    private static let freeLine = [UInt8](repeating: UInt8(ascii: "."), count: lineLength - 1) + [UInt8(ascii: "\n")]

    private struct State {
        var file: OpenFile?
        var lines: [SessionID: Int] = [:]
        /// The IDs in ``lines`` that may not be on the disk yet.
        var unsynced: Set<SessionID> = []
        var free: [Int] = []
        /// True if a sync failed when the file was opened, so that its contents may not be on the disk.
        var mayBeUnsynced = false

        /// Gives an ID a line, which stays its own if it cannot be written; false if no line is free.
        mutating func add(_ id: SessionID) -> Bool {
            guard let line = lines[id] ?? free.popLast() else { return false }
            lines[id] = line
            unsynced.insert(id)
            return true
        }
    }

    private let path: String
    private let calls: SystemCalls
    // Calls may hold this lock for a long time, so it is only locked on the queue.
    private let state = Mutex(State())
    /// The number of stored IDs; negative until the file has its full length.
    private let count = Atomic(-1)
    private let queue = DispatchQueue(label: "gatehouse.ended-sessions")

    init(_ path: String, calls: SystemCalls = SystemCalls()) {
        self.path = path
        self.calls = calls
    }

    /// Creates the file in its full length, once.
    func prepare() async throws(StoreFault) {
        if count.load(ordering: .acquiring) < 0 { try await change { _ throws(StoreFault) in } }
    }

    /// Reads the IDs; does not create the file.
    func read() async throws(StoreFault) -> Set<SessionID> {
        try await onQueue { [self] () throws(StoreFault) in
            let opened = Result { () throws(SystemError) in try OpenFile(path, .readingWithoutLink) }
            if case .failure(let error) = opened, error.number == ENOENT { return [] }
            return Set(try contents(of: try attempt("cannot be read", opened.get())).lines.keys)
        }
    }

    /// Adds IDs, which are on the disk when this returns.
    func add(_ ids: [SessionID]) async throws(StoreFault) {
        try await change { [self] state throws(StoreFault) in
            if !isInPlace(state.file) { try open(&state) }
            var isFull = false
            for id in ids where !isFull && state.lines[id] == nil { isFull = !state.add(id) }
            try writeOut(&state)
            guard !isFull else { throw StoreFault(.unavailable, "\(path) is full") }
        }
    }

    /// Removes the IDs of sessions that were removed from the database.
    ///
    /// If the file cannot be written, an ID remains: its session has ended, and the line is used again.
    func remove(_ ids: [SessionID]) async throws(StoreFault) {
        guard count.load(ordering: .acquiring) > 0 else { return }
        try await change { [self] state throws(StoreFault) in
            guard let file = state.file else { return }
            let lines = ids.compactMap { state.lines.removeValue(forKey: $0) }
            state.unsynced.subtract(ids)
            state.free += lines
            for line in lines { try write(Self.freeLine, line: line, to: file) }
        }
    }

    // MARK: The file

    private func change(_ body: @escaping @Sendable (inout State) throws(StoreFault) -> Void) async throws(StoreFault) {
        try await onQueue { [self] () throws(StoreFault) in
            try state.withLock { state throws(StoreFault) in
                if state.file == nil { try open(&state) }
                defer { count.store(state.lines.count, ordering: .releasing) }
                try body(&state)
            }
        }
    }

    private func onQueue<Value: Sendable>(
        _ body: @escaping @Sendable () throws(StoreFault) -> Value
    ) async throws(StoreFault) -> Value {
        let result: Result<Value, StoreFault> = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result(catching: body)) }
        }
        return try result.get()
    }

    /// Returns whether the open file still has its name and its full length.
    ///
    /// A clean-up or a restored backup may have replaced it, and the IDs in the open file would be lost at a restart.
    private func isInPlace(_ file: OpenFile?) -> Bool {
        guard let open = try? file?.status(), let named = try? FileStatus(ofLink: path) else { return false }
        return open.identity == named.identity && open.size >= Self.capacity * Self.lineLength
    }

    /// Opens the file, extends it to its full length, and writes the IDs of the file that was open before.
    private func open(_ state: inout State) throws(StoreFault) {
        let file = try attempt("cannot be opened", OpenFile(path, .own))
        do throws(StoreFault) {
            var fresh = try contents(of: file)
            if state.mayBeUnsynced {
                for line in fresh.free { try write(Self.freeLine, line: line, to: file) }
                fresh.unsynced = Set(fresh.lines.keys)
            }
            for line in fresh.lines.count + fresh.free.count..<Self.capacity {
                try write(Self.freeLine, line: line, to: file)
                fresh.free.append(line)
            }
            for id in state.lines.keys where !fresh.add(id) { throw StoreFault(.unavailable, "\(path) is full") }
            try writeOut(&fresh, isNew: true)
            // The file keeps its name after a power cut.
            let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
            let opened = try attempt("cannot be opened", OpenFile(folder, .folder), of: folder)
            try attempt("cannot be written", calls.syncFolder(opened), of: folder)
            state = fresh
        } catch {
            state.mayBeUnsynced = true
            throw error
        }
    }

    /// Writes the IDs that may not be on the disk yet, and syncs the file.
    ///
    /// After an error the next call writes all of them again: Linux reports a page that could not be written only once,
    /// and then treats it as written.
    private func writeOut(_ state: inout State, isNew: Bool = false) throws(StoreFault) {
        guard let file = state.file, isNew || !state.unsynced.isEmpty else { return }
        for id in state.unsynced {
            guard let line = state.lines[id] else { continue }
            try write(Array("\(id)\n".utf8), line: line, to: file)
        }
        try attempt("cannot be written", calls.sync(file))
        state.unsynced = []
    }

    private func write(_ bytes: [UInt8], line: Int, to file: OpenFile) throws(StoreFault) {
        try attempt("cannot be written", calls.write(file, bytes, line * Self.lineLength))
    }

    /// Reads the file, in which every line that is not an ID is free; a pipe would block.
    private func contents(of file: OpenFile) throws(StoreFault) -> State {
        guard let status = try? file.status(), status.isRegular else {
            throw StoreFault(.unavailable, "\(path) is not a regular file")
        }
        let bytes = try attempt("cannot be read", file.bytes(atMost: Self.lineLength * Self.capacity))
        var state = State(file: file)
        for line in 0..<bytes.count / Self.lineLength {
            let text = bytes[(line * Self.lineLength)..<((line + 1) * Self.lineLength - 1)]
            if let id = SessionID(String(decoding: text, as: UTF8.self)), state.lines[id] == nil {
                state.lines[id] = line
            } else {
                state.free.append(line)
            }
        }
        return state
    }

    private func attempt<Value>(
        _ what: String,
        _ call: @autoclosure () throws(SystemError) -> Value,
        of name: String? = nil
    ) throws(StoreFault) -> Value {
        try SystemError.mapping(call()) { StoreFault(.unavailable, "\(name ?? path) \(what): \($0)") }
    }
}
