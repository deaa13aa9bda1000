// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Dispatch
internal import Glibc
internal import RealmKit
internal import Synchronization

/// A mapping file, read again after each change; after an error, logged once, the previous version is kept.
final class MappingFile: Sendable {
    /// 4 MiB.
    static let maximumSize = 4 << 20

    struct Stamp: Sendable, Hashable {
        let device: UInt64
        let inode: UInt64
        let size: Int
        let modified: [Int]
        let changed: [Int]

        init(_ status: stat) {
            device = UInt64(truncatingIfNeeded: status.st_dev)
            inode = UInt64(truncatingIfNeeded: status.st_ino)
            size = Int(status.st_size)
            modified = [Int(status.st_mtim.tv_sec), Int(status.st_mtim.tv_nsec)]
            changed = [Int(status.st_ctim.tv_sec), Int(status.st_ctim.tv_nsec)]
        }

        init?(of path: String) {
            var status = stat()
            guard unsafe stat(path, &status) == 0 else { return nil }
            self.init(status)
        }
    }

    private struct State {
        var mapping: CertificateMapping
        var bytes: [UInt8]
        var stamp: Stamp?
        /// About the owner and the mode of the file and of the folders above it.
        var trustWarnings: [String]
        var fault: MappingFault?
        /// True if the entries have changed since the last call of ``takeChange()``.
        var hasChanged = false
    }

    let path: String
    private let log: RealmLog?
    private let state: Mutex<State>
    private let reader = DispatchQueue(label: "certificate realm: reader")

    init(_ path: String, log: RealmLog?) throws(MappingFault) {
        self.path = path
        self.log = log
        let (bytes, stamp, trustWarnings) = try Self.read(path)
        let mapping = try CertificateMapping(bytes, path: path)
        // The configuration reports these warnings with its line.
        state = Mutex(State(mapping: mapping, bytes: bytes, stamp: stamp, trustWarnings: trustWarnings))
        warn(about: mapping)
    }

    private func warn(about mapping: CertificateMapping) {
        for warning in mapping.warnings { log?(warning.description) }
    }

    /// Returns the entries of the newest version that has no error.
    func current() async -> CertificateMapping {
        let stamp = Stamp(of: path)
        guard state.withLock({ $0.stamp != stamp }) else { return state.withLock { $0.mapping } }
        await withCheckedContinuation { continuation in
            reader.async {
                self.reload()
                continuation.resume()
            }
        }
        return state.withLock { $0.mapping }
    }

    /// Returns true once after each change of the entries.
    func takeChange() -> Bool {
        state.withLock { state in
            defer { state.hasChanged = false }
            return state.hasChanged
        }
    }

    private func reload() {
        let before = Stamp(of: path)
        guard state.withLock({ $0.stamp != before }) else { return }
        do throws(MappingFault) {
            let (bytes, stamp, trustWarnings) = try Self.read(path)
            let mapping = try CertificateMapping(bytes, path: path)
            let (wasFaulty, known) = state.withLock { state in
                if state.bytes != bytes { state.hasChanged = true }
                defer {
                    (state.mapping, state.bytes, state.stamp, state.fault) = (mapping, bytes, stamp, nil)
                    state.trustWarnings = trustWarnings
                }
                return (state.fault != nil, state.trustWarnings)
            }
            for warning in trustWarnings where !known.contains(warning) { log?(warning) }
            warn(about: mapping)
            if wasFaulty { log?("\(path): it can be read again", .notice) }
        } catch {
            let isNew = state.withLock { state in
                defer { (state.stamp, state.fault) = (before, error) }
                return state.fault != error
            }
            if isNew { log?("\(error); the previous entries are kept", .error) }
        }
    }

    /// Reads the file; throws if every user of the machine may change it.
    private static func read(
        _ path: String
    ) throws(MappingFault) -> (bytes: [UInt8], stamp: Stamp, trustWarnings: [String]) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { throw .system(path) }
        defer { close(descriptor) }
        // The open descriptor is checked, so that the file cannot be replaced between the check and the read.
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw .system(path) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw MappingFault("\(path): it is not a regular file") }
        let findings = FileTrust.findings(path, as: .users, opened: status)
        if let error = findings.first(where: \.isError) { throw MappingFault(error.text) }
        let size = Int(status.st_size)
        guard size <= maximumSize else { throw MappingFault("\(path): it is longer than \(maximumSize >> 20) MiB") }
        do throws(FileBytes.Fault) {
            return (try FileBytes.read(descriptor, count: size), Stamp(status), findings.map(\.text))
        } catch {
            switch error {
            case .system(let number): throw MappingFault("\(path): \(unsafe String(cString: strerror(number)))")
            case .isBeingWritten: throw MappingFault("\(path): it is being written")
            }
        }
    }
}

struct MappingFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// For the administrator, with the name of the file.
    let description: String

    init(_ description: String) { self.description = description }

    /// Creates an error with the system's text for errno.
    static func system(_ path: String) -> MappingFault {
        MappingFault("\(path): \(unsafe String(cString: strerror(errno)))")
    }

    struct Place: Sendable {
        let path: String
        let line: Int

        func fault(_ message: String, at column: Int) -> MappingFault {
            MappingFault("\(path):\(line):\(column): \(message)")
        }
    }
}
