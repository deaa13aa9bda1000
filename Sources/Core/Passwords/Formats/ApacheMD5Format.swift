// SPDX-License-Identifier: Apache-2.0

/// The format `$apr1$salt$hash` of Apache's htpasswd.
enum ApacheMD5Format: PasswordFormat {
    static let names = ["apr1"]

    static func read(_ stored: String, options: FormatOptions) throws(BadHash) -> (any PasswordAlgorithm)? {
        guard stored.hasPrefix("$apr1$") else { return nil }
        let fields = try HashFields(stored.dropFirst(6), of: "apr1", counts: 2...2)
        guard CryptAlphabet.isSalt(fields[0], lengths: 1...8) else {
            throw fields.fault("the salt does not have 1 to 8 allowed characters")
        }
        guard CryptAlphabet.isCommon(fields[1], length: 22), let digest = CryptAlphabet.digest(fields[1], order: order)
        else {
            throw fields.fault("the hash does not have 22 characters of the alphabet")
        }
        return ApacheMD5(salt: Array(fields[0].utf8), storedHash: digest)
    }

    /// The order of ``CryptAlphabet/digest(_:order:)``.
    private static let order = [[0, 6, 12], [1, 7, 13], [2, 8, 14], [3, 9, 15], [4, 10, 5], [11]]
}
