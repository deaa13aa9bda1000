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

/// The cost of a check: checks of equal cost take the same time and the same memory.
public struct HashCost: Sendable, Hashable, CustomStringConvertible {
    /// The format's name, such as `argon2id`.
    public let format: String
    /// The parameters that determine the cost, such as `m=19456,t=2,p=1`; empty for a format without parameters.
    public let parameters: String
    /// The memory that a check takes, in bytes; 0 if it is negligible.
    public let memory: Int
    /// The time of a check on one core of a server of 2020, estimated from the parameters; 0 if it is not known.
    package let time: Duration
    /// True if a check takes a few microseconds at most, less than passing it to another thread.
    let isNegligible: Bool

    init(format: String, parameters: String = "", memory: Int = 0, time: Duration, isNegligible: Bool = false) {
        self.format = format
        self.parameters = parameters
        self.memory = memory
        self.time = time
        self.isNegligible = isNegligible
    }

    package static let maximumChecks = 8

    /// Returns the costs that every login computes, the dearest first: at most 8, and twice `longestCheck` in all.
    ///
    /// A login of a user whose hash has another cost takes a little less time, and never more. Each cost is given once.
    package static func checked(of costs: [HashCost], longestCheck: Duration) -> [HashCost] {
        var time = Duration.zero
        // The order of costs of the same time must be the same in every login.
        let sorted = costs.enumerated().sorted { ($1.element.time, $0.offset) < ($0.element.time, $1.offset) }
        let checked = sorted.map(\.element).prefix(maximumChecks).prefix { cost in
            defer { time += cost.time }
            return time == .zero || time + cost.time <= longestCheck * 2
        }
        return Array(checked)
    }

    /// Returns a warning if the hashes of a realm have many different costs.
    package static func warning(about costs: [HashCost], longestCheck: Duration) -> String? {
        let checked = checked(of: costs, longestCheck: longestCheck)
        guard costs.count > 3 || checked.count < costs.count else { return nil }
        let start = "the password hashes have \(costs.count) different costs, and each login computes one hash of each"
        guard checked.count < costs.count else {
            return "\(start) cost: \(costs.map(\.description).joined(separator: "; "))"
        }
        return "\(start) of the \(checked.count) dearest: \(checked.map(\.description).joined(separator: "; ")); "
            + "users with other costs can be recognized by the time of a login, until their hashes are replaced"
    }

    /// The format and the parameters, such as `argon2id m=19456,t=2,p=1`.
    public var description: String { parameters.isEmpty ? format : "\(format) \(parameters)" }
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
