// SPDX-License-Identifier: Apache-2.0

internal import LoginConf
internal import RealmKit

/// Reads the settings of a block that have one value, and checks their bounds.
struct SettingReader {
    let builder: ConfigurationBuilder
    let block: Block

    /// Reads a whole number; `value` is not changed if the keyword is missing or there is an error.
    func integer(_ keyword: String, _ bounds: ClosedRange<Int>, into value: inout Int) {
        guard case (_, .integer(let number))? = read(keyword, as: .integer(bounds)) else { return }
        value = number
    }

    /// Reads a duration.
    func duration(_ keyword: String, _ bounds: ClosedRange<Duration>, into value: inout Duration) {
        guard let (word, read) = read(keyword, as: .duration), case .duration(let time) = read else { return }
        guard bounds.contains(time) else {
            builder.error(
                at: word.range,
                "\(keyword) is a time from \(Self.text(bounds.lowerBound)) to \(Self.text(bounds.upperBound))"
            )
            return
        }
        value = time
    }

    /// Reads a number of bytes, as in `19MiB`.
    func size(_ keyword: String, _ bounds: ClosedRange<Int>, into value: inout Int) {
        guard let word = block.word(keyword), let text = builder.expanded(word) else { return }
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let units: [Substring: Int] = ["KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30]
        guard let number = Int(digits), let unit = units[text.dropFirst(digits.count)],
            case (let bytes, let overflow) = number.multipliedReportingOverflow(by: unit), !overflow,
            bounds.contains(bytes)
        else {
            let (least, most) = (Self.text(bytes: bounds.lowerBound), Self.text(bytes: bounds.upperBound))
            builder.error(at: word.range, "\(keyword) is a size from \(least) to \(most), as in 256MiB, not \(text)")
            return
        }
        value = bytes
    }

    /// Reads one of the words of `Choice`.
    func choice<Choice: RawRepresentable & CaseIterable>(_ keyword: String, into value: inout Choice)
    where Choice.RawValue == String {
        guard let word = block.word(keyword), let text = builder.expanded(word) else { return }
        guard let choice = Choice(rawValue: text) else {
            let words = Choice.allCases.map(\.rawValue)
            builder.error(
                at: word.range,
                "\(keyword) is one of \(words.joined(separator: ", ")), not \(text)",
                hint: NearestName.suggest(text, among: words).map { "did you mean \($0)?" }
            )
            return
        }
        value = choice
    }

    /// Reads `on` or `off`.
    func flag(_ keyword: String, into value: inout Bool) {
        guard let word = block.word(keyword), let text = builder.expanded(word) else { return }
        switch text {
        case "on": value = true
        case "off": value = false
        default: builder.error(at: word.range, "\(keyword) is on or off, not \(text)")
        }
    }

    private func read(_ keyword: String, as kind: Property.Kind) -> (RealmsConfWord, PropertyValue)? {
        guard let word = block.word(keyword), let text = builder.expanded(word) else { return nil }
        do throws(BadValue) {
            return (word, try PropertyValue([text], as: kind))
        } catch {
            builder.error(at: word.range, "\(keyword) \(error)")
            return nil
        }
    }

    /// Returns a size as text, in the largest unit that gives a whole number.
    static func text(bytes: Int) -> String {
        for (unit, size) in [("GiB", 1 << 30), ("MiB", 1 << 20)] where bytes % size == 0 {
            return "\(bytes / size)\(unit)"
        }
        return "\(bytes >> 10)KiB"
    }

    private static func text(_ time: Duration) -> String {
        let seconds = time.components.seconds
        if seconds == 0 { return "\(time.components.attoseconds / 1_000_000_000_000_000)ms" }
        return seconds % 3600 == 0 ? "\(seconds / 3600)h" : "\(seconds)s"
    }
}
