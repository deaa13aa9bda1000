// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit

/// A hash of crypt(3).
///
/// A check hashes the password with the stored text as the setting. It then compares the result with the stored text.
struct Crypt: PasswordAlgorithm {
    /// A method of crypt(3).
    enum Method: String, Sendable {
        case bcrypt, bsdicrypt, descrypt, md5crypt, nt, sha1crypt, sha256crypt, sha512crypt, sunmd5, yescrypt
        case gostYescrypt = "gost-yescrypt"
        /// scrypt in the format `$7$`.
        ///
        /// libxcrypt computes it, not OpenSSL, so its cost differs from that of ``Scrypt``.
        case scrypt7

        /// The length to which crypt(3) truncates a longer password silently, in bytes; nil if it does not.
        var truncatesAfter: Int? {
            switch self {
            case .bcrypt: 72
            case .descrypt: 8
            case .bsdicrypt, .md5crypt, .nt, .sha1crypt, .sha256crypt, .sha512crypt, .sunmd5, .yescrypt, .gostYescrypt,
                .scrypt7:
                nil
            }
        }

        /// The maximum length of a password, in bytes.
        var maximumLength: Int { truncatesAfter ?? CryptLibrary.maximumLength }

        /// True if the method ignores the eighth bit of every byte.
        var isSevenBit: Bool { self == .descrypt || self == .bsdicrypt }
    }

    let method: Method
    /// The stored text, checked by ``CryptFormat``.
    let stored: String
    /// The parameters that determine the cost, such as `cost=12`.
    var parameters = ""
    /// The estimated time of a check.
    var time = Duration.zero
    /// The memory that a check takes, in bytes.
    var memory = 0
    var scheme: HashScheme?
    /// True if the part of a password that the method ignores is ignored, and the password is not rejected.
    var truncates = false

    var truncatesAfter: Int? { method.truncatesAfter }

    var truncating: any PasswordAlgorithm {
        var crypt = self
        crypt.truncates = true
        return crypt
    }

    func ignoresPart(of password: Span<UInt8>) -> Bool {
        password.count > method.truncatesAfter ?? password.count
            || method.isSevenBit && password.indices.contains { password[$0] >= 0x80 }
    }

    var cost: HashCost { HashCost(format: method.rawValue, parameters: parameters, memory: memory, time: time) }

    func isDerived(from password: Span<UInt8>) throws(HashFault) -> Bool {
        let password = truncates ? password.extracting(first: method.truncatesAfter ?? password.count) : password
        try Self.check(password, for: method, ignoringBits: truncates)
        let stored = Array(stored.utf8)
        return try CryptLibrary.hash(password, setting: self.stored) { constantTimeEqual($0, stored.span) }
    }

    /// Rejects a password if the method would ignore a part of it.
    ///
    /// - Throws: ``HashFault`` with code `unusable`.
    static func check(
        _ password: Span<UInt8>,
        for method: Method,
        ignoringBits: Bool = false
    ) throws(HashFault) {
        guard password.count <= method.maximumLength else {
            throw HashFault(
                .unusable,
                "the password has \(password.count) bytes; \(method.rawValue) takes at most \(method.maximumLength)"
            )
        }
        for index in password.indices {
            guard password[index] != 0 else {
                throw HashFault(.unusable, "the password contains a NUL byte, where \(method.rawValue) stops")
            }
            guard password[index] < 0x80 || !method.isSevenBit || ignoringBits else {
                throw HashFault(
                    .unusable,
                    "the password is not ASCII, and \(method.rawValue) ignores the eighth bit of each byte"
                )
            }
        }
    }
}
