// SPDX-License-Identifier: Apache-2.0

public import RealmKit

/// The hash of a stored password, against which passwords are checked.
///
/// It is immutable and may be used from any thread. A check blocks its thread while the hash is computed, so
/// ``HashingPool`` computes checks on its own threads.
public struct PasswordHash: Sendable {
    let algorithm: any PasswordAlgorithm
    /// True if no password matches.
    var isDecoy = false

    /// The cost of a check, the same for every password.
    public var cost: HashCost { algorithm.cost }

    /// A hash of equal cost that no password matches, checked if the user does not exist or has no password.
    public var decoy: PasswordHash { PasswordHash(algorithm: algorithm, isDecoy: true) }

    /// Returns whether a password is the stored one.
    ///
    /// A check takes the same time for every wrong password of the same length; the comparison takes constant time.
    ///
    /// - Throws: ``HashFault``. The code is `unusable` if the format would ignore a part of the password: one of more than
    ///   72 bytes for bcrypt, or with a NUL byte for crypt(3). The code is `failed` if the library cannot compute the hash,
    ///   for example because there is no memory.
    public func matches(_ password: Secret) throws(HashFault) -> Bool {
        try PasswordBounds.check(password)
        // An empty password never matches, because many directories treat it as an anonymous login.
        if password.isEmpty { return false }
        do {
            return try password.withBytes { try algorithm.isDerived(from: $0) } && !isDecoy
        } catch {
            throw HashFault(error)
        }
    }

    /// The number of bytes of a password that the format hashes, if other programs ignore the rest of a longer one: 72 for
    /// bcrypt, 8 for DES; nil if they ignore nothing.
    ///
    /// Users whose passwords are longer could sign in at the system that has written the hash. Here their passwords are
    /// rejected, unless ``FormatOptions/acceptsTruncated`` is set.
    public var truncatesAfter: Int? { algorithm.truncatesAfter }

    /// Returns whether the format ignores a part of a password: the bytes after ``truncatesAfter``, or a bit of each byte.
    public func ignoresPart(of password: Secret) -> Bool { password.withBytes { algorithm.ignoresPart(of: $0) } }
}

/// A stored password: the stored text, and the hash read from the text.
public struct StoredPassword: Sendable {
    /// The text as it is stored.
    public let text: String
    /// The hash read from the text.
    public let hash: PasswordHash

    init(text: String, hash: PasswordHash) {
        self.text = text
        self.hash = hash
    }

    /// Reads a stored password, as ``PasswordFormats/read(_:options:)`` does.
    public init(_ text: String, options: FormatOptions = .init()) throws(BadHash) {
        self.text = text
        hash = try PasswordFormats.read(text, options: options)
    }
}

/// The error for a stored text that is not a usable password hash: its format is unknown, it is malformed, or a check
/// would be too costly.
public struct BadHash: Error, Sendable, Hashable, CustomStringConvertible {
    /// The text for the administrator; of the stored text it quotes only the name of the format.
    public let description: String

    /// Creates an error with a text for the administrator.
    public init(_ description: String) { self.description = description }
}

/// The error for a password that could not be hashed or checked.
public struct HashFault: Error, Sendable, CustomStringConvertible {
    /// The kind of error.
    public enum Code: Sendable, Hashable {
        /// The format would ignore a part of the password.
        case unusable
        /// The library could not compute the hash.
        case failed
    }

    /// The kind of error.
    public let code: Code
    /// The text for the log, without the password.
    public let description: String

    /// Creates an error.
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
