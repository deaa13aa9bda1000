// SPDX-License-Identifier: Apache-2.0

/// The error of a call to a realm, or of looking up a realm by its name.
///
/// Two errors are equal if their codes are equal. Source: `NoSuchRealmException`, `NoSuchUserException` and
/// `InvalidOperationException` of GlassFish.
public struct RealmError: Error, Sendable, CustomStringConvertible {
    /// The kinds of faults.
    public enum Code: Sendable, Hashable {
        /// There is no realm of that name. Another realm never takes its place.
        case noSuchRealm
        /// The realm has no such user.
        case noSuchUser
        /// The realm already has a user of that name.
        case userExists
        /// The realm does not support the operation.
        case invalidOperation
        /// The realm's backend could not be reached.
        case unavailable
        /// Too much was to be done; see ``LoginFailure/overloaded``.
        case overloaded
    }

    /// The kind of the fault.
    public let code: Code
    /// The problem, for the administrator.
    public let message: String

    /// Creates a fault.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// A fault for a name that no realm has.
    public static func noSuchRealm(_ name: String, known: [String]) -> RealmError {
        let others = known.isEmpty ? "there are none" : "there are \(known.sorted().joined(separator: ", "))"
        return RealmError(.noSuchRealm, "there is no realm \(name); \(others)")
    }

    /// A fault for a user that the realm does not have.
    public static func noSuchUser(_ user: Username) -> RealmError {
        RealmError(.noSuchUser, "there is no user \(user)")
    }

    /// A fault for a user name that is taken.
    public static func userExists(_ user: Username) -> RealmError {
        RealmError(.userExists, "the user \(user) exists already")
    }

    /// A fault for an operation that the realm does not support.
    public static func invalidOperation(_ message: String) -> RealmError { RealmError(.invalidOperation, message) }

    /// A fault of the realm's backend.
    public static func unavailable(_ message: String) -> RealmError { RealmError(.unavailable, message) }

    /// A fault of the realm's backend or of load, for a call without a login.
    package static func temporary(_ fault: LoginFault) -> RealmError {
        RealmError(fault.kind == .overloaded ? .overloaded : .unavailable, fault.log)
    }

    /// The message.
    public var description: String { message }
}

extension RealmError: Hashable {
    /// Compares the codes.
    public static func == (left: RealmError, right: RealmError) -> Bool { left.code == right.code }

    /// Hashes the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
