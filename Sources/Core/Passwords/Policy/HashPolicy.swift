// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit
public import RealmKit

/// The algorithm and cost with which new passwords are hashed.
public struct HashPolicy: Sendable, Hashable {
    /// OWASP's minimum for Argon2id: 19 MiB, 2 passes, 1 lane, which takes about 25 ms on one core.
    public static let standard = HashPolicy(.argon2id(memory: 19456, passes: 2, lanes: 1))

    /// The algorithm and the cost.
    public let scheme: HashScheme

    /// Creates a policy; if the parameters are out of bounds, ``hash(_:)`` throws.
    public init(_ scheme: HashScheme) { self.scheme = scheme }

    /// Hashes a new password with a new salt, and returns the text to store.
    ///
    /// - Throws: ``HashFault``. The code is `unusable` if the password is empty or has more than 1024 bytes, or if the
    ///   scheme would ignore a part of it. The code is `failed` if the library cannot compute the hash, or the
    ///   parameters are out of bounds.
    public func hash(_ password: Secret) throws(HashFault) -> String {
        try PasswordBounds.check(password)
        guard !password.isEmpty else { throw HashFault(.unusable, "the password is empty") }
        if let fault = scheme.boundsFault { throw HashFault(.failed, "\(scheme.name) \(fault)") }
        do {
            return try password.withBytes { try text(of: $0) }
        } catch {
            throw HashFault(error)
        }
    }

    private func text(of password: Span<UInt8>) throws -> String {
        if let (method, setting) = try cryptSetting() {
            try Crypt.check(password, for: method)
            return try CryptLibrary.hash(password, setting: setting) { hash in
                unsafe hash.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
            }
        }
        guard let template = try template() else { throw HashFault(.failed, "\(scheme.name) is not supported") }
        // The key is part of the stored text, so it is not wiped.
        var key = [UInt8](repeating: 0, count: template.storedHash.count)
        var span = key.mutableSpan
        try template.derive(password, into: &span)
        return template.text(key)
    }

    /// Creates a decoy, a hash with the cost of this policy that no password matches, without computing a hash.
    ///
    /// - Throws: ``HashFault`` with code `failed`: no random bytes can be generated, or parameters are out of bounds.
    public func decoy() throws(HashFault) -> PasswordHash {
        if let fault = scheme.boundsFault { throw HashFault(.failed, "\(scheme.name) \(fault)") }
        do {
            return try PasswordFormats.read(decoyText()).decoy
        } catch {
            throw HashFault(error)
        }
    }

    private func decoyText() throws -> String {
        if let (method, setting) = try cryptSetting() {
            // A dot encodes zero bits. The pad bits at the end are therefore zero, as the format requires.
            let digits = [.bcrypt: 31, .yescrypt: 43, .sha512crypt: 86][method] ?? 0
            let separator = method == .bcrypt || setting.hasSuffix("$") ? "" : "$"
            return setting + separator + String(repeating: ".", count: digits)
        }
        guard let template = try template() else { throw HashFault(.failed, "\(scheme.name) is not supported") }
        return template.text(template.storedHash)
    }

    /// Returns whether a stored hash should be replaced because it is weaker than this policy, or has another scheme.
    ///
    /// A hash is weaker if it has less memory, fewer passes, rounds or iterations, a shorter salt or key, or an older
    /// version. A stronger hash of the same scheme is not replaced, nor a decoy, which belongs to no user.
    public func needsRehash(of hash: PasswordHash) -> Bool {
        !hash.isDecoy && (hash.algorithm.scheme?.isWeaker(than: scheme) ?? true)
    }

    /// Returns whether hashes of this policy cover a password as a whole; otherwise ``hash(_:)`` rejects it.
    ///
    /// A realm with ``FormatOptions/acceptsTruncated`` must reject a password that its hash covers in part only
    /// (``PasswordHash/ignoresPart(of:)``), if it cannot replace the hash by one of the whole password.
    public func covers(_ password: Secret) -> Bool {
        switch scheme {
        case .bcrypt: password.count <= Crypt.Method.bcrypt.maximumLength
        case .yescrypt, .sha512crypt: password.count <= CryptLibrary.maximumLength
        case .argon2id, .scrypt, .pbkdf2SHA256, .pbkdf2SHA512: true
        }
    }

    /// The warning for the administrator that this policy is weak; nil for a policy that is strong enough.
    ///
    /// The minimums are from OWASP's Password Storage Cheat Sheet. It has none for yescrypt and SHA-512 crypt: here they are
    /// 16 MiB, the default of libxcrypt, and 210 000 rounds, the sheet's minimum for PBKDF2 with HMAC-SHA-512.
    public var warning: String? {
        guard let minimum = scheme.minimum else { return nil }
        return "\(self) is weak; the minimum is \(minimum)"
    }
}

