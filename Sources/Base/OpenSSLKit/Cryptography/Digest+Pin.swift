// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// The text forms of the SHA-256 digest of a public key.
extension Digest {
    private static let pinPrefix = "sha256//"

    /// The digest in the form `sha256//` and Base64, as in curl's `--pinnedpubkey`.
    package var pin: String { Self.pinPrefix + Base64.padded.encode(bytes.span) }

    /// Reads a pin.
    ///
    /// - Parameter text: `sha256//` and Base64, or 64 hexadecimal digits, with or without colons between pairs. The result
    ///   is nil for any other text.
    package init?(pin text: String) {
        let bytes =
            text.hasPrefix(Self.pinPrefix)
            ? Base64.padded.decode(text.dropFirst(Self.pinPrefix.count)) : Self.hexadecimalBytes(text.lowercased())
        guard let bytes else { return nil }
        self.init(bytes: bytes)
    }

    private static func hexadecimalBytes(_ text: String) -> [UInt8]? {
        let pairs = text.split(separator: ":", omittingEmptySubsequences: false)
        let isInPairs = pairs.count == byteCount && pairs.allSatisfy { $0.utf8.count == 2 }
        return Hexadecimal.decodeLowercase(isInPairs ? pairs.joined() : text)
    }
}
