// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import Synchronization

/// The keys of session tickets; a ticket is an encrypted session that a client stores (RFC 5077, RFC 8446 4.6.1).
///
/// Several contexts may share the keys, so that sessions can be resumed after the certificate has changed. A session
/// contains its scope, so that it is not resumed in another scope. Tickets are encrypted with AES-256-CBC and
/// authenticated with HMAC-SHA-256 (RFC 5077 4). Keys are only in memory, and are wiped when they are dropped. The
/// object can be used from any thread. It holds a lock for a short time in each handshake.
public final class SessionTicketKeys: Sendable {
    /// The number of bytes of a key file, as of nginx: a name of 16 bytes, an HMAC key of 32 and an AES key of 32.
    public static let fileSize = TicketKey.byteCount

    /// The time for which a ticket can be used, in seconds.
    public let lifetime: Int64
    /// The number of seconds after which a new key replaces the current key; nil for keys from files, which do not
    /// rotate.
    public let rotation: Int64?

    private let now: @Sendable () -> Int64
    private let keys: Mutex<[TicketKey]>

    /// Creates random keys, which no other machine knows.
    ///
    /// A new key replaces the current one after `rotation` seconds, at least 60. A replaced key still opens its tickets
    /// until they expire, after at most 7 days (RFC 8446 4.6.1); one that is used is replaced by a ticket of the new key.
    /// The clock returns the seconds since 1970-01-01 00:00 UTC.
    ///
    /// - Throws: ``OpenSSLError`` with code `invalidConfiguration` for times out of range, or with code
    ///   `libraryFailure`.
    public init(
        rotation: Int64 = 43_200,
        lifetime: Int64 = 43_200,
        now: @escaping @Sendable () -> Int64
    ) throws(OpenSSLError) {
        guard rotation >= 60 else { throw .invalid("ticket key rotation of \(rotation) seconds (at least 60)") }
        try Self.check(lifetime)
        self.rotation = rotation
        self.lifetime = lifetime
        self.now = now
        ErrorQueue.clear()
        keys = Mutex([try TicketKey(creationTime: now())])
    }

    /// Reads keys from files, so that several machines can share them.
    ///
    /// The first key makes tickets. All keys open tickets. A ticket of another key is replaced by a ticket of the first
    /// key. To change keys, put a new file first, load the files on all machines, and remove the last file after one
    /// lifetime.
    ///
    /// Each file has ``fileSize`` bytes, of which the caller must wipe its own copy. A ticket can be used for at most 7 days
    /// (RFC 8446 4.6.1).
    ///
    /// - Throws: ``OpenSSLError`` with code `invalidConfiguration` if `files` is empty, or if a key has another length,
    ///   consists of equal bytes, or has the name of another key. The error's context contains the position of the key.
    public init(files: [[UInt8]], lifetime: Int64 = 43_200) throws(OpenSSLError) {
        guard !files.isEmpty else { throw .invalid("empty list of ticket keys") }
        try Self.check(lifetime)
        var keys: [TicketKey] = []
        for (index, file) in files.enumerated() {
            guard file.count == Self.fileSize else {
                throw .invalid("ticket key \(index + 1) of \(file.count) bytes, where \(Self.fileSize) are needed")
            }
            // An attacker could guess a key of zeros, and forge sessions.
            guard file.contains(where: { $0 != file[0] }) else {
                throw .invalid("ticket key \(index + 1), which is not random")
            }
            let key = try TicketKey(file.span)
            guard !keys.contains(where: key.isNamed(as:)) else {
                throw .invalid("ticket key \(index + 1), whose name (the first 16 bytes) is the name of another key")
            }
            keys.append(key)
        }
        rotation = nil
        self.lifetime = lifetime
        now = { 0 }
        self.keys = Mutex(keys)
    }

    private static func check(_ lifetime: Int64) throws(OpenSSLError) {
        guard (1...604_800).contains(lifetime) else {
            throw .invalid("ticket lifetime of \(lifetime) seconds (1 to 604800)")
        }
    }

    /// The number of keys that can open a ticket now.
    public var count: Int {
        keys.withLock { keys in
            dropExpiredKeys(&keys, at: now())
            return keys.count
        }
    }

