// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import COpenSSL

/// A SHA-256 digest (FIPS 180-4) or an HMAC-SHA-256 tag (RFC 2104) of 32 bytes.
///
/// `==` compares in constant time, so it can be used for tags.
public struct Digest: Sendable {
    /// The length of a digest in bytes.
    public static let byteCount = 32

    // Four words and not an array, because digests are the keys of caches and must not allocate memory.
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    /// Computes the SHA-256 digest of bytes.
    ///
    /// - Throws: ``OpenSSLError`` with code `libraryFailure` if no provider offers SHA-256.
    public static func sha256(_ bytes: Span<UInt8>) throws(OpenSSLError) -> Digest {
        ErrorQueue.clear()
        return try unsafe Digest { output throws(OpenSSLError) in
            let done = unsafe bytes.withUnsafeBufferPointer { input in
                unsafe EVP_Digest(input.baseAddress, input.count, output, nil, Algorithms.shared.sha256, nil)
            }
            guard done == 1 else { throw .failed("SHA-256") }
        }
    }

    /// Computes the SHA-256 digest of bytes.
    ///
    /// - Throws: ``OpenSSLError`` with code `libraryFailure` if no provider offers SHA-256.
    public static func sha256(_ bytes: [UInt8]) throws(OpenSSLError) -> Digest { try sha256(bytes.span) }

    /// Creates a digest from its stored ``bytes``; nil if they are not 32.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        unsafe withUnsafeMutableBytes(of: &words) { unsafe $0.copyBytes(from: bytes) }
    }

    /// Creates a digest of 32 bytes that `fill` writes.
    init(fill: (UnsafeMutablePointer<UInt8>) throws(OpenSSLError) -> Void) throws(OpenSSLError) {
        try unsafe withUnsafeMutableBytes(of: &words) { raw throws(OpenSSLError) in
            guard let start = unsafe raw.assumingMemoryBound(to: UInt8.self).baseAddress else { return }
            try unsafe fill(start)
        }
    }

    /// The 32 bytes.
    public var bytes: [UInt8] { unsafe withUnsafeBytes(of: words) { unsafe Array($0) } }

    /// Calls a closure with the 32 bytes, without a copy.
    public func withBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        unsafe withUnsafeBytes(of: words) { unsafe body(Span(_unsafeBytes: $0)) }
    }

    /// The bytes as 64 lower-case hexadecimal digits.
    public var hex: String { withBytes { Hexadecimal.encode($0) } }

    /// The bytes in the form of `openssl x509 -fingerprint`: upper-case hexadecimal pairs, separated by colons.
    public var fingerprint: String {
        let pairs = bytes.map { [Hexadecimal.uppercaseDigit(of: $0 >> 4), Hexadecimal.uppercaseDigit(of: $0 & 15)] }
        return String(decoding: Array(pairs.joined(separator: [UInt8(ascii: ":")])), as: UTF8.self)
    }
}

extension Digest: Hashable {
    /// Compares all 32 bytes in constant time.
    public static func == (left: Digest, right: Digest) -> Bool {
        (left.words.0 ^ right.words.0) | (left.words.1 ^ right.words.1)
            | (left.words.2 ^ right.words.2) | (left.words.3 ^ right.words.3) == 0
    }

    /// Hashes the first word, which is enough because the words of digests are uniformly distributed.
    public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

/// The algorithms of OpenSSL, fetched once per process because OpenSSL 3 would look them up by name in every call.
@safe
struct Algorithms: @unchecked Sendable {
    // Unchecked because of the pointers. Fetched method tables are immutable and exist as long as the process.
    static let shared = Algorithms()

    let md5: OpaquePointer?
    let sha1: OpaquePointer?
    let sha256: OpaquePointer?
    let sha384: OpaquePointer?
    let sha512: OpaquePointer?
    let aes256CBC: OpaquePointer?

    private init() {
        unsafe md5 = EVP_MD_fetch(nil, "MD5", nil)
        unsafe sha1 = EVP_MD_fetch(nil, "SHA1", nil)
        unsafe sha256 = EVP_MD_fetch(nil, "SHA256", nil)
        unsafe sha384 = EVP_MD_fetch(nil, "SHA384", nil)
        unsafe sha512 = EVP_MD_fetch(nil, "SHA512", nil)
        unsafe aes256CBC = EVP_CIPHER_fetch(nil, "AES-256-CBC", nil)
    }
}

extension Digest {
    /// Computes the SHA-256 digest of several fields.
    ///
    /// Each field is preceded by its length: 8 bytes, the least significant first. So different lists of fields never
    /// have the same bytes (CVE-2026-71326).
    ///
    /// - Throws: ``OpenSSLError`` with code `libraryFailure` if no provider offers SHA-256.
    public static func sha256(fields: [String]) throws(OpenSSLError) -> Digest {
        var message: [UInt8] = []
        defer { for index in message.indices { message[index] = 0 } }
        for field in fields {
            unsafe withUnsafeBytes(of: UInt64(field.utf8.count).littleEndian) { unsafe message.append(contentsOf: $0) }
            message.append(contentsOf: field.utf8)
        }
        return try sha256(message)
    }

    private static let pinPrefix = "sha256//"

    /// The digest in the form `sha256//` and Base64, as in curl's `--pinnedpubkey`.
    public var pin: String { Self.pinPrefix + Base64.padded.encode(bytes.span) }

    /// Reads the digest of a public key: `sha256//` and Base64, or 64 hexadecimal digits, with or without colons between
    /// pairs; nil for any other text.
    public init?(pin text: String) {
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
