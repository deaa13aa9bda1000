// SPDX-License-Identifier: Apache-2.0

public import RealmKit

extension HashPolicy {
    /// Reads a policy from the words of a setting, such as `argon2id memory=19MiB passes=2 lanes=1`.
    ///
    /// The parameters may have any order. One that is left out has the scheme's default: argon2id `memory=19MiB passes=2
    /// lanes=1`, yescrypt `cost=5`, bcrypt `cost=12`, sha512crypt `rounds=500000`, scrypt `ln=17 r=8 p=1`,
    /// pbkdf2-sha256 `iterations=600000`, pbkdf2-sha512 `iterations=210000`.
    ///
    /// - Throws: ``BadValue`` if the scheme or a parameter is unknown, or a parameter is given twice or out of bounds.
    public init(words: [String]) throws(BadValue) {
        guard let name = words.first else { throw BadValue("needs a value, such as argon2id memory=19MiB passes=2") }
        guard let standard = Self.standards.first(where: { $0.name == name }) else {
            throw BadValue("is one of \(Self.standards.map(\.name).joined(separator: ", ")), not \(name)")
        }
        let names = standard.parameters.map(\.name)
        var values = standard.parameters.map(\.value)
        var seen: Set<Int> = []
        for word in words.dropFirst() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, let place = names.firstIndex(of: parts[0]) else {
                let names = names.map { "\($0)=" }.joined(separator: ", ")
                throw BadValue("takes \(names) with \(name), not \(word)")
            }
            guard seen.insert(place).inserted else { throw BadValue("has \(parts[0])= twice") }
            values[place] = try Self.value(parts[1], of: parts[0])
        }
        let scheme = standard.with(values)
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
    /// The parameters with their names in settings.
    fileprivate var parameters: [(name: String, value: Int)] {
        switch self {
        case .argon2id(let memory, let passes, let lanes): [("memory", memory), ("passes", passes), ("lanes", lanes)]
        case .yescrypt(let cost), .bcrypt(let cost): [("cost", cost)]
        case .sha512crypt(let rounds): [("rounds", rounds)]
        case .scrypt(let logN, let r, let p): [("ln", logN), ("r", r), ("p", p)]
        case .pbkdf2SHA256(let iterations), .pbkdf2SHA512(let iterations): [("iterations", iterations)]
        }
    }

    /// Returns the scheme with other values of ``parameters``, in their order.
    fileprivate func with(_ values: [Int]) -> HashScheme {
        switch self {
        case .argon2id: .argon2id(memory: values[0], passes: values[1], lanes: values[2])
        case .yescrypt: .yescrypt(cost: values[0])
        case .bcrypt: .bcrypt(cost: values[0])
        case .sha512crypt: .sha512crypt(rounds: values[0])
        case .scrypt: .scrypt(logN: values[0], r: values[1], p: values[2])
        case .pbkdf2SHA256: .pbkdf2SHA256(iterations: values[0])
        case .pbkdf2SHA512: .pbkdf2SHA512(iterations: values[0])
        }
    }
}

extension HashPolicy: CustomStringConvertible {
    /// The words of the policy, such as `argon2id memory=19MiB passes=2 lanes=1`.
    public var description: String {
        let words = scheme.parameters.map { name, value in
            "\(name)=\(name == "memory" ? MemorySize.text(kibibytes: value) : "\(value)")"
        }
        return ([scheme.name] + words).joined(separator: " ")
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
