// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Bytes
internal import OpenSSLKit

/// The text forms of the SHA-256 digest of a public key.
enum KeyFingerprint {
    private static let prefix = "sha256//"

    /// Returns a digest in the form `sha256//BASE64`.
    static func text(_ digest: Digest) -> String { prefix + Base64.padded.encode(digest.bytes.span) }

    /// Reads a digest.
    ///
    /// - Parameter text: `sha256//` and Base64, or 64 hexadecimal digits, with or without colons between pairs.
    /// - Returns: The digest; nil for any other text.
    static func digest(_ text: String) -> Digest? {
        if text.hasPrefix(prefix) {
            return Base64.padded.decode(text.dropFirst(prefix.count)).flatMap { Digest(bytes: $0) }
        }
        let pairs = text.lowercased().split(separator: ":", omittingEmptySubsequences: false)
        let isInPairs = pairs.count == Digest.byteCount && pairs.allSatisfy { $0.utf8.count == 2 }
        let digits = isInPairs ? pairs.joined() : text.lowercased()
        return Hexadecimal.decodeLowercase(digits).flatMap { Digest(bytes: $0) }
    }
}
