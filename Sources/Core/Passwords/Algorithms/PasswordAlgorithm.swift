// SPDX-License-Identifier: Apache-2.0

internal import LibC
internal import OpenSSLKit
internal import RealmKit

/// A hash algorithm with the salt, the parameters and the hash of one stored password.
///
/// Texts of different formats, such as `{CRYPT}$6$...` and `$6$...`, can have the same algorithm.
protocol PasswordAlgorithm: Sendable {
    var cost: HashCost { get }

    /// The scheme of the policy that creates such hashes; nil also if salt or key is shorter than in new ones.
    var scheme: HashScheme? { get }

    /// The number of bytes of a password that other programs hash, if they ignore the rest.
    var truncatesAfter: Int? { get }

    /// The algorithm that ignores the part of a password that other programs ignore, and does not reject the password.
    var truncating: any PasswordAlgorithm { get }

    func ignoresPart(of password: Span<UInt8>) -> Bool

    /// Returns whether a password of 1 to ``PasswordBounds/maximumLength`` bytes is right; the hash is always computed
    /// completely, and compared in constant time.
    func isDerived(from password: Span<UInt8>) throws -> Bool
}

extension PasswordAlgorithm {
    var scheme: HashScheme? { nil }
    var truncatesAfter: Int? { nil }
    var truncating: any PasswordAlgorithm { self }
    func ignoresPart(of password: Span<UInt8>) -> Bool { false }
}

/// An algorithm that derives a hash from a password and compares it with the stored hash.
protocol KeyDerivation: PasswordAlgorithm {
    var storedHash: [UInt8] { get }

    /// Derives a hash of as many bytes as ``storedHash``.
    func derive(_ password: Span<UInt8>, into bytes: inout MutableSpan<UInt8>) throws
}

extension KeyDerivation {
    func isDerived(from password: Span<UInt8>) throws -> Bool {
        var scratch = WipedBytes(count: storedHash.count)
        try scratch.withMutableBytes { try derive(password, into: &$0) }
        return scratch.withBytes { constantTimeEqual($0, storedHash.span) }
    }
}

/// A key derivation that can write a new hash as text.
protocol StorableKeyDerivation: KeyDerivation {
    /// Returns the text to store, with the salt and cost of this value and the key derived from the password.
    func text(_ key: [UInt8]) -> String
}

enum PasswordBounds {
    /// The maximum length of a password, in bytes: longer than real passwords, and short enough to be hashed quickly.
    static let maximumLength = 1024

    static func check(_ password: Secret) throws(HashFault) {
        if password.count > maximumLength {
            throw HashFault(.unusable, "the password has \(password.count) bytes; at most \(maximumLength) are allowed")
        }
    }
}

extension HashFault {
    /// Rejects a password that ends in NUL.
    ///
    /// PBKDF2 and scrypt use the password as the key of HMAC, and HMAC pads its key with NULs (RFC 2104 section 2). The
    /// password would therefore match a hash of the same password without the NUL.
    static func rejectTrailingNUL(in password: Span<UInt8>, format: String) throws(HashFault) {
        if !password.isEmpty, password[password.count - 1] == 0 {
            throw HashFault(.unusable, "the password ends in a NUL byte, which \(format) ignores")
        }
    }

    /// Creates the fault of an algorithm that has thrown one, or an error of its library.
    init(_ error: any Error) { self = error as? HashFault ?? HashFault(.failed, "\(error)") }
}

/// Memory for data derived from a password, never moved, and wiped at the end of its scope.
@safe
struct WipedBytes: ~Copyable {
    private let storage: UnsafeMutableBufferPointer<UInt8>

    /// Allocates bytes with the value zero.
    init(count: Int) {
        unsafe storage = .allocate(capacity: count)
        unsafe storage.initialize(repeating: 0)
    }

    /// Copies bytes and appends a NUL, as in a C string.
    init(terminating bytes: Span<UInt8>) {
        self.init(count: bytes.count + 1)
        withMutableBytes { own in
            for index in bytes.indices { own[index] = bytes[index] }
        }
    }

    deinit {
        if let start = unsafe storage.baseAddress { unsafe explicit_bzero(start, storage.count) }
        unsafe storage.deallocate()
    }

    func withBytes<R, Failure: Error>(_ body: (Span<UInt8>) throws(Failure) -> R) throws(Failure) -> R {
        try body(unsafe UnsafeBufferPointer(storage).span)
    }

    mutating func withMutableBytes<R, Failure: Error>(
        _ body: (inout MutableSpan<UInt8>) throws(Failure) -> R
    ) throws(Failure) -> R {
        var span = unsafe storage.mutableSpan
        return try body(&span)
    }

    func withPointer<R>(_ body: (UnsafeMutableRawPointer?) -> R) -> R {
        unsafe body(UnsafeMutableRawPointer(storage.baseAddress))
    }
}
