// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A realm cannot be made of the properties it was given.
///
/// Source: `BadRealmException` of GlassFish, whose server disables such a realm and goes on; here nothing starts.
public struct BadRealm: SettingsFault, Hashable {
    /// The property at fault, if it is one.
    public let setting: String?
    /// What is wrong, for the administrator.
    public let message: String

    /// A fault with a message, and the property it is about.
    ///
    /// - Parameters:
    ///   - message: What is wrong, for the administrator.
    ///   - setting: The property at fault, if it is one.
    public init(_ message: String, setting: String? = nil) {
        self.message = message
        self.setting = setting
    }
}

/// Something that was asked of a realm, or of the set of realms, cannot be answered.
///
/// Two are equal when their codes are. Source: `NoSuchRealmException`, `NoSuchUserException` and
/// `InvalidOperationException` of GlassFish.
public struct RealmError: Error, Sendable, CustomStringConvertible {
    /// What kind of thing is wrong.
    public enum Code: Sendable, Hashable {
        /// There is no realm of that name. It is never replaced by another.
        case noSuchRealm
        /// The realm has no such user.
        case noSuchUser
        /// The realm has a user of that name already.
        case userExists
        /// The realm does not do such a thing.
        case invalidOperation
        /// Whoever knows could not be asked.
        case unavailable
    }

    /// What kind of thing is wrong.
    public let code: Code
    /// What is wrong, for the administrator.
    public let message: String

    /// A fault of some kind.
    ///
    /// - Parameters:
    ///   - code: What kind of thing is wrong.
    ///   - message: What is wrong, for the administrator.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// There is no realm of that name.
    ///
    /// - Parameters:
    ///   - name: The name asked for.
    ///   - known: The names there are.
    /// - Returns: The fault.
    public static func noSuchRealm(_ name: String, known: [String]) -> RealmError {
        let there = known.isEmpty ? "there are none" : "there are \(known.sorted().joined(separator: ", "))"
        return RealmError(.noSuchRealm, "no realm is called \(name); \(there)")
    }

    /// The realm has no such user.
    ///
    /// - Parameter user: The name asked for.
    /// - Returns: The fault.
    public static func noSuchUser(_ user: Username) -> RealmError {
        RealmError(.noSuchUser, "there is no user \(user)")
    }

    /// The realm has a user of that name already.
    ///
    /// - Parameter user: The name.
    /// - Returns: The fault.
    public static func userExists(_ user: Username) -> RealmError {
        RealmError(.userExists, "there is a user \(user) already")
    }

    /// The realm does not do such a thing.
    ///
    /// - Parameter message: What it does not do, and why.
    /// - Returns: The fault.
    public static func invalidOperation(_ message: String) -> RealmError {
        RealmError(.invalidOperation, message)
    }

    /// Whoever knows could not be asked.
    ///
    /// - Parameter message: What happened.
    /// - Returns: The fault.
    public static func unavailable(_ message: String) -> RealmError {
        RealmError(.unavailable, message)
    }

    /// The message.
    public var description: String { message }
}

extension RealmError: Hashable {
    /// Whether the codes are the same.
    public static func == (left: RealmError, right: RealmError) -> Bool { left.code == right.code }

    /// Hashes the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
