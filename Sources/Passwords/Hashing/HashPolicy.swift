// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit
public import RealmKit

/// The rule by which new passwords are hashed.
public struct HashPolicy: Sendable, Hashable {
    /// OWASP's minimum for Argon2id: 19 MiB, 2 passes, 1 lane; about 25 ms of one core.
    public static let standard = HashPolicy(.argon2id(memory: 19456, passes: 2, lanes: 1))

    /// The algorithm and the cost.
    public let scheme: HashScheme

    /// Creates a policy; with parameters out of bounds ``hash(_:)`` throws.
    ///
    /// - Parameter scheme: The algorithm and the cost.
    public init(_ scheme: HashScheme) {
        self.scheme = scheme
    }

    /// Hashes a new password with a new salt.
    ///
    /// - Parameter password: The password.
    /// - Returns: The text to store, which ``PasswordFormats/read(_:_:)`` reads.
    /// - Throws: ``HashFault``: `unusable` for an empty password, one of more than 1024 bytes, or one that the scheme
    ///   cannot take as a whole; `failed` if the library cannot compute the hash, or the parameters are out of bounds.
    public func hash(_ password: Secret) throws(HashFault) -> String {
        try PasswordBounds.check(password)
        guard !password.isEmpty else { throw HashFault(.unusable, "the password is empty") }
        if let fault = scheme.fault { throw HashFault(.failed, "\(scheme.name) \(fault)") }
        return try password.withBytes { bytes throws(HashFault) in try text(of: bytes) }
    }

    private func text(of password: Span<UInt8>) throws(HashFault) -> String {
        if let (method, setting) = try cryptSetting() {
            try Crypt.check(password, for: method)
            return try CryptLibrary.hash(password, setting: setting) { hash in
                unsafe hash.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
            }
        }
        guard let blank = try blank() else { throw HashFault(.failed, "\(scheme.name) is not supported") }
        // It is not wiped: the key is part of the stored text.
        var key = [UInt8](repeating: 0, count: blank.expected.count)
        var span = key.mutableSpan
        try blank.derive(password, into: &span)
        return blank.text(key)
    }

    /// Creates a hash of this policy's cost that no password matches.
    ///
    /// - Returns: The decoy; no hash is computed to make it.
    /// - Throws: ``HashFault`` with code `failed`: no random bytes, or parameters out of bounds.
    public func decoy() throws(HashFault) -> any PasswordHash {
        if let fault = scheme.fault { throw HashFault(.failed, "\(scheme.name) \(fault)") }
        let stored: String?
        if let (method, setting) = try cryptSetting() {
            // A dot stands for zero bits, so the unused bits at the end are zero, as the format requires.
            let digits = [.bcrypt: 31, .yescrypt: 43, .sha512crypt: 86][method] ?? 0
            let separator = method == .bcrypt || setting.hasSuffix("$") ? "" : "$"
            stored = setting + separator + String(repeating: ".", count: digits)
        } else {
            stored = try blank().map { $0.text($0.expected) }
        }
        guard let stored else { throw HashFault(.failed, "\(scheme.name) is not supported") }
        do {
            return try PasswordFormats.read(stored).decoy
        } catch {
            throw HashFault(.failed, error.description)
        }
    }
}

extension HashPolicy {
    private static let saltBytes = 16

    /// The method and a new setting, if crypt(3) computes the scheme.
    private func cryptSetting() throws(HashFault) -> (Crypt.Method, String)? {
        switch scheme {
        case .yescrypt(let cost): (.yescrypt, try CryptLibrary.setting("$y$", cost: cost))
        case .bcrypt(let cost): (.bcrypt, try CryptLibrary.setting("$2b$", cost: cost))
        case .sha512crypt(let rounds): (.sha512crypt, try CryptLibrary.setting("$6$", cost: rounds))
        case .argon2id, .scrypt, .pbkdf2SHA256, .pbkdf2SHA512: nil
        }
    }

    /// A hash with a new salt and a key of zeros, if crypt(3) does not compute the scheme.
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

extension HashPolicy {
    /// Returns whether a stored hash should be replaced: it is weaker than this policy, or of another scheme.
    ///
    /// A hash is weaker if it has less memory, fewer passes, rounds or iterations, a short salt or key, or an old
    /// version. A stronger hash of the same scheme is kept.
    ///
    /// - Parameter hash: The stored hash.
    /// - Returns: True if it should be replaced; false for a decoy, which belongs to no user.
    public func wantsRehash(of hash: any PasswordHash) -> Bool {
        guard let stored = hash as? StoredHash else { return true }
        if stored.isDecoy { return false }
        return stored.algorithm.scheme?.isWeaker(than: scheme) ?? true
    }
}
