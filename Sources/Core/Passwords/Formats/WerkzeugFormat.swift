// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import OpenSSLKit

/// The hashes of Werkzeug, which Flask uses: `scrypt:32768:8:1$salt$hex` and `pbkdf2:sha256:600000$salt$hex`.
enum WerkzeugFormat: PasswordFormat {
    static let names = ["werkzeug scrypt", "werkzeug pbkdf2"]

    static func read(_ stored: String, options: FormatOptions) throws(BadHash) -> (any PasswordAlgorithm)? {
        guard stored.hasPrefix("scrypt:") || stored.hasPrefix("pbkdf2:") else { return nil }
        let fields = try HashFields(stored, of: String(stored.prefix { $0 != ":" }), counts: 3...3)
        let method = fields[0].split(separator: ":", omittingEmptySubsequences: false)
        // The salt is not encoded: the bytes of the text are the salt.
        let salt = try fields.checked(Array(fields[1].utf8), named: "salt", in: 1...128)
        guard let hash = Hexadecimal.decodeLowercase(fields[2]) else {
            throw fields.fault("the hash is not in hexadecimal digits")
        }
        if method[0] == "scrypt", method.count == 4 {
            let parameters = try ScryptFormat.parameters(
                fields,
                logN: ScryptFormat.logarithm(fields, of: method[1]),
                r: fields.number(method[2], named: "r", in: 1...256),
                p: fields.number(method[3], named: "p", in: 1...256)
            )
            return Scrypt(
                parameters: parameters,
                salt: salt,
                storedHash: try fields.checked(hash, named: "hash", in: 64...64)
            )
        }
        guard method[0] == "pbkdf2", method.count == 3,
            let function = HashFunction.allCases.first(where: { $0.name == method[1] && $0 != .md5 })
        else { throw fields.fault("the method cannot be read") }
        return PBKDF2(
            function: function,
            iterations: try fields.number(
                method[2],
                named: "the number of iterations",
                in: 1...PBKDF2.maximumIterations
            ),
            salt: salt,
            storedHash: try fields.checked(hash, named: "hash", in: function.byteCount...function.byteCount)
        )
    }
}
