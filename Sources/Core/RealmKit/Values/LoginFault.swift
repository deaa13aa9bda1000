// SPDX-License-Identifier: Apache-2.0

/// A fault of a module, a realm or a conversation, thrown when a login could not be decided.
///
/// A fault thrown by a module counts as a failure of that module under its control flag. It never counts as a success,
/// and the module is never treated as absent. Two faults are equal if their kinds are equal, so tests need not compare
/// texts.
public struct LoginFault: Error, Sendable {
    /// The failure that the fault counts as in a stack.
    public let kind: LoginFailure
    /// True if the engine has ended the call at the deadline of its module, which need not be an outage.
    ///
    /// It is beside the kind so that it adds nothing to the size of a fault.
    var isLate = false
    /// The event for the log, without secrets.
    ///
    /// Users never see it.
    public let log: String

    /// Creates a fault.
    ///
    /// - Parameters:
    ///   - kind: The failure that the fault counts as in a stack.
    ///   - log: The event for the log, without secrets.
    public init(_ kind: LoginFailure, log: String) {
        self.kind = kind
        self.log = log
    }

    /// A fault of a backend: a directory is down, a file cannot be read, the time is up.
    ///
    /// - Parameter log: The event for the log, without secrets.
    /// - Returns: A fault of kind `unavailable`.
    public static func unavailable(_ log: String) -> LoginFault { LoginFault(.unavailable, log: log) }

    /// A fault of load: a queue is full, or the login has waited too long for its turn.
    ///
    /// - Parameter log: The event for the log, without secrets.
    /// - Returns: A fault of kind `overloaded`.
    public static func overloaded(_ log: String) -> LoginFault { LoginFault(.overloaded, log: log) }

    /// A fault of the program itself: a state that must not occur.
    ///
    /// - Parameter log: The event for the log, without secrets.
    /// - Returns: A fault of kind `internalError`.
    public static func internalError(_ log: String) -> LoginFault { LoginFault(.internalError, log: log) }
}

extension LoginFault: Hashable, CustomStringConvertible {
    /// Compares the kinds.
    public static func == (left: LoginFault, right: LoginFault) -> Bool { left.kind == right.kind }

    /// Hashes the kind.
    public func hash(into hasher: inout Hasher) { hasher.combine(kind) }

    /// The code of the kind, and the log text.
    public var description: String { "\(kind.code): \(log)" }
}
