// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import GRDB

/// The store could not do what it was asked.
public struct StoreFault: Error, Sendable, CustomStringConvertible {
    /// What kind of thing is wrong.
    public enum Code: Sendable, Hashable {
        /// There is something of that name already.
        case exists
        /// There is nothing of that name.
        case missing
        /// The file cannot be read or written, now at least.
        case unavailable
        /// A newer version of this program has written it.
        case tooNew
    }

    /// What kind of thing is wrong.
    public let code: Code
    /// What is wrong, for the administrator.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// What a library error amounts to.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - path: The store's file; nil for one in memory.
    init(_ error: any Error, _ path: String?) {
        let store = path.map { "the store \($0)" } ?? "the store"
        if let fault = error as? StoreFault {
            self = fault
            return
        }
        guard let error = error as? DatabaseError else {
            self.init(.unavailable, "\(store) cannot be used: \(error)")
            return
        }
        // The statement is left out: it would show hashes.
        self.init(
            .unavailable,
            "\(store) cannot be used: \(error.message ?? "SQLite error \(error.resultCode.rawValue)")"
        )
    }
}

extension StoreFault: Hashable {
    /// Whether the codes are the same.
    public static func == (left: StoreFault, right: StoreFault) -> Bool { left.code == right.code }

    /// Hashes the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
