// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// A key of session tickets: a name of 16 bytes, an HMAC-SHA-256 key of 32 bytes and an AES-256 key of 32 bytes.
///
/// The key is wiped when the object is released.
@safe
final class TicketKey: @unchecked Sendable {
    // Unchecked because of the pointer. The bytes are written in init and only read afterwards.
    static let byteCount = 80
    private static let nameCount = 16
    private static let partCount = 32

    private let bytes: UnsafeMutablePointer<UInt8>
    /// The time when the key was made, in seconds since 1970-01-01 00:00 UTC.
    let creationTime: Int64

    /// Creates a random key.
    convenience init(creationTime: Int64) throws(OpenSSLError) {
        try unsafe self.init(creationTime: creationTime) { bytes in
            unsafe RAND_priv_bytes(bytes, Int32(Self.byteCount)) == 1
        }
    }

    /// Reads a key from a file's bytes.
    convenience init(_ file: Span<UInt8>, creationTime: Int64) throws(OpenSSLError) {
        try unsafe self.init(creationTime: creationTime) { bytes in
            guard file.count == Self.byteCount else { return false }
            for index in file.indices { unsafe bytes[index] = file[index] }
            return true
        }
    }

    private init(creationTime: Int64, fill: (UnsafeMutablePointer<UInt8>) -> Bool) throws(OpenSSLError) {
        self.creationTime = creationTime
        unsafe bytes = .allocate(capacity: Self.byteCount)
        unsafe bytes.initialize(repeating: 0, count: Self.byteCount)
        guard unsafe fill(bytes) else { throw .draining(.libraryFailure, context: "session ticket key") }
    }

    deinit {
        unsafe OPENSSL_cleanse(bytes, Self.byteCount)
        unsafe bytes.deallocate()
    }

    /// Returns whether the key has the name that a ticket contains.
    func isNamed(_ name: UnsafePointer<UInt8>) -> Bool {
        unsafe CRYPTO_memcmp(name, bytes, Self.nameCount) == 0
    }

    func isNamed(as other: TicketKey) -> Bool { unsafe isNamed(other.bytes) }

    /// Prepares OpenSSL's cipher and MAC to make a ticket, and writes the key's name and a new initialization vector.
    ///
    /// It returns false if OpenSSL fails.
    func encrypt(
        name: UnsafeMutablePointer<UInt8>,
        vector: UnsafeMutablePointer<UInt8>,
        cipher: OpaquePointer,
        mac: OpaquePointer
    ) -> Bool {
        unsafe name.update(from: bytes, count: Self.nameCount)
        return unsafe RAND_bytes(vector, 16) == 1
            && EVP_EncryptInit_ex(cipher, Algorithms.shared.aes256CBC, nil, encryptionKey, vector) == 1
            && gatehouse_EVP_MAC_CTX_set_SHA256_key(mac, bytes + Self.nameCount, Self.partCount) == 1
    }

    /// Prepares OpenSSL's cipher and MAC to open a ticket.
    ///
    /// It returns false if OpenSSL fails.
    func decrypt(vector: UnsafePointer<UInt8>, cipher: OpaquePointer, mac: OpaquePointer) -> Bool {
        unsafe EVP_DecryptInit_ex(cipher, Algorithms.shared.aes256CBC, nil, encryptionKey, vector) == 1
            && gatehouse_EVP_MAC_CTX_set_SHA256_key(mac, bytes + Self.nameCount, Self.partCount) == 1
    }

    private var encryptionKey: UnsafePointer<UInt8> {
        unsafe UnsafePointer(bytes + Self.nameCount + Self.partCount)
    }
}
