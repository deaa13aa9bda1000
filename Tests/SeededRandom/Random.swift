// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A small generator with a seed, so that a failure can be repeated (SplitMix64).
package struct Random: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }

    /// A number from 0 to one below the limit; 0 if there is none.
    package mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<max(1, limit), using: &self) }

    /// One of some elements.
    package mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    /// A number of random bytes.
    package mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &self) }
    }
}