/// The rules for new passwords, which a program provides to its realms in ``RealmServices``.
public struct NewPasswordRules: Sendable, Hashable {
    /// The minimum number of characters.
    ///
    /// The default is 8, the minimum of NIST SP 800-63B and ASVS 6.2.1. Both advise against composition rules, such as
    /// required digits.
    public var minimumLength = 8

    /// Creates the default rules.
    public init() {}

    /// Throws ``HashFault`` with the code `unusable` if a new password is too short, or has a control character.
    public func check(_ password: Secret) throws(HashFault) {
        guard !password.hasControlCharacter else {
            throw HashFault(.unusable, "a password cannot have control characters, such as a tab")
        }
        let length = password.withBytes { bytes in
            // In UTF-8, each character has exactly one byte that is not a continuation byte.
            bytes.indices.count { bytes[$0] & 0xC0 != 0x80 }
        }
        guard length >= max(1, minimumLength) else {
            throw HashFault(.unusable, "a password must have at least \(max(1, minimumLength)) characters")
        }
    }

    /// Returns why a new password is refused, as a text for the user; nil if it is accepted.
    public func refusal(of password: Secret) -> String? {
        do throws(HashFault) { try check(password) } catch {
            return "The new password was not accepted: \(error.description)"
        }
        return nil
    }
}

extension HashScheme {
    /// The minimum parameters, if the scheme is below them.
    fileprivate var minimum: String? {
        switch self {
        case .argon2id(let memory, let passes, _):
            // The sheet's pairs of passes and memory in MiB. With more passes less memory is enough.
            let pairs = [(1, 46), (2, 19), (3, 12), (4, 9), (5, 7)]
            let isEnough = pairs.contains { passes >= $0.0 && memory >= $0.1 << 10 }
            return isEnough ? nil : "memory=19MiB passes=2, or memory=46MiB passes=1"
        case .yescrypt(let cost): return cost >= 5 ? nil : "cost=5"
        case .bcrypt(let cost): return cost >= 10 ? nil : "cost=10"
        case .sha512crypt(let rounds): return rounds >= 210_000 ? nil : "rounds=210000"
        case .scrypt(let logN, let r, let p):
            // The sheet's pairs of log N and p, for r=8.
            let pairs = [(17, 1), (16, 2), (15, 3), (14, 5), (13, 10)]
            let isEnough = pairs.contains { logN >= $0.0 && p >= $0.1 && r >= 8 }
            return isEnough ? nil : "ln=17 r=8 p=1"
        case .pbkdf2SHA256(let iterations): return iterations >= 600_000 ? nil : "iterations=600000"
        case .pbkdf2SHA512(let iterations): return iterations >= 210_000 ? nil : "iterations=210000"
        }
    }
}

extension HashPolicy {
    /// Returns the method and a new setting if crypt(3) computes the scheme.
    private func cryptSetting() throws -> (Crypt.Method, String)? {
        switch scheme {
        case .yescrypt(let cost): (.yescrypt, try CryptLibrary.setting("$y$", cost: cost))
        case .bcrypt(let cost): (.bcrypt, try CryptLibrary.setting("$2b$", cost: cost))
        case .sha512crypt(let rounds): (.sha512crypt, try CryptLibrary.setting("$6$", cost: rounds))
        case .argon2id, .scrypt, .pbkdf2SHA256, .pbkdf2SHA512: nil
        }
    }

    /// Returns a hash with a new salt and a key of zeros; nil if crypt(3) computes the scheme.
    private func template() throws -> (any StorableKeyDerivation)? {
        let salt = try RandomBytes.make(16)
        let key = [UInt8](repeating: 0, count: 32)
        switch scheme {
        case .argon2id(let memory, let passes, let lanes):
            let parameters = Argon2.Parameters(memory: memory, passes: passes, lanes: lanes)
            return Argon2(version: 0x13, kind: .argon2id, parameters: parameters, salt: salt, storedHash: key)
        case .scrypt(let logN, let r, let p):
            return Scrypt.Parameters(logN: logN, r: r, p: p).map { Scrypt(parameters: $0, salt: salt, storedHash: key) }
        case .pbkdf2SHA256(let iterations):
            return PBKDF2(function: .sha256, iterations: iterations, salt: salt, storedHash: key)
        case .pbkdf2SHA512(let iterations):
            return PBKDF2(function: .sha512, iterations: iterations, salt: salt, storedHash: key + key)
        case .yescrypt, .bcrypt, .sha512crypt: return nil
        }
    }
}
