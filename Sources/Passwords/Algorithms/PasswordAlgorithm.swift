// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit
internal import RealmKit

/// An algorithm with the salt, parameters and hash of one stored password, as a format reads them from a text.
///
/// Texts of different formats, as `{CRYPT}$6$...` and `$6$...`, may be read as the same algorithm.
protocol PasswordAlgorithm: Sendable {
    /// The cost of one check.
    var cost: HashCost { get }

    /// The scheme and parameters of the policy that makes such hashes; nil if no policy does, or if salt or key are
    /// shorter than a policy makes them.
    var scheme: HashScheme? { get }

    /// Checks a password: the hash is computed in full and compared in constant time.
    ///
    /// - Parameter password: 1 to ``PasswordBounds/most`` bytes.
    /// - Returns: True if it is the stored password.
    /// - Throws: ``HashFault``.
    func isDerived(from password: Span<UInt8>) throws(HashFault) -> Bool
}

extension PasswordAlgorithm {
    var scheme: HashScheme? { nil }
}

/// An algorithm that derives bytes from a password and compares them with stored ones.
protocol PasswordDerivative: PasswordAlgorithm {
    /// The stored bytes.
    var expected: [UInt8] { get }

    /// Derives the bytes from a password.
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

/// A derivative whose text a policy can store.
protocol WritableDerivative: PasswordDerivative {
    /// Returns the text to store, with this salt and cost and another key.
    ///
    /// - Parameter key: The bytes derived from the password.
    /// - Returns: The text.
    func text(_ key: [UInt8]) -> String
}

/// The bounds of passwords, the same for all formats.
enum PasswordBounds {
    /// The most bytes: longer than any real password, short enough to hash at once.
    static let most = 1024

    /// Rejects a password that is too long.
    static func check(_ password: Secret) throws(HashFault) {
        if password.count > most {
            throw HashFault(.unusable, "the password has \(password.count) bytes; at most \(most) are allowed")
        }
    }
}

/// The only ``PasswordHash``: an algorithm behind the rules that all formats share.
struct StoredHash: PasswordHash {
    let algorithm: any PasswordAlgorithm
    /// True if it is a decoy: it costs as much as the hash that it was made from, and no password matches.
    var isDecoy = false

    var cost: HashCost { algorithm.cost }

    var decoy: any PasswordHash { StoredHash(algorithm: algorithm, isDecoy: true) }

    func matches(_ password: Secret) throws(HashFault) -> Bool {
        try PasswordBounds.check(password)
        // An empty password never matches: many directories take one for an anonymous login.
        if password.isEmpty { return false }
        let isRight = try password.withBytes { bytes throws(HashFault) in try algorithm.isDerived(from: bytes) }
        return isRight && !isDecoy
    }
}

extension HashFault {
    /// Rejects a password that ends in NUL.
    ///
    /// HMAC pads its key with NULs (RFC 2104 section 2) and the password is the key in PBKDF2 and scrypt, so it would
    /// match a shorter password.
    static func checkEnd(of password: Span<UInt8>, format: String) throws(HashFault) {
        if !password.isEmpty, password[password.count - 1] == 0 {
            throw HashFault(.unusable, "the password ends in a NUL byte, which \(format) ignores")
        }
    }

    /// Wraps an error of OpenSSL.
    init(_ error: OpenSSLError) {
        self.init(.failed, error.description)
    }
}
