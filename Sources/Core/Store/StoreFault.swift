// SPDX-License-Identifier: Apache-2.0

internal import Files
internal import GRDB
internal import Glibc

/// The error of an operation of the store.
package struct StoreFault: Error, Sendable, CustomStringConvertible {
    package enum Code: Sendable, Hashable {
        /// A user with that name already exists.
        case exists
        /// No user with that name exists.
        case missing
        /// The file cannot be read or written now.
        case unavailable
        /// The calling task was cancelled; the file has no error.
        case cancelled
        /// A newer version of this program has written the file.
        case tooNew
        /// An older version of this program has written the file, and the file was opened only for reading.
        case tooOld
    }

    package let code: Code
    /// The text for the administrator.
    package let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// Converts an error of a library; `path` is nil for a store in memory.
    init(_ error: any Error, path: String?) {
        let store = path.map { "the store \($0)" } ?? "the store"
        if let fault = error as? StoreFault {
            self = fault
            return
        }
        if error is CancellationError {
            self.init(.cancelled, "the request to \(store) was cancelled")
            return
        }
        guard let error = error as? DatabaseError else {
            self.init(.unavailable, "\(store) cannot be used: \(error)")
            return
        }
        let advice =
            switch error.resultCode {
            case .SQLITE_FULL: FileOwner.advice(ENOSPC, "")
            case .SQLITE_READONLY: path.flatMap(FileOwner.fault).map { "; \($0)" } ?? FileOwner.advice(EROFS, "")
            default: ""
            }
        // The statement is not quoted: it may contain hashes.
        let reason = error.message ?? "SQLite error \(error.resultCode.rawValue)"
        self.init(.unavailable, "\(store) cannot be used: \(reason)\(advice)")
    }
}

/// Two faults are equal if their codes are equal.
extension StoreFault: Hashable {
    package static func == (left: StoreFault, right: StoreFault) -> Bool { left.code == right.code }

    package func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
