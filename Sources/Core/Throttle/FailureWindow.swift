// SPDX-License-Identifier: Apache-2.0

/// The number of failures within a window of time, in constant memory.
///
/// A slot is an eighth of the window, numbered by the caller. The failures of the present slot and of the eight before it
/// count: each for at least the window, and for at most an eighth longer.
struct FailureWindow: Sendable {
    static let slots = 8

    private var counts = InlineArray<9, UInt16>(repeating: 0)
    private var newest: Int

    init(since slot: Int) { newest = slot }

    mutating func add(_ failures: Int = 1, in slot: Int) {
        let slot = max(slot, newest)
        if slot - newest > Self.slots {
            counts = InlineArray(repeating: 0)
        } else {
            var empty = newest
            while empty < slot {
                empty += 1
                counts[Self.place(empty)] = 0
            }
        }
        newest = slot
        let sum = Int(counts[Self.place(slot)]) + failures
        counts[Self.place(slot)] = UInt16(clamping: sum)
    }

    /// Removes a failure, if it is still remembered.
    mutating func remove(in slot: Int) {
        guard slot <= newest, newest - slot <= Self.slots, counts[Self.place(slot)] > 0 else { return }
        counts[Self.place(slot)] -= 1
    }

    /// Returns the number of failures in a slot and in the eight slots before it.
    func count(in slot: Int) -> Int {
        var sum = 0
        for age in 0...Self.slots where newest - age >= slot - Self.slots {
            sum += Int(counts[Self.place(newest - age)])
        }
        return sum
    }

    private static func place(_ slot: Int) -> Int {
        let rest = slot % 9
        return rest < 0 ? rest + 9 : rest
    }
}
