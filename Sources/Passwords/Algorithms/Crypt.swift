// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit

/// A hash of crypt(3): computed anew with the stored text as its setting, and compared as a whole.
struct Crypt: PasswordAlgorithm {
    /// A method of crypt(3), by what it can take.
    enum Method: String, Sendable {
        case bcrypt, bsdicrypt, descrypt, md5crypt, nt, sha1crypt, sha256crypt, sha512crypt, sunmd5, yescrypt
        case gostYescrypt = "gost-yescrypt"
        /// `$7$`; not ``Scrypt``, which another library computes in another time.
        case scrypt7

        /// The longest password it takes as a whole; crypt(3) would cut the others without a word.
        var mostBytes: Int {
            switch self {
            case .bcrypt: 72
            case .descrypt: 8
            case .bsdicrypt, .md5crypt, .nt, .sha1crypt, .sha256crypt, .sha512crypt, .sunmd5, .yescrypt, .gostYescrypt,
                .scrypt7:
                CryptLibrary.mostBytes
            }
        }

        /// Whether it drops the eighth bit of every byte.
        var isSevenBit: Bool { self == .descrypt || self == .bsdicrypt }
    }

    let method: Method
    /// The stored text, checked by ``CryptFormat``.
    let stored: String
    /// What the method's cost is, as in `cost=12`.
    var parameters = ""
    /// What it takes in bytes.
    var memory = 0
    var scheme: HashPolicy.Scheme?

    var cost: HashCost { HashCost(format: method.rawValue, parameters: parameters, memory: memory) }

    func isDerived(from password: Span<UInt8>) throws(HashFault) -> Bool {
        try Self.check(password, for: method)
        let stored = Array(stored.utf8)
        return try CryptLibrary.hash(password, self.stored) { constantTimeEqual($0, stored.span) }
    }

    /// Refuses a password that the method would take in part only.
    ///
    /// - Throws: ``HashFault`` with code `unusable`.
    static func check(_ password: Span<UInt8>, for method: Method) throws(HashFault) {
        guard password.count <= method.mostBytes else {
            throw HashFault(
                .unusable,
                "the password has \(password.count) bytes; \(method.rawValue) takes \(method.mostBytes) at most"
            )
        }
        for index in password.indices {
            guard password[index] != 0 else {
                throw HashFault(.unusable, "the password has a NUL, at which \(method.rawValue) would stop")
            }
            guard password[index] < 0x80 || !method.isSevenBit else {
                throw HashFault(
                    .unusable,
                    "the password is not of ASCII, of which alone \(method.rawValue) takes all bits"
                )
            }
        }
    }
}
