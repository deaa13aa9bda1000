// SPDX-License-Identifier: Apache-2.0

package import Dispatch

/// The reason why a file is not read.
package enum UnreadableFile: Error, Sendable, Hashable {
    case system(SystemError)
    case notRegular(isFolder: Bool)
    /// The limit in bytes.
    case tooLong(limit: Int)
    /// The file does not have the size that it had when it was opened.
    case beingWritten
    case untrusted(FileTrust.Finding)

    package var reason: String {
        switch self {
        case .system(let error): "\(error)"
        case .notRegular: "it is not a regular file"
        case .tooLong(let limit): "it is longer than \(limit >> 20) MiB"
        case .beingWritten: "it is being written"
        case .untrusted(let finding): finding.text
        }
    }
}

/// A fault of a file, for the administrator.
package struct FileFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The text, with the name of the file.
    package let description: String

    package init(_ description: String) { self.description = description }

    /// Appends the system's reason to what has failed.
    package init(_ what: String, because error: SystemError) { description = "\(what): \(error)" }

    package init(_ name: String, unreadable fault: UnreadableFile) {
        // The text of a finding names the file.
        if case .untrusted = fault { description = fault.reason } else { description = "\(name): \(fault.reason)" }
    }
}

/// The bytes of a regular file, and what was known of it when it was opened.
package struct FileContents: Sendable {
    package let bytes: [UInt8]
    package let stamp: FileStamp
    /// About the owner and the mode of the file and of the folders above it.
    package let warnings: [String]

    /// Reads a file, behind links; one that other users may change is refused as its use says.
    ///
    /// Without a use, its owner and its mode are not checked. A file that may not grow must have the size that it had
    /// when it was opened. The limit is in bytes.
    package init(
        _ path: String,
        as use: FileTrust.Use?,
        limit: Int,
        mayGrow: Bool
    ) throws(UnreadableFile) {
        let (file, status) = try OpenFile.regular(path)
        stamp = status.stamp
        warnings = if let use { try FileTrust.check(path, as: use, opened: status) } else { [] }
        bytes = try mayGrow ? file.contents(limit: limit) : file.contents(of: status, limit: limit)
    }
}

extension OpenFile {
    /// Opens a regular file for reading, behind links, and returns its status.
    ///
    /// The open file is checked, not its path, so that it cannot be replaced between the check and the read. A pipe is
    /// refused: a read would wait, or return a first part.
    package static func regular(_ path: String) throws(UnreadableFile) -> (file: OpenFile, status: FileStatus) {
        let file = try SystemError.mapping(OpenFile(path, .reading), to: UnreadableFile.system)
        let status = try SystemError.mapping(file.status(), to: UnreadableFile.system)
        guard status.isRegular else { throw .notRegular(isFolder: status.isFolder) }
        return (file, status)
    }

    /// Reads the whole file, which must have its size when it was opened.
    package func contents(of status: FileStatus, limit: Int) throws(UnreadableFile) -> [UInt8] {
        guard status.size <= limit else { throw .tooLong(limit: limit) }
        // One byte more than the size shows whether the file has grown.
        // One allocation: a file of users has hashes, which further copies would leave on the heap.
        let bytes = try SystemError.mapping(
            try [UInt8](capacity: status.size + 1) { output throws(SystemError) in try fill(&output) },
            to: UnreadableFile.system
        )
        guard bytes.count == status.size else { throw .beingWritten }
        return bytes
    }

    fileprivate func contents(limit: Int) throws(UnreadableFile) -> [UInt8] {
        let bytes = try SystemError.mapping(self.bytes(atMost: limit + 1), to: UnreadableFile.system)
        guard bytes.count <= limit else { throw .tooLong(limit: limit) }
        return bytes
    }
}

extension DispatchQueue {
    /// Runs work that may block, such as a read from a file system that stalls, on the thread of the queue, and returns its
    /// result; no thread that runs tasks waits for it.
    package func run<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            async { continuation.resume(returning: work()) }
        }
    }
}
