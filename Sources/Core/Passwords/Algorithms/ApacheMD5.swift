// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit

/// Apache's variant of md5-crypt, `$apr1$`.
///
/// It is computed here because crypt(3) does not support it.
///
/// It is weak: 1000 rounds of MD5.
struct ApacheMD5: KeyDerivation {
    let salt: [UInt8]
    let storedHash: [UInt8]

    private static let magic = Array("$apr1$".utf8)
    private static let rounds = 1000

    var cost: HashCost { HashCost(format: "apr1", time: .microseconds(500)) }

    func derive(_ password: Span<UInt8>, into bytes: inout MutableSpan<UInt8>) throws(HashFault) {
        do {
            try compute(password, into: &bytes)
        } catch {
            throw HashFault(error)
        }
    }

    private func compute(_ password: Span<UInt8>, into bytes: inout MutableSpan<UInt8>) throws(OpenSSLError) {
        var hashing = try Hashing(.md5)
        try hashing.append(password)
        try hashing.append(salt.span)
        try hashing.append(password)
        try hashing.finish(into: &bytes)

        try hashing.append(password)
        try hashing.append(Self.magic.span)
        try hashing.append(salt.span)
        var left = password.count
        while left > 0 {
            try hashing.append(bytes.span.extracting(first: left))
            left -= bytes.count
        }
        // For every bit of the length one byte is hashed: NUL for a 1, the first byte of the password for a 0.
        let nul: [UInt8] = [0]
        var bits = password.count
        while bits > 0 {
            if bits & 1 == 1 { try hashing.append(nul.span) } else { try hashing.append(password.extracting(first: 1)) }
            bits >>= 1
        }
        try hashing.finish(into: &bytes)

        for round in 0..<Self.rounds {
            if round & 1 == 1 { try hashing.append(password) } else { try hashing.append(bytes.span) }
            if round % 3 != 0 { try hashing.append(salt.span) }
            if round % 7 != 0 { try hashing.append(password) }
            if round & 1 == 1 { try hashing.append(bytes.span) } else { try hashing.append(password) }
            try hashing.finish(into: &bytes)
        }
    }
}
