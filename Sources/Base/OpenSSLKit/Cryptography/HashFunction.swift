// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// A hash function; broken functions are included, because stored passwords use them.
public enum HashFunction: String, Sendable, Hashable, CaseIterable {
    /// MD5, RFC 1321; broken.
    case md5 = "MD5"
    /// SHA-1, FIPS 180-4; broken.
    case sha1 = "SHA1"
    /// SHA-256, FIPS 180-4.
    case sha256 = "SHA256"
    /// SHA-384, FIPS 180-4.
    case sha384 = "SHA384"
    /// SHA-512, FIPS 180-4.
    case sha512 = "SHA512"

    /// The number of bytes of a digest.
    public var byteCount: Int {
        switch self {
        case .md5: 16
        case .sha1: 20
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    /// OpenSSL's method table for the function; nil if no provider offers the function.
    var algorithm: OpaquePointer? {
        switch self {
        case .md5: unsafe Algorithms.shared.md5
        case .sha1: unsafe Algorithms.shared.sha1
        case .sha256: unsafe Algorithms.shared.sha256
        case .sha384: unsafe Algorithms.shared.sha384
        case .sha512: unsafe Algorithms.shared.sha512
        }
    }
}

/// A message whose digest is computed; OpenSSL wipes the state when the object is released.
@safe
public struct Hashing: ~Copyable {
    private let function: HashFunction
    private let context: OpaquePointer

    /// Begins a message.
    ///
    /// - Throws: ``OpenSSLError`` with code `libraryFailure` if no provider offers the function, such as MD5 in FIPS
    ///   mode.
    public init(_ function: HashFunction) throws(OpenSSLError) {
        ErrorQueue.clear()
        let context = unsafe EVP_MD_CTX_new()
        guard let context = unsafe context, unsafe Self.begin(function, context: context) else {
            unsafe EVP_MD_CTX_free(context)
            throw .failed(function.rawValue)
        }
        unsafe self.context = context
        self.function = function
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    private static func begin(_ function: HashFunction, context: OpaquePointer) -> Bool {
        guard let algorithm = unsafe function.algorithm else { return false }
        return unsafe EVP_DigestInit_ex2(context, algorithm, nil) == 1
    }

    /// Adds bytes to the message.
    ///
    /// - Throws: ``OpenSSLError`` with code `libraryFailure`.
    public mutating func append(_ bytes: Span<UInt8>) throws(OpenSSLError) {
        let done = unsafe bytes.withUnsafeBufferPointer { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
        guard done == 1 else { throw .failed(function.rawValue) }
    }

    /// Writes the digest into a buffer of ``HashFunction/byteCount`` bytes, and begins a new message.
    ///
    /// - Throws: ``OpenSSLError`` with code `invalidConfiguration` for a buffer of another length, or `libraryFailure`.
    public mutating func finish(into digest: inout MutableSpan<UInt8>) throws(OpenSSLError) {
        guard digest.count == function.byteCount else {
            throw .invalid("\(digest.count) bytes for \(function.rawValue)")
        }
        let done = unsafe digest.withUnsafeMutableBufferPointer { bytes in
            unsafe EVP_DigestFinal_ex(context, bytes.baseAddress, nil)
        }
        guard done == 1, unsafe Self.begin(function, context: context) else { throw .failed(function.rawValue) }
    }
}
