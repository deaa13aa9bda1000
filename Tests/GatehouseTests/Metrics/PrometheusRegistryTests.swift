// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
import Testing

@testable import Gatehouse

/// The text that Prometheus reads.
struct PrometheusRegistryTests {
    private func lines(_ registry: PrometheusRegistry) -> [String] {
        registry.text.split(separator: "\n").map(String.init)
    }

    @Test func `counters and gauges are one line each, below the type of their name`() {
        let registry = PrometheusRegistry(help: ["b_total": #"What b counts, with a \ and a"# + "\nnew line."])
        Counter(label: "b_total", dimensions: [("realm", "people")], factory: registry).increment(by: 3)
        Counter(label: "b_total", dimensions: [("realm", "guests")], factory: registry).increment()
        Gauge(label: "a", factory: registry).record(2.5)
        FloatingPointCounter(label: "c_total", factory: registry).increment(by: 0.25)
        let meter = Meter(label: "d", factory: registry)
        meter.set(7)
        meter.decrement()
        #expect(
            lines(registry) == [
                "# TYPE a gauge", "a 2.5",
                #"# HELP b_total What b counts, with a \\ and a\nnew line."#, "# TYPE b_total counter",
                #"b_total{realm="guests"} 1"#, #"b_total{realm="people"} 3"#,
                "# TYPE c_total counter", "c_total 0.25",
                "# TYPE d gauge", "d 6",
            ]
        )
    }

    @Test func `the buckets of a histogram are cumulative, and a value at a bound belongs to it`() {
        let registry = PrometheusRegistry()
        let timer = Timer(label: "t_seconds", dimensions: [("m", "x")], factory: registry)
        timer.recordMilliseconds(1)
        timer.recordMilliseconds(2)
        timer.recordSeconds(3600)
        let text = lines(registry)
        #expect(text.first == "# TYPE t_seconds histogram")
        #expect(text.contains(#"t_seconds_bucket{m="x",le="0.0001"} 0"#))
        #expect(text.contains(#"t_seconds_bucket{m="x",le="0.001"} 1"#))
        #expect(text.contains(#"t_seconds_bucket{m="x",le="0.005"} 2"#))
        #expect(text.contains(#"t_seconds_bucket{m="x",le="30"} 2"#))
        #expect(text.contains(#"t_seconds_bucket{m="x",le="+Inf"} 3"#))
        #expect(text.contains(#"t_seconds_count{m="x"} 3"#))
        #expect(text.contains(#"t_seconds_sum{m="x"} 3600.003"#))
        #expect(text.count == 1 + PrometheusRegistry.buckets.count + 1 + 2)
    }

    @Test(arguments: [
        ("plain", #""plain""#), (#"a"b"#, #""a\"b""#), (#"a\b"#, #""a\\b""#), ("a\nb", #""a\nb""#), ("ä}", #""ä}""#),
        ("\"} 1\nfake_total 9", #""\"} 1\nfake_total 9""#), ("", #""""#),
    ])
    func `the value of a label cannot end its line or its label`(value: String, shown: String) {
        let registry = PrometheusRegistry()
        Counter(label: "c", dimensions: [("l", value)], factory: registry).increment()
        #expect(lines(registry) == ["# TYPE c counter", "c{l=\(shown)} 1"])
    }

    @Test(arguments: [("a.b-c", "a_b_c"), ("1a", "_1a"), ("", "_"), ("a:b", "a:b"), ("ä", "_"), ("a b\n#", "a_b__")])
    func `other characters in a name become underscores`(label: String, name: String) {
        let registry = PrometheusRegistry()
        Gauge(label: label, factory: registry).record(1)
        #expect(lines(registry) == ["# TYPE \(name) gauge", "\(name) 1"])
    }

    @Test func `metrics of the same name and labels share their value`() {
        let registry = PrometheusRegistry()
        for _ in 0..<3 { Counter(label: "c", dimensions: [("l", "1")], factory: registry).increment() }
        #expect(lines(registry) == ["# TYPE c counter", #"c{l="1"} 3"#])
    }

    @Test func `a metric of another kind with a known name is dropped and counted`() {
        let registry = PrometheusRegistry()
        Counter(label: "c", factory: registry).increment()
        Timer(label: "c", factory: registry).recordSeconds(1)
        #expect(
            lines(registry) == [
                "# TYPE c counter", "c 1", "# TYPE gatehouse_dropped_series_total counter",
                "gatehouse_dropped_series_total 1",
            ]
        )
    }

    @Test func `the number of series is limited, and the known ones go on`() {
        let registry = PrometheusRegistry()
        for number in 0..<(PrometheusRegistry.maximumSeries + 5) {
            Counter(label: "c", dimensions: [("n", "\(number)")], factory: registry).increment()
        }
        Counter(label: "c", dimensions: [("n", "0")], factory: registry).increment()
        let text = lines(registry)
        #expect(text.count == PrometheusRegistry.maximumSeries + 3)
        #expect(text.contains(#"c{n="0"} 2"#))
        #expect(text.last == "gatehouse_dropped_series_total 5")
    }

    @Test func `no count is lost if many threads count at once`() async {
        let registry = PrometheusRegistry()
        let counter = Counter(label: "c", factory: registry)
        let timer = Timer(label: "t", factory: registry)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<10_000 {
                        counter.increment()
                        timer.recordNanoseconds(1)
                    }
                }
            }
        }
        #expect(lines(registry).contains("c 80000"))
        #expect(lines(registry).contains("t_count 80000"))
    }

    @Test(arguments: [
        (0.0, "0"), (-1.5, "-1.5"), (.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN"), (1e9, "1000000000"),
    ])
    func `numbers are written as Prometheus reads them`(number: Double, text: String) {
        #expect(PrometheusText.number(number) == text)
    }
}