    /// Returns the key for new tickets; a new one if the current key is too old.
    func current() throws(OpenSSLError) -> TicketKey {
        let time = now()
        return try keys.withLock { keys throws(OpenSSLError) in
            if let rotation, let newest = keys.first {
                let age = time - newest.creationTime
                // If the clock was set back by more than `rotation`, a new key is also made.
                if age >= rotation || age < -rotation { keys.insert(try TicketKey(creationTime: time), at: 0) }
                dropExpiredKeys(&keys, at: time)
            }
            guard let key = keys.first else { throw OpenSSLError(.libraryFailure, context: "session ticket key") }
            return key
        }
    }

    /// Returns the key with a name, and whether its tickets must be replaced; nil if the name is unknown.
    func key(named name: UnsafePointer<UInt8>) -> (key: TicketKey, isOld: Bool)? {
        let time = now()
        return keys.withLock { keys in
            dropExpiredKeys(&keys, at: time)
            guard let index = keys.firstIndex(where: { unsafe $0.isNamed(name) }) else { return nil }
            let isOld = index > 0 || rotation.map { time - keys[index].creationTime >= $0 } ?? false
            return (keys[index], isOld)
        }
    }

    /// Drops keys whose tickets have all expired.
    ///
    /// A key has made its last ticket before the next key was created, so the age of the next key decides.
    private func dropExpiredKeys(_ keys: inout [TicketKey], at time: Int64) {
        guard rotation != nil else { return }
        while keys.count > 1, time - keys[keys.count - 2].creationTime > lifetime { keys.removeLast() }
    }
}

/// A key of session tickets: a name of 16 bytes, an HMAC-SHA-256 key of 32 and an AES-256 key of 32, wiped on release.
@safe
final class TicketKey: @unchecked Sendable {
    // Unchecked because of the pointer. The bytes are written in init and only read afterwards.
    static let byteCount = 80
    private static let nameCount = 16
    private static let partCount = 32

    private let bytes: UnsafeMutablePointer<UInt8>
    /// The time when the key was made, in seconds since 1970-01-01 00:00 UTC.
    let creationTime: Int64

    convenience init(creationTime: Int64) throws(OpenSSLError) {
        try unsafe self.init(creationTime: creationTime) { bytes in
            unsafe RAND_priv_bytes(bytes, Int32(Self.byteCount)) == 1
        }
    }

    convenience init(_ file: Span<UInt8>) throws(OpenSSLError) {
        try unsafe self.init(creationTime: 0) { bytes in
            guard file.count == Self.byteCount else { return false }
            for index in file.indices { unsafe bytes[index] = file[index] }
            return true
        }
    }

    private init(creationTime: Int64, fill: (UnsafeMutablePointer<UInt8>) -> Bool) throws(OpenSSLError) {
        self.creationTime = creationTime
        unsafe bytes = .allocate(capacity: Self.byteCount)
        unsafe bytes.initialize(repeating: 0, count: Self.byteCount)
        guard unsafe fill(bytes) else { throw .failed("session ticket key") }
    }

    deinit {
        unsafe OPENSSL_cleanse(bytes, Self.byteCount)
        unsafe bytes.deallocate()
    }

    /// Returns whether the key has the name that a ticket contains.
    func isNamed(_ name: UnsafePointer<UInt8>) -> Bool { unsafe CRYPTO_memcmp(name, bytes, Self.nameCount) == 0 }

    func isNamed(as other: TicketKey) -> Bool { unsafe isNamed(other.bytes) }

    /// Prepares OpenSSL to make a ticket, and writes the key's name and a new initialization vector; false if it fails.
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

    /// Prepares OpenSSL's cipher and MAC to open a ticket; false if OpenSSL fails.
    func decrypt(vector: UnsafePointer<UInt8>, cipher: OpaquePointer, mac: OpaquePointer) -> Bool {
        unsafe EVP_DecryptInit_ex(cipher, Algorithms.shared.aes256CBC, nil, encryptionKey, vector) == 1
            && gatehouse_EVP_MAC_CTX_set_SHA256_key(mac, bytes + Self.nameCount, Self.partCount) == 1
    }

    private var encryptionKey: UnsafePointer<UInt8> { unsafe UnsafePointer(bytes + Self.nameCount + Self.partCount) }
}
