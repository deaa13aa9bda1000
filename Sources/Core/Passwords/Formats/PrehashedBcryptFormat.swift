// SPDX-License-Identifier: Apache-2.0

/// passlib's bcrypt of a digest, `$bcrypt-sha256$v=2,t=2b,r=12$salt$hash` and the older `$bcrypt-sha256$2b,12$salt$hash`,
/// and that of WordPress since 6.8, `$wp$2y$10$salthash`.
enum PrehashedBcryptFormat: PasswordFormat {
    static let names = ["bcrypt-sha256", "wordpress"]

    static func read(_ stored: String, options: FormatOptions) throws(BadHash) -> (any PasswordAlgorithm)? {
        if stored.hasPrefix("$wp$2") { return try algorithm(String(stored.dropFirst(3)), prehash: .wordPress) }
        guard stored.hasPrefix("$bcrypt-sha256$") else { return nil }
        let fields = try HashFields(stored.dropFirst(15), of: "bcrypt-sha256", counts: 3...3)
        let parameters = fields[0].split(separator: ",", omittingEmptySubsequences: false)
        let isKeyed = parameters.count == 3
        let (kind, cost): (Substring, Substring)
        switch parameters.count {
        case 3:
            guard parameters[0] == "v=2", parameters[1].hasPrefix("t="), parameters[2].hasPrefix("r=") else {
                throw fields.fault("the parameters are not v=2,t=,r=")
            }
            (kind, cost) = (parameters[1].dropFirst(2), parameters[2].dropFirst(2))
        case 2: (kind, cost) = (parameters[0], parameters[1])
        case _: throw fields.fault("the parameters cannot be read")
        }
        guard ["2a", "2b", "2y"].contains(kind) else { throw fields.fault("the kind is not 2a, 2b or 2y") }
        let rounds = try fields.number(cost, named: "the cost", in: CostBounds.bcrypt)
        guard fields[1].utf8.count == 22 else { throw fields.fault("the salt does not have 22 characters") }
        let bcrypt = "$\(kind)$\(rounds < 10 ? "0" : "")\(rounds)$\(fields[1])\(fields[2])"
        return try algorithm(bcrypt, prehash: isKeyed ? .keyed : .base64)
    }

    /// Reads the bcrypt hash of a digest of the password.
    static func algorithm(
        _ bcrypt: String,
        prehash: PrehashedBcrypt.Prehash
    ) throws(BadHash) -> PrehashedBcrypt {
        guard bcrypt.hasPrefix("$2"), var crypt = try CryptFormat.crypt(bcrypt) else {
            throw BadHash("bcrypt-sha256: not a bcrypt hash")
        }
        crypt.scheme = nil
        return PrehashedBcrypt(prehash: prehash, bcrypt: crypt, salt: Array(bcrypt.utf8.dropFirst(7).prefix(22)))
    }
}
