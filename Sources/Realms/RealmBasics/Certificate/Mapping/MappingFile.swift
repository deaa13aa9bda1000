// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Files
internal import RealmKit
internal import Synchronization

/// A mapping file, read again after each change; after an error, logged once, the previous version is kept.
final class MappingFile: Sendable {
    private struct State {
        var mapping: CertificateMapping
        var bytes: [UInt8]
        var stamp: FileStamp?
        /// About the owner and the mode of the file and of the folders above it.
        var trustWarnings: [String]
        var fault: FileFault?
        /// True if the entries have changed since the last call of ``takeChange()``.
        var hasChanged = false
    }

    let path: String
    private let log: RealmLog?
    private let state: Mutex<State>
    private let reader = DispatchQueue(label: "certificate realm: reader")

    init(_ path: String, log: RealmLog?) throws(FileFault) {
        self.path = path
        self.log = log
        let file = try Self.read(path)
        let mapping = try CertificateMapping(file.bytes, path: path)
        // The configuration reports these warnings with its line.
        state = Mutex(State(mapping: mapping, bytes: file.bytes, stamp: file.stamp, trustWarnings: file.warnings))
        warn(about: mapping)
    }

    private func warn(about mapping: CertificateMapping) {
        for warning in mapping.warnings { log?(warning.description) }
    }

    /// Returns the entries of the newest version that has no error.
    func current() async -> CertificateMapping {
        let stamp = FileStamp(of: path)
        guard state.withLock({ $0.stamp != stamp }) else { return state.withLock { $0.mapping } }
        await reader.run { self.reload() }
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
        let before = FileStamp(of: path)
        guard state.withLock({ $0.stamp != before }) else { return }
        do throws(FileFault) {
            let file = try Self.read(path)
            let mapping = try CertificateMapping(file.bytes, path: path)
            let (wasFaulty, known) = state.withLock { state in
                if state.bytes != file.bytes { state.hasChanged = true }
                defer {
                    (state.mapping, state.bytes, state.stamp, state.fault) = (mapping, file.bytes, file.stamp, nil)
                    state.trustWarnings = file.warnings
                }
                return (state.fault != nil, state.trustWarnings)
            }
            for warning in file.warnings where !known.contains(warning) { log?(warning) }
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
    private static func read(_ path: String) throws(FileFault) -> FileContents {
        try Result { () throws(UnreadableFile) in
            try FileContents(path, as: .users, limit: 4 << 20, mayGrow: false)
        }.mapError { FileFault(path, unreadable: $0) }.get()
    }
}

struct MappingPlace: Sendable {
    let path: String
    let line: Int

    func fault(_ message: String, at column: Int) -> FileFault { FileFault("\(path):\(line):\(column): \(message)") }
}
