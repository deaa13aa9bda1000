// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
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
        /// Returns the number of written bytes, or -1.
        var write: @Sendable (_ descriptor: Int32, _ bytes: [UInt8], _ offset: Int) -> Int = { file, bytes, offset in
            unsafe bytes.withUnsafeBytes { unsafe pwrite(file, $0.baseAddress, $0.count, off_t(offset)) }
        }
        /// Returns 0, or -1 after an error.
        var sync: @Sendable (_ descriptor: Int32, _ isFolder: Bool) -> Int32 = { descriptor, isFolder in
            isFolder ? fsync(descriptor) : fdatasync(descriptor)
        }
    }

    private static let lineLength = 23
    private static let freeLine = [UInt8](repeating: UInt8(ascii: "."), count: lineLength - 1) + [UInt8(ascii: "\n")]

    private struct State {
        var descriptor: Int32?
        var lines: [SessionID: Int] = [:]
        /// The IDs in ``lines`` that may not be on the disk yet.
        var unsynced: Set<SessionID> = []
        var free: [Int] = []
        /// True if a sync failed when the file was opened, so that its contents may not be on the disk.
        var mayBeUnsynced = false
    }

    private let path: String
    private let calls: SystemCalls
    // Calls may hold this lock for a long time, so it is only locked on the queue.
    private let state = Mutex(State())
    private let isReady = Atomic(false)
    private let count = Atomic(0)
    private let queue = DispatchQueue(label: "gatehouse.ended-sessions")

    init(_ path: String, calls: SystemCalls = SystemCalls()) {
        self.path = path
        self.calls = calls
    }

    deinit {
        if let descriptor = state.withLock({ $0.descriptor }) { close(descriptor) }
    }

    /// Creates the file in its full length, once.
    func prepare() async throws(StoreFault) {
        if isReady.load(ordering: .acquiring) { return }
        try await onQueue { _ throws(StoreFault) in }
    }

    /// Reads the IDs; does not create the file.
    func read() async throws(StoreFault) -> Set<SessionID> {
        let path = path
        return try await Self.run(on: queue) { () throws(StoreFault) in
            let descriptor = unsafe Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            if descriptor < 0, errno == ENOENT { return [] }
            guard descriptor >= 0 else { throw Self.fault("cannot be read", path: path) }
            defer { close(descriptor) }
            try Self.checkIsRegularFile(descriptor, path: path)
            return Set(try Self.read(descriptor, path: path).state.lines.keys)
        }
    }

    /// Adds IDs, which are on the disk when this returns.
    func add(_ ids: [SessionID]) async throws(StoreFault) {
        try await onQueue { [self] state throws(StoreFault) in
            if !isInPlace(state) { try open(&state) }
            var hasCapacity = true
            for id in ids where state.lines[id] == nil {
                guard let line = state.free.popLast() else {
                    hasCapacity = false
                    break
                }
                // If a line cannot be written, it stays reserved for its ID. The next attempt writes it again.
                state.lines[id] = line
                state.unsynced.insert(id)
            }
            try writeOut(&state)
            guard hasCapacity else { throw StoreFault(.unavailable, "\(path) is full") }
        }
    }

    /// Removes the IDs of sessions that were removed from the database.
    ///
    /// If the file cannot be written, an ID remains: its session has ended, and the line is used again.
    func remove(_ ids: [SessionID]) async throws(StoreFault) {
        guard count.load(ordering: .acquiring) > 0 else { return }
        try await onQueue { [self] state throws(StoreFault) in
            guard let descriptor = state.descriptor else { return }
            var lines: [Int] = []
            for id in ids {
                guard let line = state.lines.removeValue(forKey: id) else { continue }
                state.unsynced.remove(id)
                state.free.append(line)
                lines.append(line)
            }
            for line in lines { try write(Self.freeLine, line: line, descriptor: descriptor) }
        }
    }

    // MARK: The file

    private func onQueue(
        _ body: @escaping @Sendable (inout State) throws(StoreFault) -> Void
    ) async throws(StoreFault) {
        try await Self.run(on: queue) { [self] () throws(StoreFault) in
            try state.withLock { state throws(StoreFault) in
                if state.descriptor == nil { try open(&state) }
                isReady.store(true, ordering: .releasing)
                defer { count.store(state.lines.count, ordering: .releasing) }
                try body(&state)
            }
        }
    }

    private static func run<Value: Sendable>(
        on queue: DispatchQueue,
        body: @escaping @Sendable () throws(StoreFault) -> Value
    ) async throws(StoreFault) -> Value {
        let result: Result<Value, StoreFault> = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result(catching: body)) }
        }
        return try result.get()
    }

    /// Returns whether the open file still has its name and its full length.
    ///
    /// A clean-up or a restored backup may have replaced it, and the IDs in the open file would be lost at a restart.
    private func isInPlace(_ state: State) -> Bool {
        guard let descriptor = state.descriptor else { return false }
        var (open, named) = (stat(), stat())
        guard unsafe fstat(descriptor, &open) == 0, unsafe lstat(path, &named) == 0 else { return false }
        return open.st_dev == named.st_dev && open.st_ino == named.st_ino
            && Int(open.st_size) >= Self.capacity * Self.lineLength
    }

    /// Opens the file, extends it to its full length, and writes the IDs of the file that was open before.
    private func open(_ state: inout State) throws(StoreFault) {
        let descriptor = unsafe Glibc.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.fault("cannot be opened", path: path) }
        do throws(StoreFault) {
            try Self.checkIsRegularFile(descriptor, path: path)
            var (fresh, count) = try Self.read(descriptor, path: path)
            fresh.descriptor = descriptor
            if state.mayBeUnsynced {
                for line in fresh.free { try write(Self.freeLine, line: line, descriptor: descriptor) }
                fresh.unsynced = Set(fresh.lines.keys)
            }
            while count < Self.capacity {
                try write(Self.freeLine, line: count, descriptor: descriptor)
                fresh.free.append(count)
                count += 1
            }
            for id in state.lines.keys {
                if fresh.lines[id] == nil {
                    guard let line = fresh.free.popLast() else { throw StoreFault(.unavailable, "\(path) is full") }
                    fresh.lines[id] = line
                }
                fresh.unsynced.insert(id)
            }
            try writeOut(&fresh, isNew: true)
            try syncFolder()
            if let old = state.descriptor { close(old) }
            state = fresh
        } catch {
            close(descriptor)
            state.mayBeUnsynced = true
            throw error
        }
    }

    /// Writes the IDs that may not be on the disk yet, and syncs the file.
    ///
    /// After an error the next call writes all of them again: Linux reports a page that could not be written only once,
    /// and then treats it as written.
    private func writeOut(_ state: inout State, isNew: Bool = false) throws(StoreFault) {
        guard let descriptor = state.descriptor, isNew || !state.unsynced.isEmpty else { return }
        for id in state.unsynced {
            guard let line = state.lines[id] else { continue }
            try write(Array("\(id)\n".utf8), line: line, descriptor: descriptor)
        }
        guard calls.sync(descriptor, false) == 0 else { throw Self.fault("cannot be written", path: path) }
        state.unsynced = []
    }

    /// Syncs the folder, so that the file keeps its name after a power cut.
    private func syncFolder() throws(StoreFault) {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let descriptor = unsafe Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.fault("cannot be opened", path: folder) }
        defer { close(descriptor) }
        guard calls.sync(descriptor, true) == 0 else { throw Self.fault("cannot be written", path: folder) }
    }

    /// Throws if the file is not a regular file: reading a pipe would block forever.
    private static func checkIsRegularFile(_ descriptor: Int32, path: String) throws(StoreFault) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw StoreFault(.unavailable, "\(path) is not a regular file")
        }
    }

    /// Reads the file, in which every line that is not an ID is free.
    private static func read(_ descriptor: Int32, path: String) throws(StoreFault) -> (state: State, count: Int) {
        var bytes = [UInt8](repeating: 0, count: lineLength * capacity)
        var length = 0
        while length < bytes.count {
            let count = unsafe bytes.withUnsafeMutableBytes { buffer in
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[length...])
                return unsafe pread(descriptor, rest.baseAddress, rest.count, off_t(length))
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw fault("cannot be read", path: path) }
            guard count > 0 else { break }
            length += count
        }
        var state = State()
        let count = length / lineLength
        for line in 0..<count {
            let text = bytes[(line * lineLength)..<((line + 1) * lineLength - 1)]
            if let id = SessionID(String(decoding: text, as: UTF8.self)), state.lines[id] == nil {
                state.lines[id] = line
            } else {
                state.free.append(line)
            }
        }
        return (state, count)
    }

    private func write(_ bytes: [UInt8], line: Int, descriptor: Int32) throws(StoreFault) {
        var written: Int
        repeat {
            written = calls.write(descriptor, bytes, line * Self.lineLength)
        } while written < 0 && errno == EINTR
        guard written == bytes.count else { throw Self.fault("cannot be written", path: path) }
    }

    private static func fault(_ what: String, path: String) -> StoreFault {
        let number = errno
        return StoreFault(.unavailable, "\(path) \(what): \(unsafe String(cString: strerror(number)))")
    }
}
