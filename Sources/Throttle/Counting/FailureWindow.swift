// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// How many failures there were in the last while, in constant memory however many that is.
///
/// Time is cut into slots of an eighth of the window, numbered by the caller. The slot that is going on and the eight
/// before it count, so a failure counts for the whole window at least and an eighth longer at most: never less than it
/// should.
struct FailureWindow: Sendable {
    /// How many slots make a window.
    static let slots = 8

    private var counts = InlineArray<9, UInt16>(repeating: 0)
    private var newest: Int

    /// No failures yet, and none to come before a slot.
    init(since slot: Int) { newest = slot }

    /// Counts failures.
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

    /// How many count.
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
