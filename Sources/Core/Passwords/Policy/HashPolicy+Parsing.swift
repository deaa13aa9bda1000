// SPDX-License-Identifier: Apache-2.0

public import RealmKit

extension HashPolicy {
    /// Reads a policy from the words of a setting, such as `argon2id memory=19MiB passes=2 lanes=1`.
    ///
    /// A parameter that is left out has the scheme's default. The defaults are: argon2id `memory=19MiB passes=2
    /// lanes=1`, yescrypt `cost=5`, bcrypt `cost=12`, sha512crypt `rounds=500000`, scrypt `ln=17 r=8 p=1`,
    /// pbkdf2-sha256 `iterations=600000`, pbkdf2-sha512 `iterations=210000`.
    ///
    /// - Parameter words: The scheme's name, then its parameters in any order.
    /// - Throws: ``BadValue`` if the scheme or a parameter is unknown, or a parameter is given twice or out of bounds.
    public init(words: [String]) throws(BadValue) {
        guard let name = words.first else { throw BadValue("needs a value, such as argon2id memory=19MiB passes=2") }
        guard var scheme = Self.standards.first(where: { $0.name == name }) else {
            throw BadValue("is one of \(Self.standards.map(\.name).joined(separator: ", ")), not \(name)")
        }
        var seen: Set<String> = []
        for word in words.dropFirst() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, scheme.parameters.contains(parts[0]) else {
                let names = scheme.parameters.map { "\($0)=" }.joined(separator: ", ")
                throw BadValue("takes \(names) with \(name), not \(word)")
            }
            guard seen.insert(parts[0]).inserted else { throw BadValue("has \(parts[0])= twice") }
            scheme.set(parts[0], to: try Self.value(parts[1], of: parts[0]))
        }
        if let fault = scheme.boundsFault { throw BadValue("\(fault) (\(name))") }
        self.init(scheme)
    }

    private static func value(_ text: String, of name: String) throws(BadValue) -> Int {
        if name == "memory" {
            guard let size = MemorySize.kibibytes(text) else {
                throw BadValue("needs a size of memory such as 512KiB, 19MiB or 1GiB, not \(text)")
            }
            return size
        }
        guard let number = Decimal.read(text) else { throw BadValue("needs a whole number for \(name), not \(text)") }
        return number
    }

    private static let standards: [HashScheme] = [
        standard.scheme, .yescrypt(cost: 5), .bcrypt(cost: 12), .sha512crypt(rounds: 500_000),
        .scrypt(logN: 17, r: 8, p: 1), .pbkdf2SHA256(iterations: 600_000), .pbkdf2SHA512(iterations: 210_000),
    ]
}

extension HashScheme {
    fileprivate var parameters: [String] {
        switch self {
        case .argon2id: ["memory", "passes", "lanes"]
        case .yescrypt, .bcrypt: ["cost"]
        case .sha512crypt: ["rounds"]
        case .scrypt: ["ln", "r", "p"]
        case .pbkdf2SHA256, .pbkdf2SHA512: ["iterations"]
        }
    }

    fileprivate mutating func set(_ name: String, to value: Int) {
        switch self {
        case .argon2id(let memory, let passes, let lanes):
            self = .argon2id(
                memory: name == "memory" ? value : memory,
                passes: name == "passes" ? value : passes,
                lanes: name == "lanes" ? value : lanes
            )
        case .yescrypt: self = .yescrypt(cost: value)
        case .bcrypt: self = .bcrypt(cost: value)
        case .sha512crypt: self = .sha512crypt(rounds: value)
        case .scrypt(let logN, let r, let p):
            self = .scrypt(logN: name == "ln" ? value : logN, r: name == "r" ? value : r, p: name == "p" ? value : p)
        case .pbkdf2SHA256: self = .pbkdf2SHA256(iterations: value)
        case .pbkdf2SHA512: self = .pbkdf2SHA512(iterations: value)
        }
    }
}

extension HashPolicy: CustomStringConvertible {
    /// The words of the policy, such as `argon2id memory=19MiB passes=2 lanes=1`.
    public var description: String {
        switch scheme {
        case .argon2id(let memory, let passes, let lanes):
            "argon2id memory=\(MemorySize.text(kibibytes: memory)) passes=\(passes) lanes=\(lanes)"
        case .yescrypt(let cost), .bcrypt(let cost): "\(scheme.name) cost=\(cost)"
        case .sha512crypt(let rounds): "sha512crypt rounds=\(rounds)"
        case .scrypt(let logN, let r, let p): "scrypt ln=\(logN) r=\(r) p=\(p)"
        case .pbkdf2SHA256(let iterations), .pbkdf2SHA512(let iterations): "\(scheme.name) iterations=\(iterations)"
        }
    }
}

enum MemorySize {
    private static let units = [("GiB", 1 << 20), ("MiB", 1 << 10), ("KiB", 1)]

    /// Reads a size such as `19MiB`, in KiB.
    static func kibibytes(_ text: String) -> Int? {
        for (unit, factor) in units where text.hasSuffix(unit) {
            return Decimal.read(text.dropLast(unit.count)).map { $0 * factor }
        }
        return nil
    }

    /// Returns the text of a size, in the largest unit of which the size is a multiple.
    static func text(kibibytes: Int) -> String {
        for (unit, factor) in units where kibibytes % factor == 0 { return "\(kibibytes / factor)\(unit)" }
        return "\(kibibytes)KiB"
    }
}
