// SPDX-License-Identifier: Apache-2.0

internal import Bytes
package import CoreMetrics
internal import Synchronization

/// Metrics of swift-metrics, and their values as text for Prometheus.
///
/// The text has the format of Prometheus, version 0.0.4. Values are updated without waiting for a reader of the text.
///
/// The number of time series is limited, so that labels from outside cannot fill the memory. Metrics beyond the limit
/// are counted in `gatehouse_dropped_series_total` and have no values.
package final class PrometheusRegistry: MetricsFactory {
    package static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    /// The upper bounds of a histogram's buckets in seconds, from a check without a hash to the longest time limits.
    package static let buckets = [0.0001, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

    /// The number of time series that are kept; histograms count as one.
    static let maximumSeries = 20_000

    private struct State {
        var families: [UTF8Text: PrometheusFamily] = [:]
        var count = 0
        var droppedCount = 0
    }

    private let help: [String: String]
    private let state = Mutex(State())

    /// `help` has a sentence about each metric, by its name.
    package init(help: [String: String] = [:]) { self.help = help }

    /// The values of all metrics, sorted by name.
    package var text: String {
        let (families, droppedCount) = state.withLock { ($0.families, $0.droppedCount) }
        var text = ""
        for family in families.values.sorted(by: { Self.precedes($0.name, $1.name) }) {
            if let help = help[family.name] { text += "# HELP \(family.name) \(PrometheusText.helpText(help))\n" }
            text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
            for series in family.series.values.sorted(by: { Self.precedes($0.labels, $1.labels) }) {
                series.values.write(family.name, labels: series.labels, to: &text)
            }
        }
        if droppedCount > 0 {
            text += "# TYPE gatehouse_dropped_series_total counter\ngatehouse_dropped_series_total \(droppedCount)\n"
        }
        return text
    }

    private static func precedes(_ first: String, _ second: String) -> Bool {
        first.utf8.lexicographicallyPrecedes(second.utf8)
    }

    // MARK: MetricsFactory. The same name and labels always give the same handler.

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(label, dimensions, .counter) { PrometheusValue() }
    }

    package func makeFloatingPointCounter(
        label: String,
        dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        series(label, dimensions, .counter) { PrometheusValue() }
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(label, dimensions, .gauge) { PrometheusValue() }
    }

    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        if aggregate { return series(label, dimensions, .histogram) { PrometheusHistogram(Self.buckets) } }
        return series(label, dimensions, .gauge) { PrometheusValue() }
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(label, dimensions, .histogram) { PrometheusHistogram(Self.buckets) }
    }

    // The values of Prometheus stay until the program ends.
    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    package func destroyMeter(_ handler: any MeterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}

    /// Returns the values of a name and labels; new ones if there are none yet.
    ///
    /// If the name belongs to a metric of another kind, or there are too many series, the values are shown nowhere.
    private func series<Values: PrometheusValues>(
        _ label: String,
        _ dimensions: [(String, String)],
        _ kind: PrometheusFamily.Kind,
        _ make: () -> Values
    ) -> Values {
        let name = PrometheusText.name(label)
        let labels = PrometheusText.labels(dimensions)
        return state.withLock { state in
            let key = UTF8Text(name)
            let knownKind = state.families[key]?.kind
            let known = state.families[key]?.series[UTF8Text(labels)]?.values
            if knownKind == kind, let known = known as? Values { return known }
            let values = make()
            guard knownKind == nil || knownKind == kind, state.count < Self.maximumSeries else {
                state.droppedCount += 1
                return values
            }
            // The family is changed in its place: a copy would take time in proportion to its series.
            state.families[key, default: PrometheusFamily(name: name, kind: kind)].series[UTF8Text(labels)] =
                PrometheusFamily.Series(labels: labels, values: values)
            state.count += 1
            return values
        }
    }
}

/// The time series of one name.
struct PrometheusFamily: Sendable {
    enum Kind: String {
        case counter, gauge, histogram
    }

    struct Series {
        /// The labels as text, without braces.
        let labels: String
        let values: any PrometheusValues
    }

    let name: String
    let kind: Kind
    var series: [UTF8Text: Series] = [:]
}
