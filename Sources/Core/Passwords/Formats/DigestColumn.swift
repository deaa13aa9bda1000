// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import OpenSSLKit

/// A column of a database with unsalted digests of passwords, or with passwords in clear text, as GlassFish's jdbc
/// realm stores them.
///
/// Such a column is never written: new passwords are hashed by a ``HashPolicy``. A text that begins with `$` or `{` is
/// therefore read as a hash of ``PasswordFormats``. A stored digest has exactly the length of the algorithm, so that an
/// empty or cut value matches no password, unlike in GlassFish.
package struct DigestColumn: Sendable, Hashable {
    package enum Encoding: String, Sendable, Hashable, CaseIterable {
        /// In upper or lower case.
        case hexadecimal = "Hex"
        /// With padding, also with line breaks after 76 characters as in MIME.
        case base64 = "Base64"
    }

    private static let algorithms = ["MD5", "SHA-1", "SHA-256", "SHA-384", "SHA-512", "none"]

    private let function: HashFunction?
    private let encoding: Encoding

    /// Creates a column of the digests of an algorithm, as Java names it, in upper or lower case; `none` is clear text.
    package init(algorithm: String, encoding: Encoding) throws(BadHash) {
        self.encoding = encoding
        switch algorithm.uppercased() {
        case "MD5": function = .md5
        case "SHA", "SHA1", "SHA-1": function = .sha1
        case "SHA-256", "SHA256": function = .sha256
        case "SHA-384", "SHA384": function = .sha384
        case "SHA-512", "SHA512": function = .sha512
        case "NONE": function = nil
        default: throw BadHash("is one of \(Self.algorithms.joined(separator: ", ")), not \(algorithm)")
        }
    }

    package var isClearText: Bool { function == nil }

    /// A hash with the cost of the column that no password matches; throws if the library fails.
    package var decoy: PasswordHash {
        get throws(BadHash) {
            guard let function else {
                return PasswordHash(algorithm: try SaltedDigest.clearText("decoy"), isDecoy: true)
            }
            let zeros = [UInt8](repeating: 0, count: function.byteCount)
            return PasswordHash(algorithm: digest(zeros, by: function), isDecoy: true)
        }
    }

    /// Reads the text of the column, with options for a hash of ``PasswordFormats``; throws if the text is empty, or not a
    /// complete digest.
    package func read(_ stored: String, options: FormatOptions = .init()) throws(BadHash) -> StoredPassword {
        if stored.utf8.first == UInt8(ascii: "$") || stored.utf8.first == UInt8(ascii: "{") {
            return try StoredPassword(stored, options: options)
        }
        guard let function else {
            guard (1...PasswordBounds.maximumLength).contains(stored.utf8.count) else {
                throw BadHash("the stored password is empty, or longer than \(PasswordBounds.maximumLength) bytes")
            }
            return StoredPassword(text: stored, hash: PasswordHash(algorithm: try SaltedDigest.clearText(stored)))
        }
        let bytes = encoding == .hexadecimal ? Hexadecimal.decode(stored) : Self.base64(stored)
        guard let bytes, bytes.count == function.byteCount else {
            throw BadHash(
                "the stored password is not a digest of \(function.byteCount) bytes (\(function.rawValue), "
                    + "\(encoding.rawValue)); it may be empty or cut off"
            )
        }
        return StoredPassword(text: stored, hash: PasswordHash(algorithm: digest(bytes, by: function)))
    }

    private func digest(_ bytes: [UInt8], by function: HashFunction) -> SaltedDigest {
        SaltedDigest(function: function, salt: [], storedHash: bytes)
    }

    private static func base64(_ text: String) -> [UInt8]? {
        Base64.padded.decode(Array(text.utf8.filter { $0 != 0x0D && $0 != 0x0A }).span)
    }
}
