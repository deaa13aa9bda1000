// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Random bytes for keys, from OpenSSL's generator (RAND_bytes(3)).
public enum RandomBytes {
    /// Makes `count` random bytes.
    ///
    /// - Throws: ``OpenSSLError`` with code `libraryFailure` if the generator has no entropy. No other generator is used.
    public static func make(_ count: Int) throws(OpenSSLError) -> [UInt8] {
        guard let length = Int32(exactly: count), length >= 0 else {
            throw OpenSSLError(.invalidConfiguration, context: "\(count) random bytes")
        }
        var bytes = [UInt8](repeating: 0, count: count)
        ErrorQueue.clear()
        guard unsafe RAND_bytes(&bytes, length) == 1 else {
            throw .draining(.libraryFailure, context: "random bytes")
        }
        return bytes
    }
}

/// Returns whether two byte strings are equal.
///
/// The time depends only on their lengths.
public func constantTimeEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    return unsafe left.withUnsafeBufferPointer { left in
        unsafe right.withUnsafeBufferPointer { right in
            unsafe CRYPTO_memcmp(left.baseAddress, right.baseAddress, left.count) == 0
        }
    }
}

/// Returns whether two byte strings are equal.
///
/// The time depends only on their lengths.
public func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    constantTimeEqual(left.span, right.span)
}

/// The version of OpenSSL.
public enum OpenSSLVersion {
    /// The version of the library that the process has loaded, such as `OpenSSL 3.0.17 1 Jul 2025`.
    ///
    /// It can be newer than the version with which the program was built.
    public static var loaded: String { unsafe String(cString: OpenSSL_version(OPENSSL_VERSION)) }
}
