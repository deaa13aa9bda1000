// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit
internal import RealmKit

/// A stored password with all that it takes to compute it anew: what a format makes of a text.
///
/// Two texts of different formats, as `{CRYPT}$6$...` and `$6$...`, come to the same algorithm.
protocol PasswordAlgorithm: Sendable {
    /// What one check costs.
    var cost: HashCost { get }

    /// The scheme and the parameters, if a policy can ask for them; nil if the hash is of none, or is short of one.
    var scheme: HashPolicy.Scheme? { get }

    /// Whether a password is the one that is stored: computed in full, compared in constant time.
    ///
    /// - Parameter password: 1 to ``PasswordBounds/most`` bytes.
    /// - Throws: ``HashFault``.
    func isDerived(from password: Span<UInt8>) throws(HashFault) -> Bool
}

extension PasswordAlgorithm {
    var scheme: HashPolicy.Scheme? { nil }
}

/// An algorithm that makes bytes of a password, which are then compared.
protocol PasswordDerivative: PasswordAlgorithm {
    /// The bytes that are stored.
    var expected: [UInt8] { get }

    /// Makes them of a password.
    ///
    /// - Parameters:
    ///   - password: The password.
    ///   - bytes: Is overwritten; as many bytes as ``expected``.
    /// - Throws: ``HashFault``.
    func derive(_ password: Span<UInt8>, into bytes: inout MutableSpan<UInt8>) throws(HashFault)
}

extension PasswordDerivative {
    func isDerived(from password: Span<UInt8>) throws(HashFault) -> Bool {
        var scratch = WipedBytes(count: expected.count)
        try scratch.withMutableBytes { bytes throws(HashFault) in try derive(password, into: &bytes) }
        return scratch.withBytes { constantTimeEqual($0, expected.span) }
    }
}

/// How long a password may be, in whatever format.
enum PasswordBounds {
    /// More than anybody types, and little enough to hash in no time.
    static let most = 1024

    /// Refuses a password that is too long.
    static func check(_ password: Secret) throws(HashFault) {
        if password.count > most {
            throw HashFault(.unusable, "the password has \(password.count) bytes; \(most) are the most")
        }
    }
}

/// The only ``PasswordHash`` there is: an algorithm behind the rules that hold for all of them.
struct StoredHash: PasswordHash {
    let algorithm: any PasswordAlgorithm
    /// A decoy does the work of the hash it was made from and always says no.
    var isDecoy = false

    var cost: HashCost { algorithm.cost }

    var decoy: any PasswordHash { StoredHash(algorithm: algorithm, isDecoy: true) }

    func matches(_ password: Secret) throws(HashFault) -> Bool {
        try PasswordBounds.check(password)
        // Nobody has an empty password: many directories take one for an anonymous sign-in.
        if password.isEmpty { return false }
        let isRight = try password.withBytes { bytes throws(HashFault) in try algorithm.isDerived(from: bytes) }
        return isRight && !isDecoy
    }
}

extension HashFault {
    /// A fault of a library.
    init(_ error: OpenSSLError) {
        self.init(.failed, error.description)
    }
}
