// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// A stored password, read: what it takes to tell whether somebody knows it.
///
/// It is immutable and may be used from any thread. Checking it computes for as long as the hash costs, so it is done on a
/// thread that may be busy for that long: see ``HashingSlots``.
public protocol PasswordHash: Sendable {
    /// What a check of it costs, whatever the password.
    var cost: HashCost { get }

    /// Whether a password is the one that is stored.
    ///
    /// Takes the same time for every wrong password of the same length, and compares in constant time.
    ///
    /// - Parameter password: The password.
    /// - Returns: Whether it is.
    /// - Throws: ``HashFault``: `unusable` for a password that the format cannot take as a whole (bcrypt beyond 72 bytes,
    ///   crypt(3) with a NUL); it is refused, never cut. `failed` when the library cannot do it, as without memory.
    func matches(_ password: Secret) throws(HashFault) -> Bool

    /// A hash that costs as much and that no known password has: checked where there is none to check.
    var decoy: any PasswordHash { get }
}

/// What a check of a hash costs: two hashes of equal cost take the same time and the same memory.
public struct HashCost: Sendable, Hashable, CustomStringConvertible {
    /// The format's name, as in `argon2id`.
    public let format: String
    /// The parameters that decide what it costs, as in `m=19456,t=2,p=1`; empty if there are none.
    public let parameters: String
    /// How much memory a check takes, in bytes, as far as it counts; 0 for next to none.
    public let memory: Int

    /// A cost.
    ///
    /// - Parameters:
    ///   - format: The format's name.
    ///   - parameters: The parameters that decide what it costs.
    ///   - memory: How much memory a check takes, in bytes.
    public init(format: String, parameters: String = "", memory: Int = 0) {
        self.format = format
        self.parameters = parameters
        self.memory = memory
    }

    /// Format and parameters, as in `argon2id m=19456,t=2,p=1`.
    public var description: String { parameters.isEmpty ? format : "\(format) \(parameters)" }
}

/// A stored text that is no hash of a format known here, or a broken one.
public struct BadHash: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, for the administrator; it quotes no more of the text than the name of its format.
    public let description: String

    /// A fault.
    ///
    /// - Parameter description: What is wrong.
    public init(_ description: String) {
        self.description = description
    }
}

/// A password could not be hashed, or could not be held against a hash.
public struct HashFault: Error, Sendable, CustomStringConvertible {
    /// What kind of thing is wrong.
    public enum Code: Sendable, Hashable {
        /// The format cannot take this password as a whole.
        case unusable
        /// The library could not do it.
        case failed
    }

    /// What kind of thing is wrong.
    public let code: Code
    /// What is wrong, without the password.
    public let description: String

    /// A fault.
    ///
    /// - Parameters:
    ///   - code: What kind of thing is wrong.
    ///   - description: What is wrong, without the password.
    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}

extension HashFault: Hashable {
    /// Whether the codes are the same.
    public static func == (left: HashFault, right: HashFault) -> Bool { left.code == right.code }

    /// Hashes the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
