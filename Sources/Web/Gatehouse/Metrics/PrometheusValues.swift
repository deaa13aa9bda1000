// SPDX-License-Identifier: Apache-2.0

internal import CoreMetrics
internal import Synchronization

/// The values of one time series.
protocol PrometheusValues: AnyObject, Sendable {
    func write(_ name: String, labels: String, to text: inout String)
}

/// The value of a counter or a gauge.
final class PrometheusValue: PrometheusValues, CounterHandler, FloatingPointCounterHandler, MeterHandler,
    RecorderHandler
{
    /// The bits of a `Double`, which counts up to 2^53 without error.
    private let bits = Atomic<UInt64>(0)

    var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

    private func add(_ amount: Double) {
        var present = bits.load(ordering: .relaxed)
        while true {
            let sum = (Double(bitPattern: present) + amount).bitPattern
            let (isExchanged, found) = bits.weakCompareExchange(expected: present, desired: sum, ordering: .relaxed)
            if isExchanged { return }
            present = found
        }
    }

    func increment(by amount: Int64) { add(Double(amount)) }
    func increment(by amount: Double) { add(amount) }
    func decrement(by amount: Double) { add(-amount) }
    func reset() { set(0.0) }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }
    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }

    func write(_ name: String, labels: String, to text: inout String) {
        text += "\(name)\(PrometheusText.braced(labels)) \(PrometheusText.number(value))\n"
    }
}

/// The values of a histogram.
final class PrometheusHistogram: PrometheusValues, RecorderHandler, TimerHandler {
    private struct State {
        var counts: [UInt64]
        var sum = 0.0
    }

    /// The upper bounds of the buckets, ascending.
    private let buckets: [Double]
    private let state: Mutex<State>

    init(_ buckets: [Double]) {
        self.buckets = buckets
        // The last count is of the values above all bounds.
        state = Mutex(State(counts: Array(repeating: 0, count: buckets.count + 1)))
    }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        let bucket = buckets.firstIndex { value <= $0 } ?? buckets.count
        state.withLock { state in
            state.counts[bucket] += 1
            state.sum += value
        }
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    func write(_ name: String, labels: String, to text: inout String) {
        let state = state.withLock { $0 }
        let prefix = labels.isEmpty ? "" : labels + ","
        var count: UInt64 = 0
        for (bound, own) in zip(buckets.map(PrometheusText.number) + ["+Inf"], state.counts) {
            count += own
            text += "\(name)_bucket{\(prefix)le=\"\(bound)\"} \(count)\n"
        }
        text += "\(name)_sum\(PrometheusText.braced(labels)) \(PrometheusText.number(state.sum))\n"
        text += "\(name)_count\(PrometheusText.braced(labels)) \(count)\n"
    }
}

/// The text format of Prometheus, version 0.0.4: "Exposition formats" of the Prometheus documentation.
enum PrometheusText {
    /// Returns a valid name of a metric: letters, digits, `_` and `:`; any other character becomes `_`.
    static func name(_ label: String) -> String {
        valid(label) { $0 == ":" }
    }

    /// Returns labels without braces, such as `realm="people",outcome="accepted"`; the first value of a repeated name.
    static func labels(_ dimensions: [(String, String)]) -> String {
        var names: [String] = []
        var texts: [String] = []
        for (name, value) in dimensions {
            let name = valid(name) { _ in false }
            guard !names.contains(name) else { continue }
            names.append(name)
            texts.append("\(name)=\"\(escaped(value, quotes: true))\"")
        }
        return texts.joined(separator: ",")
    }

    static func braced(_ labels: String) -> String { labels.isEmpty ? "" : "{\(labels)}" }

    static func helpText(_ text: String) -> String { escaped(text, quotes: false) }

    /// Returns a number as text; whole numbers without a fraction.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        if let whole = Int64(exactly: value) { return "\(whole)" }
        return "\(value)"
    }

    private static func valid(_ text: String, _ isAlsoValid: (Unicode.Scalar) -> Bool) -> String {
        var name = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let isLetter = ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || scalar == "_"
            let isDigit = ("0"..."9").contains(scalar)
            if isDigit, name.isEmpty { name.append("_") }
            name.append(isLetter || isDigit || isAlsoValid(scalar) ? scalar : "_")
        }
        return name.isEmpty ? "_" : String(name)
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped.append(contentsOf: "\\\\".unicodeScalars)
            case "\n": escaped.append(contentsOf: "\\n".unicodeScalars)
            case "\"" where quotes: escaped.append(contentsOf: "\\\"".unicodeScalars)
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }
}
