// SPDX-License-Identifier: Apache-2.0

/// Sizes of memory as configurations write them.
enum MemorySize {
    private static let units = [("GiB", 1 << 20), ("MiB", 1 << 10), ("KiB", 1)]

    /// Reads a size such as `19MiB`, in KiB; returns nil for any other text.
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
