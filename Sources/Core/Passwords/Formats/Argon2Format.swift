// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// The PHC strings of Argon2, such as `$argon2id$v=19$m=19456,t=2,p=1$salt$hash`.
///
/// As in the reference implementation, a string without `v=` has version 0x10.
enum Argon2Format: PasswordFormat {
    static let names = Argon2.Kind.allCases.map(\.rawValue)

    static func read(_ stored: String, options: FormatOptions) throws(BadHash) -> (any PasswordAlgorithm)? {
        guard let kind = Argon2.Kind.allCases.first(where: { stored.hasPrefix("$\($0.rawValue)$") }) else { return nil }
        let all = try HashFields(stored.dropFirst(kind.rawValue.count + 2), of: kind.rawValue, counts: 3...4)
        var version = 0x10
        if all.fields.count == 4 {
            guard all[0].hasPrefix("v=") else { throw all.fault("the first field does not begin with v=") }
            version = try all.number(all[0].dropFirst(2), named: "v", in: 0...255)
            guard Argon2.versions.contains(version) else { throw all.fault("version \(version) is neither 16 nor 19") }
        }
        let fields = all.fields.suffix(3)
        let first = fields.startIndex
        let isKeyed = fields[first].split(separator: ",").contains { $0.hasPrefix("keyid=") || $0.hasPrefix("data=") }
        if isKeyed {
            throw all.fault("keyid and data are not supported")
        }
        let numbers = try all.numbers(
            fields[first],
            named: [
                ("m", 8...Argon2.Parameters.maximumMemory), ("t", 1...Argon2.Parameters.maximumPasses),
                ("p", 1...Argon2.Parameters.maximumLanes),
            ]
        )
        let parameters = Argon2.Parameters(memory: numbers[0], passes: numbers[1], lanes: numbers[2])
        guard parameters.memory >= 8 * parameters.lanes else { throw all.fault("m is less than 8 times p") }
        guard parameters.memory * parameters.passes <= Argon2.Parameters.maximumWork else {
            throw all.fault("m times t is more than \(Argon2.Parameters.maximumWork)")
        }
        return Argon2(
            version: UInt32(version),
            kind: kind,
            parameters: parameters,
            salt: try all.bytes(fields[first + 1], named: "salt", base64: .unpadded, in: 8...64),
            storedHash: try all.bytes(fields[first + 2], named: "hash", base64: .unpadded, in: 12...64)
        )
    }
}

extension Argon2: StorableKeyDerivation {
    func text(_ key: [UInt8]) -> String {
        let (m, t, p) = (parameters.memory, parameters.passes, parameters.lanes)
        return "$\(kind.rawValue)$v=\(version)$m=\(m),t=\(t),p=\(p)"
            + "$\(Base64.unpadded.encode(salt.span))$\(Base64.unpadded.encode(key.span))"
    }
}
