// SPDX-License-Identifier: Apache-2.0

internal import CCrypt
internal import LibC
internal import OpenSSLKit

/// A hash of crypt(3): a check hashes the password with the stored text as the setting, and compares both texts.
struct Crypt: PasswordAlgorithm {
    enum Method: String, Sendable {
        case bcrypt, bsdicrypt, descrypt, md5crypt, nt, sha1crypt, sha256crypt, sha512crypt, sunmd5, yescrypt
        case gostYescrypt = "gost-yescrypt"
        /// scrypt in the format `$7$`: libxcrypt computes it, not OpenSSL, so its cost differs from that of ``Scrypt``.
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

        var maximumLength: Int { truncatesAfter ?? CryptLibrary.maximumLength }

        /// True if the method ignores the eighth bit of every byte.
        var isSevenBit: Bool { self == .descrypt || self == .bsdicrypt }
    }

    let method: Method
    /// The stored text, checked by ``CryptFormat``.
    let stored: String
    var parameters = ""
    var time = Duration.zero
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

    /// Throws `unusable` if the method would ignore a part of a password.
    static func check(_ password: Span<UInt8>, for method: Method, ignoringBits: Bool = false) throws(HashFault) {
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

/// The function crypt(3) of libxcrypt; every call has its own memory, so several threads can call it at the same time.
enum CryptLibrary {
    /// The maximum length of a password, in bytes.
    static let maximumLength = Int(gatehouse_crypt_max_passphrase)

    /// Hashes a password without a NUL byte, and wipes the hash after `body`; throws `unusable` for a bad setting.
    static func hash<R>(
        _ password: Span<UInt8>,
        setting: String,
        reading body: (Span<UInt8>) -> R
    ) throws(HashFault) -> R {
        let phrase = WipedBytes(terminating: password)
        let data = WipedBytes(count: Int(gatehouse_crypt_data_size))
        var failure: Int32 = 0
        errno = 0
        let result: R? = unsafe phrase.withPointer { phrase in
            unsafe data.withPointer { data in
                unsafe setting.withCString { setting in
                    guard let phrase = unsafe phrase?.assumingMemoryBound(to: CChar.self),
                        let output = unsafe crypt_rn(phrase, setting, data, gatehouse_crypt_data_size),
                        // After a failure the result begins with an asterisk.
                        unsafe output.pointee != CChar(bitPattern: UInt8(ascii: "*"))
                    else {
                        failure = errno
                        return nil
                    }
                    var count = 0
                    while unsafe output[count] != 0 { count += 1 }
                    return body(
                        unsafe Span(
                            _unsafeStart: UnsafeRawPointer(output).assumingMemoryBound(to: UInt8.self),
                            count: count
                        )
                    )
                }
            }
        }
        guard let result else {
            // Such a hash refuses its user, and not all users, who have a check of the same cost.
            guard failure == ENOMEM else { throw HashFault(.unusable, "crypt(3) does not accept the stored hash") }
            throw HashFault(.failed, "crypt(3) has no memory for the hash")
        }
        return result
    }

    /// Creates a setting with a new salt for the method of a prefix such as `$2b$`.
    static func setting(_ prefix: String, cost: Int) throws -> String {
        let characters = try RandomBytes.make(16).map { CChar(bitPattern: $0) }
        var output = [CChar](repeating: 0, count: Int(CRYPT_GENSALT_OUTPUT_SIZE))
        let made = unsafe crypt_gensalt_rn(
            prefix,
            UInt(clamping: cost),
            characters,
            Int32(characters.count),
            &output,
            CRYPT_GENSALT_OUTPUT_SIZE
        )
        guard unsafe made != nil else { throw HashFault(.failed, "crypt(3) does not accept a cost of \(cost)") }
        return String(decoding: output.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
