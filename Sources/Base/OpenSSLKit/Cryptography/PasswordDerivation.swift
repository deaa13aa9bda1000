// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Functions that derive keys from passwords, with configurable cost.
public enum PasswordDerivation {
    /// Derives a key by PBKDF2 with HMAC, RFC 8018 section 5.2.
    ///
    /// - Parameters:
    ///   - password: The password; any number of bytes.
    ///   - salt: The salt; any number of bytes.
    ///   - function: The hash function of the HMAC.
    ///   - iterations: The number of iterations, 1 or more.
    ///   - key: The buffer for the key. Its length is the length of the key.
    /// - Throws: ``OpenSSLError`` with code `invalidConfiguration` for numbers out of range, or with code
    ///   `libraryFailure`.
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
        else {
            throw OpenSSLError(.invalidConfiguration, context: "PBKDF2 of \(iterations) iterations")
        }
        guard let algorithm = unsafe function.algorithm else {
            throw .draining(.libraryFailure, context: function.rawValue)
        }
        let done = unsafe withCharacters(password) { password in
            unsafe salt.withUnsafeBufferPointer { salt in
                unsafe key.withUnsafeMutableBufferPointer { key in
                    unsafe PKCS5_PBKDF2_HMAC(
                        password,
                        passwordCount,
                        salt.baseAddress,
                        saltCount,
                        count,
                        algorithm,
                        keyCount,
                        key.baseAddress
                    )
                }
            }
        }
        guard done == 1 else { throw .draining(.libraryFailure, context: "PBKDF2") }
    }

    /// Derives a key by scrypt, RFC 7914.
    ///
    /// - Parameters:
    ///   - password: The password; any number of bytes.
    ///   - salt: The salt; any number of bytes.
    ///   - n: The cost N, a power of two greater than 1.
    ///   - r: The block size.
    ///   - p: The parallelization parameter. OpenSSL computes the parts one after the other.
    ///   - maximumMemory: The maximum number of bytes of memory. Parameters that need more memory are rejected.
    ///   - key: The buffer for the key. Its length is the length of the key.
    /// - Throws: ``OpenSSLError`` with code `libraryFailure` if RFC 7914 forbids the parameters or they need too much
    ///   memory.
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
        let done = unsafe withCharacters(password) { characters in
            unsafe salt.withUnsafeBufferPointer { salt in
                unsafe key.withUnsafeMutableBufferPointer { key in
                    unsafe EVP_PBE_scrypt(
                        characters,
                        password.count,
                        salt.baseAddress,
                        salt.count,
                        n,
                        r,
                        p,
                        maximumMemory,
                        key.baseAddress,
                        key.count
                    )
                }
            }
        }
        guard done == 1 else { throw .draining(.libraryFailure, context: "scrypt") }
    }

    /// Calls `body` with a pointer to bytes as characters.
    ///
    /// The pointer is never null, because OpenSSL would treat an empty password as missing.
    private static func withCharacters(_ bytes: Span<UInt8>, _ body: (UnsafePointer<CChar>?) -> Int32) -> Int32 {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress, !bytes.isEmpty else { return unsafe "".withCString(body) }
            return unsafe start.withMemoryRebound(to: CChar.self, capacity: bytes.count, body)
        }
    }
}
