// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// The hash of a stored password, against which a password can be checked.
///
/// It is immutable and may be used from any thread. A check takes as long as the hash costs, so it runs on a thread
/// that may be busy for that long: see ``HashingPool``.
public protocol PasswordHash: Sendable {
    /// The cost of a check, the same for every password.
    var cost: HashCost { get }

    /// Checks a password.
    ///
    /// A check takes the same time for every wrong password of the same length; the comparison takes constant time.
    ///
    /// - Parameter password: The password.
    /// - Returns: True if it is the stored password.
    /// - Throws: ``HashFault``: `unusable` for a password that the format cannot take as a whole (bcrypt beyond 72
    ///   bytes, crypt(3) with a NUL); it is rejected, never cut. `failed` when the library cannot compute the hash, as
    ///   without memory.
    func matches(_ password: Secret) throws(HashFault) -> Bool

    /// A hash of equal cost that no password matches: it is checked where there is no stored password.
    var decoy: any PasswordHash { get }
}

/// The cost of a check: two hashes of equal cost take the same time and the same memory.
public struct HashCost: Sendable, Hashable, CustomStringConvertible {
    /// The format's name, as in `argon2id`.
    public let format: String
    /// The parameters that decide the cost, as in `m=19456,t=2,p=1`; empty if there are none.
    public let parameters: String
    /// The memory that a check takes, in bytes; 0 if it is negligible.
    public let memory: Int

    /// Creates a cost.
    ///
    /// - Parameters:
    ///   - format: The format's name.
    ///   - parameters: The parameters that decide the cost.
    ///   - memory: The memory that a check takes, in bytes.
    public init(format: String, parameters: String = "", memory: Int = 0) {
        self.format = format
        self.parameters = parameters
        self.memory = memory
    }

    /// Format and parameters, as in `argon2id m=19456,t=2,p=1`.
    public var description: String { parameters.isEmpty ? format : "\(format) \(parameters)" }
}

/// The reason why a stored text cannot be used as a password hash: unknown format, malformed, or too costly.
public struct BadHash: Error, Sendable, Hashable, CustomStringConvertible {
    /// The text for the administrator; it quotes no more of the stored text than the name of its format.
    public let description: String

    /// Creates an error.
    ///
    /// - Parameter description: The text for the administrator.
    public init(_ description: String) {
        self.description = description
    }
}

/// A password could not be hashed or checked.
public struct HashFault: Error, Sendable, CustomStringConvertible {
    /// The kind of error.
    public enum Code: Sendable, Hashable {
        /// The format cannot take this password as a whole.
        case unusable
        /// The library could not compute the hash.
        case failed
    }

    /// The kind of error.
    public let code: Code
    /// The text for the log, without the password.
    public let description: String

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of error.
    ///   - description: The text for the log, without the password.
    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}

extension HashFault: Hashable {
    /// Returns whether the codes are the same.
    public static func == (left: HashFault, right: HashFault) -> Bool { left.code == right.code }

    /// Hashes the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
