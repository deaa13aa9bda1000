// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Synchronization

/// The parts of a configuration that messages do not show, because they may contain passwords.
///
/// The log receives the messages of a reload, and more people may read it than the configuration. The parts are found at
/// the first look-up, because a text without errors and warnings does not need them.
final class ConfidentialText: Sendable {
    /// The parts as ranges of bytes, in the order of the text and without overlaps.
    struct Parts: Sendable {
        /// From the beginning of a value to the end of its line: a value may have a `;` that its author has not quoted.
        var lines: [Range<Int>] = []
        /// The values.
        var secrets: [Range<Int>] = []
        /// The values of unknown names, which are not shown, but whose words messages may contain.
        var unknown: [Range<Int>] = []

        /// Returns whether a line must not be shown.
        func hasLine(from start: Int, to end: Int) -> Bool { !Self.ranges(lines, from: start, to: end).isEmpty }

        /// Returns the values that overlap a part of the text.
        func values(from start: Int, to end: Int) -> ArraySlice<Range<Int>> {
            Self.ranges(secrets, from: start, to: end)
        }

        /// Returns the beginning of the first value of an unknown name on a line; nil if there is none.
        func unknownValue(from start: Int, to end: Int) -> Int? {
            Self.ranges(unknown, from: start, to: end).first?.lowerBound
        }

        private static func ranges(_ all: [Range<Int>], from start: Int, to end: Int) -> ArraySlice<Range<Int>> {
            var low = 0
            var high = all.count
            while low < high {
                let middle = (low + high) / 2
                if all[middle].upperBound <= start { low = middle + 1 } else { high = middle }
            }
            return all[low...].prefix { $0.lowerBound < end }
        }
    }

    private let names: [[UInt8]]
    private let parts = Mutex<Parts?>(nil)

    /// - Parameter names: The names whose values are secrets, in addition to names such as `password`.
    init(names: Set<String>) { self.names = names.map { Array($0.utf8) } }

    /// Adds a value that was found by its place.
    ///
    /// - Parameters:
    ///   - value: The range of the value.
    ///   - isSecret: True if it is a secret; false for the value of an unknown name.
    ///   - bytes: The text, always the same.
    func add(_ value: Range<Int>, isSecret: Bool, in bytes: [UInt8]) {
        var parts = parts(of: bytes, end: bytes.count)
        if isSecret {
            parts.lines = Self.merged(parts.lines + [value])
            parts.secrets = Self.merged(parts.secrets + [value])
        } else {
            parts.unknown = Self.merged(parts.unknown + [value])
        }
        self.parts.withLock { $0 = parts }
    }

    private static func merged(_ ranges: [Range<Int>]) -> [Range<Int>] {
        var merged: [Range<Int>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = merged.last, last.upperBound >= range.lowerBound {
                merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        return merged
    }

    /// Returns the parts of a text.
    ///
    /// It takes time in proportion to the text at the first call, and constant time afterwards.
    ///
    /// - Parameters:
    ///   - bytes: The text, always the same.
    ///   - end: The end of the part that is searched.
    /// - Returns: The parts.
    func parts(of bytes: [UInt8], end: Int) -> Parts {
        parts.withLock { known in
            if let known { return known }
            var scanner = ConfidentialTextScanner(bytes, names: names, end: end)
            let found = scanner.scan()
            known = found
            return found
        }
    }
}
