// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Functions that derive keys from passwords, with configurable cost.
public enum PasswordDerivation {
    /// Derives a key by PBKDF2 with HMAC, RFC 8018 section 5.2.
    ///
    /// The key is as long as its buffer.
    ///
    /// - Throws: ``OpenSSLError`` with code `invalidConfiguration` for numbers out of range, or `libraryFailure`.
    public static func pbkdf2(
        _ password: Span<UInt8>,
        salt: Span<UInt8>,
        function: HashFunction,
        iterations: Int,
        into key: inout MutableSpan<UInt8>
    ) throws(OpenSSLError) {
        ErrorQueue.clear()
        guard let passwordCount = Int32(exactly: password.count), let saltCount = Int32(exactly: salt.count),
            let keyCount = Int32(exactly: key.count), let count = Int32(exactly: iterations), count > 0, keyCount > 0
        else { throw .invalid("PBKDF2 of \(iterations) iterations") }
        guard let algorithm = unsafe function.algorithm else { throw .failed(function.rawValue) }
        try unsafe derive(password, salt: salt, into: &key, by: "PBKDF2") { password, salt, key in
            let (salt, key) = (salt.baseAddress, key.baseAddress)
            return unsafe PKCS5_PBKDF2_HMAC(password, passwordCount, salt, saltCount, count, algorithm, keyCount, key)
        }
    }

    /// Derives a key by scrypt, RFC 7914.
    ///
    /// N is a power of two greater than 1. OpenSSL computes the p parts one after the other. The key is as long as its
    /// buffer.
    ///
    /// - Throws: ``OpenSSLError`` with code `libraryFailure` if RFC 7914 forbids the parameters, or they need more than
    ///   `maximumMemory` bytes.
    public static func scrypt(
        _ password: Span<UInt8>,
        salt: Span<UInt8>,
        n: UInt64,
        r: UInt64,
        p: UInt64,
        maximumMemory: UInt64,
        into key: inout MutableSpan<UInt8>
    ) throws(OpenSSLError) {
        ErrorQueue.clear()
        let count = password.count
        try unsafe derive(password, salt: salt, into: &key, by: "scrypt") { password, salt, key in
            let (start, result) = (salt.baseAddress, key.baseAddress)
            return unsafe EVP_PBE_scrypt(password, count, start, salt.count, n, r, p, maximumMemory, result, key.count)
        }
    }

    /// Calls a function of OpenSSL with the password as characters, never null: a null password would count as missing.
    private static func derive(
        _ password: Span<UInt8>,
        salt: Span<UInt8>,
        into key: inout MutableSpan<UInt8>,
        by name: String,
        _ body: (UnsafePointer<CChar>, UnsafeBufferPointer<UInt8>, UnsafeMutableBufferPointer<UInt8>) -> Int32
    ) throws(OpenSSLError) {
        let done = unsafe salt.withUnsafeBufferPointer { salt in
            unsafe key.withUnsafeMutableBufferPointer { key in
                unsafe password.withUnsafeBufferPointer { password in
                    guard let start = password.baseAddress, !password.isEmpty else {
                        return unsafe "".withCString { unsafe body($0, salt, key) }
                    }
                    return unsafe start.withMemoryRebound(to: CChar.self, capacity: password.count) {
                        unsafe body($0, salt, key)
                    }
                }
            }
        }
        guard done == 1 else { throw .failed(name) }
    }
}
