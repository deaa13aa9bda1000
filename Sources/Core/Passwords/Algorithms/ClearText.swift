// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit

/// A password stored in clear text.
///
/// Only its SHA-256 is kept in memory, so that the time of a comparison does not depend on the length of the stored
/// password.
struct ClearText: KeyDerivation {
    let storedHash: [UInt8]

    var cost: HashCost { HashCost(format: "cleartext", time: .zero, isNegligible: true) }

    init(_ text: some StringProtocol) throws(BadHash) {
        do {
            storedHash = try Digest.sha256(Array(text.utf8)).bytes
        } catch {
            throw BadHash(error.description)
        }
    }

    func derive(_ password: Span<UInt8>, into bytes: inout MutableSpan<UInt8>) throws(HashFault) {
        do {
            var hashing = try Hashing(.sha256)
            try hashing.append(password)
            try hashing.finish(into: &bytes)
        } catch {
            throw HashFault(error)
        }
    }
}
