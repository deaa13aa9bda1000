// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit
public import RealmKit

/// How new passwords are hashed.
public struct HashPolicy: Sendable, Hashable {
    /// What passwords are hashed with, and at what cost.
    public enum Scheme: Sendable, Hashable {
        /// Argon2id, RFC 9106: memory in KiB, passes over it, lanes.
        case argon2id(memory: Int, passes: Int, lanes: Int)
        /// yescrypt of crypt(3): 5 takes 16 MiB, each step doubles it.
        case yescrypt(cost: Int)
        /// bcrypt, for passwords of up to 72 bytes: each step doubles the time.
        case bcrypt(cost: Int)
        /// SHA-512 crypt of crypt(3).
        case sha512crypt(rounds: Int)
        /// scrypt, RFC 7914: the binary logarithm of N, the block size, the number of lanes.
        case scrypt(logN: Int, r: Int, p: Int)
        /// PBKDF2 with HMAC-SHA-256.
        case pbkdf2SHA256(iterations: Int)
        /// PBKDF2 with HMAC-SHA-512.
        case pbkdf2SHA512(iterations: Int)
    }

    /// OWASP's least for Argon2id: 19 MiB, 2 passes, 1 lane; about 25 ms of one core.
    public static let standard = HashPolicy(.argon2id(memory: 19456, passes: 2, lanes: 1))

    /// What passwords are hashed with.
    public let scheme: Scheme

    /// A policy; numbers out of bounds make ``hash(_:)`` fail.
    ///
    /// - Parameter scheme: What passwords are hashed with.
    public init(_ scheme: Scheme) {
        self.scheme = scheme
    }

    /// Hashes a new password with a new salt.
    ///
    /// - Parameter password: The password.
    /// - Returns: The text to store, which ``PasswordFormats/read(_:_:)`` reads.
    /// - Throws: ``HashFault``: `unusable` for an empty password, one of more than 1024 bytes, or one that the scheme cannot
    ///   take as a whole; `failed` if the library cannot do it, or the numbers are out of bounds.
    public func hash(_ password: Secret) throws(HashFault) -> String {
        try PasswordBounds.check(password)
        guard !password.isEmpty else { throw HashFault(.unusable, "the password is empty") }
        if let fault = scheme.fault { throw HashFault(.failed, "\(scheme.name) \(fault)") }
        return try password.withBytes { bytes throws(HashFault) in try text(of: bytes) }
    }

    private func text(of password: Span<UInt8>) throws(HashFault) -> String {
        if let (method, setting) = try cryptSetting() {
            try Crypt.check(password, for: method)
            return try CryptLibrary.hash(password, setting) { hash in
                unsafe hash.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
            }
        }
        guard let blank = try blank() else { throw HashFault(.failed, "\(scheme.name) is not known here") }
        // What is stored is no secret of the password's any more than every stored hash is.
        var key = [UInt8](repeating: 0, count: blank.expected.count)
        var span = key.mutableSpan
        try blank.derive(password, into: &span)
        return blank.text(key)
    }

    /// A hash of this policy's cost that no known password has.
    ///
    /// - Returns: The decoy; it costs nothing to make.
    /// - Throws: ``HashFault`` with code `failed`: no randomness, or numbers out of bounds.
    public func decoy() throws(HashFault) -> any PasswordHash {
        if let fault = scheme.fault { throw HashFault(.failed, "\(scheme.name) \(fault)") }
        let stored: String?
        if let (method, setting) = try cryptSetting() {
            // Dots are zeros, which end every hash as it has to end.
            let digits = [.bcrypt: 31, .yescrypt: 43, .sha512crypt: 86][method] ?? 0
            let separator = method == .bcrypt || setting.hasSuffix("$") ? "" : "$"
            stored = setting + separator + String(repeating: ".", count: digits)
        } else {
            stored = try blank().map { $0.text($0.expected) }
        }
        guard let stored else { throw HashFault(.failed, "\(scheme.name) is not known here") }
        do {
            return try PasswordFormats.read(stored).decoy
        } catch {
            throw HashFault(.failed, error.description)
        }
    }
}

extension HashPolicy {
    private static let saltBytes = 16

    /// The method and a new setting, if crypt(3) does it.
    private func cryptSetting() throws(HashFault) -> (Crypt.Method, String)? {
        switch scheme {
        case .yescrypt(let cost): (.yescrypt, try CryptLibrary.setting("$y$", cost: cost))
        case .bcrypt(let cost): (.bcrypt, try CryptLibrary.setting("$2b$", cost: cost))
        case .sha512crypt(let rounds): (.sha512crypt, try CryptLibrary.setting("$6$", cost: rounds))
        case .argon2id, .scrypt, .pbkdf2SHA256, .pbkdf2SHA512: nil
        }
    }

    /// A hash with a new salt and zeros for a key, if crypt(3) does not do it.
    private func blank() throws(HashFault) -> (any WritableDerivative)? {
        let salt: [UInt8]
        do {
            salt = try RandomBytes.make(Self.saltBytes)
        } catch {
            throw HashFault(error)
        }
        let key = [UInt8](repeating: 0, count: 32)
        switch scheme {
        case .argon2id(let memory, let passes, let lanes):
            let parameters = Argon2.Parameters(memory: memory, passes: passes, lanes: lanes)
            return Argon2(version: 0x13, kind: .argon2id, parameters: parameters, salt: salt, expected: key)
        case .scrypt(let logN, let r, let p):
            return Scrypt.Parameters(logN: logN, r: r, p: p).map { Scrypt(parameters: $0, salt: salt, expected: key) }
        case .pbkdf2SHA256(let iterations):
            return PBKDF2(function: .sha256, iterations: iterations, salt: salt, expected: key)
        case .pbkdf2SHA512(let iterations):
            return PBKDF2(function: .sha512, iterations: iterations, salt: salt, expected: key + key)
        case .yescrypt, .bcrypt, .sha512crypt: return nil
        }
    }
}

/// A derivative with a text that a policy may store.
protocol WritableDerivative: PasswordDerivative {
    /// The text of the same salt and cost with a key.
    ///
    /// - Parameter key: What was derived of the password.
    func text(_ key: [UInt8]) -> String
}
