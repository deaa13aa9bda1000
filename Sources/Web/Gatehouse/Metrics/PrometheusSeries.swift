// SPDX-License-Identifier: Apache-2.0

internal import CoreMetrics
internal import Synchronization

/// The values of one time series.
protocol PrometheusSeries: AnyObject, Sendable {
    func write(_ name: String, labels: String, to text: inout String)
}

/// The value of a counter or a gauge.
final class PrometheusScalar: PrometheusSeries, CounterHandler, FloatingPointCounterHandler, MeterHandler,
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
final class PrometheusHistogram: PrometheusSeries, RecorderHandler, TimerHandler {
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
