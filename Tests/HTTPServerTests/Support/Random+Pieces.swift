// SPDX-License-Identifier: Apache-2.0

import SeededRandom

extension Random {
    /// Splits bytes into pieces of random length, 1 to `size`.
    mutating func pieces(_ bytes: [UInt8], atMost size: Int = 40) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + Int.random(in: 1...size, using: &self))
            pieces.append(Array(bytes[start..<end]))
            start = end
        }
        return pieces
    }
}
