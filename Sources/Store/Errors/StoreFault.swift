// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import GRDB

/// An operation of the store failed.
public struct StoreFault: Error, Sendable, CustomStringConvertible {
    /// The kind of error.
    public enum Code: Sendable, Hashable {
        /// There is a user of that name already.
        case exists
        /// There is no user of that name.
        case missing
        /// The file cannot be read or written now.
        case unavailable
        /// The calling task was cancelled; the file has no error.
        case cancelled
        /// A newer version of this program has written the file.
        case tooNew
    }

    /// The kind of error.
    public let code: Code
    /// The text for the administrator.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// Maps an error of a library.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - path: The store's file; nil for one in memory.
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
        // The statement is not quoted: it may contain hashes.
        self.init(
            .unavailable,
            "\(store) cannot be used: \(error.message ?? "SQLite error \(error.resultCode.rawValue)")"
        )
    }
}

extension StoreFault: Hashable {
    /// Returns whether the codes are the same.
    public static func == (left: StoreFault, right: StoreFault) -> Bool { left.code == right.code }

    /// Hashes the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
