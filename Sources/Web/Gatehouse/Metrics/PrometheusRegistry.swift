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

    private enum Kind: String {
        case counter, gauge, histogram
    }

    /// The time series of one name, by their labels as text without braces.
    private struct Family {
        let kind: Kind
        var series: [UTF8Text: any PrometheusSeries] = [:]
    }

    private struct State {
        var families: [UTF8Text: Family] = [:]
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
        for (key, family) in families.sorted(by: { Self.precedes($0.key, $1.key) }) {
            let name = key.string
            if let help = help[name] { text += "# HELP \(name) \(PrometheusText.helpText(help))\n" }
            text += "# TYPE \(name) \(family.kind.rawValue)\n"
            for (labels, values) in family.series.sorted(by: { Self.precedes($0.key, $1.key) }) {
                values.write(name, labels: labels.string, to: &text)
            }
        }
        if droppedCount > 0 {
            text += "# TYPE gatehouse_dropped_series_total counter\ngatehouse_dropped_series_total \(droppedCount)\n"
        }
        return text
    }

    private static func precedes(_ first: UTF8Text, _ second: UTF8Text) -> Bool {
        first.string.utf8.lexicographicallyPrecedes(second.string.utf8)
    }

    // MARK: MetricsFactory. The same name and labels always give the same handler.

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(label, dimensions: dimensions, kind: .counter) { PrometheusScalar() }
    }

    package func makeFloatingPointCounter(
        label: String,
        dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        series(label, dimensions: dimensions, kind: .counter) { PrometheusScalar() }
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(label, dimensions: dimensions, kind: .gauge) { PrometheusScalar() }
    }

    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        if aggregate {
            return series(label, dimensions: dimensions, kind: .histogram) { PrometheusHistogram(Self.buckets) }
        }
        return series(label, dimensions: dimensions, kind: .gauge) { PrometheusScalar() }
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(label, dimensions: dimensions, kind: .histogram) { PrometheusHistogram(Self.buckets) }
    }

    // The values of Prometheus stay until the program ends.
    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    package func destroyMeter(_ handler: any MeterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}

    /// Returns the series of a name and labels; a new one if there is none yet.
    ///
    /// If the name belongs to a metric of another kind, or there are too many series, the series is shown nowhere.
    private func series<Series: PrometheusSeries>(
        _ label: String,
        dimensions: [(String, String)],
        kind: Kind,
        make: () -> Series
    ) -> Series {
        let name = UTF8Text(PrometheusText.name(label))
        let labels = UTF8Text(PrometheusText.labels(dimensions))
        return state.withLock { state in
            let knownKind = state.families[name]?.kind ?? kind
            if knownKind == kind, let known = state.families[name]?.series[labels] as? Series { return known }
            let made = make()
            guard knownKind == kind, state.count < Self.maximumSeries else {
                state.droppedCount += 1
                return made
            }
            // The family is changed in its place: a copy would take time in proportion to its series.
            state.families[name, default: Family(kind: kind)].series[labels] = made
            state.count += 1
            return made
        }
    }
}
