// SPDX-License-Identifier: Apache-2.0

/// A random number generator with a seed, and random input (SplitMix64).
struct RandomNumbers: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }

    /// Returns random bytes.
    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &self) }
    }

    /// Returns one to three parts of the given texts, joined, sometimes with a random character.
    mutating func text(from texts: [String]) -> String {
        var text = ""
        for _ in 0...Int.random(in: 0..<3, using: &self) {
            guard let part = texts.randomElement(using: &self) else { continue }
            text += Bool.random(using: &self) ? part : String(part.prefix(Int.random(in: 0...8, using: &self)))
            if let scalar = Unicode.Scalar(UInt32.random(in: 0x20...0x2FFF, using: &self)), Bool.random(using: &self) {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// Returns a secret that is random, or the given secret with a random change.
    mutating func secret(near right: [UInt8]) -> [UInt8] {
        var secret = right
        switch Int.random(in: 0..<5, using: &self) {
        case 0: return bytes(Int.random(in: 0...300, using: &self))
        case 1: secret.append(contentsOf: bytes(Int.random(in: 1...9, using: &self)))
        case 2: secret.insert(contentsOf: bytes(1), at: Int.random(in: 0...secret.count, using: &self))
        case 3: secret.removeLast(Int.random(in: 0...secret.count, using: &self))
        default:
            guard let index = secret.indices.randomElement(using: &self) else { return bytes(8) }
            secret[index] ^= 1 << UInt8.random(in: 0..<8, using: &self)
        }
        return secret
    }
}
