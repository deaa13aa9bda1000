// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Stands for all that decides whether, and as what, a user may go on: password, groups, state.
///
/// Two stamps of a user are equal as long as nothing of it has changed; what it was cannot be told from one. It is made by
/// a realm, and holds for that realm only. It is not to be shown or stored as it is: where a password is kept in clear text
/// it could be guessed from a stamp.
public struct UserStamp: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The longest stamp, in bytes.
    public static let maximumBytes = 64

    /// The stamp.
    public let bytes: [UInt8]
    /// When the account ends, in seconds since 1970; nil for never.
    public let expiry: Int?

    /// A stamp.
    ///
    /// - Parameters:
    ///   - bytes: A digest over everything that decides, each thing preceded by its length; what is longer than
    ///   ``maximumBytes`` is cut.
    ///   - expiry: When the account ends, in seconds since 1970; a session ends by then.
    public init(_ bytes: [UInt8], expiry: Int? = nil) {
        self.bytes = Array(bytes.prefix(Self.maximumBytes))
        self.expiry = expiry
    }

    /// The same for all.
    public var description: String { "user stamp" }

    /// Shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// What a realm knows of a user whom it has accepted before.
public enum UserState: Sendable, Hashable {
    /// The realm cannot say.
    case unknown
    /// There is no such user, or none who may sign in now.
    case gone
    /// The user may sign in, and this is what decides.
    case present(UserStamp)

    /// The stamp of a user who is present.
    public var stamp: UserStamp? {
        switch self {
        case .unknown, .gone: nil
        case .present(let stamp): stamp
        }
    }
}
