// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit

/// A digest of password and salt: a weak hash, because a few rounds of a fast function make guessing cheap.
struct SaltedDigest: KeyDerivation {
    let function: HashFunction
    /// The number of times that the function is applied: first to password and salt, then to its own result.
    var rounds = 1
    /// True if the salt is hashed before the password.
    var saltFirst = false
    /// True for a password in clear text, kept as its digest.
    var isClearText = false
    let salt: [UInt8]
    let storedHash: [UInt8]

    /// A password in clear text: the time of a comparison of its SHA-256 does not depend on its length.
    static func clearText(_ text: some StringProtocol) throws(BadHash) -> SaltedDigest {
        let digest = try Result { () throws(OpenSSLError) in try Digest.sha256(Array(text.utf8)).bytes }
            .mapError { BadHash($0.description) }.get()
        return SaltedDigest(function: .sha256, isClearText: true, salt: [], storedHash: digest)
    }

    var cost: HashCost {
        rounds == 1
            ? HashCost(format: isClearText ? "cleartext" : function.name, time: .zero, isNegligible: true)
            : HashCost(format: function.name, parameters: "rounds=\(rounds)", time: .nanoseconds(300 * rounds))
    }

    func derive(_ password: Span<UInt8>, into bytes: inout MutableSpan<UInt8>) throws {
        var hashing = try Hashing(function)
        if saltFirst { try hashing.append(salt.span) }
        try hashing.append(password)
        if !saltFirst { try hashing.append(salt.span) }
        try hashing.finish(into: &bytes)
        for _ in 1..<rounds {
            try hashing.append(bytes.span)
            try hashing.finish(into: &bytes)
        }
    }
}
