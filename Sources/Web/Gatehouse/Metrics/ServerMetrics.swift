// SPDX-License-Identifier: Apache-2.0

internal import CoreMetrics
internal import HTTPServer
internal import HTTPTypes
internal import NIOOpenSSL
internal import OpenSSLKit
internal import SignIn
internal import Synchronization

/// The metrics of a server, and whether it is ready; a server without a `metrics` block has none.
final class ServerMetrics: Sendable {
    enum Phase {
        case starting
        case serving
        case stopping
    }

    let registry: PrometheusRegistry
    let requests: RequestMetrics
    private let failedHandshakes: Counter
    private let connections: Gauge
    private let certificateExpiry: Gauge
    /// The files that have a value of ``fileExpiry``.
    private let certificateFiles = Mutex<Set<String>>([])
    private let reloads: [Bool: Counter]
    private let process: ProcessMetrics
    private let state = Mutex<(phase: Phase, connectionCount: @Sendable () -> Int)>((.starting, { 0 }))

    init() {
        registry = PrometheusRegistry(help: MetricName.help.merging(Self.help) { first, _ in first })
        let registry = registry
        func counter(_ name: String, _ dimensions: [(String, String)]) -> Counter {
            Counter(label: name, dimensions: dimensions, factory: registry)
        }
        requests = RequestMetrics(registry)
        for version in TLSVersion.allCases {
            for isResumed in [false, true] { _ = Self.handshakes(of: version, isResumed: isResumed, in: registry) }
        }
        failedHandshakes = counter(Self.handshakes, [("version", "none"), ("result", "failed")])
        connections = Gauge(label: Self.connections, factory: registry)
        certificateExpiry = Gauge(label: Self.certificateExpiry, factory: registry)
        reloads = [
            true: counter(Self.reloads, [("result", "success")]), false: counter(Self.reloads, [("result", "failure")]),
        ]
        process = ProcessMetrics(registry)
    }

    static let handshakes = "gatehouse_tls_handshakes_total"
    static let connections = "gatehouse_connections"
    static let certificateExpiry = "gatehouse_certificate_expiry_timestamp_seconds"
    static let fileExpiry = "gatehouse_certificate_file_expiry_timestamp_seconds"
    static let reloads = "gatehouse_configuration_reloads_total"

    private static let help: [String: String] = RequestMetrics.help.merging(ProcessMetrics.help) { first, _ in first }
        .merging([
            handshakes: "TLS handshakes, by version and result.",
            connections: "Open connections.",
            certificateExpiry: "The time at which the first of the server's certificates expires, in Unix time.",
            fileExpiry: "The time at which the first certificate of a file of the configuration expires, in Unix time.",
            reloads: "Reloads of the configuration at SIGHUP.",
        ]) { first, _ in first }

    // MARK: Events

    func countHandshake(_ handshake: TLSHandshakeCompleted) {
        Self.handshakes(of: handshake.version, isResumed: handshake.isResumed, in: registry).increment()
    }

    private static func handshakes(of version: TLSVersion, isResumed: Bool, in registry: PrometheusRegistry) -> Counter
    {
        let dimensions = [("version", version.rawValue), ("result", isResumed ? "resumed" : "full")]
        return Counter(label: handshakes, dimensions: dimensions, factory: registry)
    }

    /// Counts the error of a connection, if it is a failed handshake.
    func countError(_ error: any Error) {
        guard let error = error as? NIOOpenSSLError else { return }
        switch error.code {
        case .handshakeFailed, .handshakeTimeout, .closedDuringHandshake, .plainHTTP: failedHandshakes.increment()
        default: break
        }
    }

    func countReload(isSuccess: Bool) { reloads[isSuccess]?.increment() }

    /// Sets the earliest expiry of the server's certificates, and of each file with certificates by its path.
    ///
    /// Times are in seconds since 1970-01-01 00:00 UTC. Files of earlier calls that are missing here get the value NaN.
    func setCertificateExpiry(_ first: Int64, byFile files: [String: Int64]) {
        certificateExpiry.record(first)
        let known = certificateFiles.withLock { known in
            known.formUnion(files.keys)
            return known
        }
        for file in known {
            let gauge = Gauge(label: Self.fileExpiry, dimensions: [("file", file)], factory: registry)
            gauge.record(files[file].map(Double.init) ?? .nan)
        }
    }

    // MARK: Phases

    func beginServing(connectionCount: @escaping @Sendable () -> Int) {
        state.withLock { $0 = (.serving, connectionCount) }
    }

    /// From here on, the server is not ready any more.
    func beginStopping() { state.withLock { $0.phase = .stopping } }

    var phase: Phase { state.withLock { $0.phase } }

    /// The present values as text for Prometheus.
    var text: String {
        connections.record(state.withLock { $0.connectionCount }())
        process.update()
        return registry.text
    }
}

/// Counts requests by their lane and the class of their status.
struct RequestMetrics: Sendable {
    /// The lane that answered a request.
    enum Lane: String, CaseIterable {
        /// On the event loop, without waiting.
        case loop
        /// In a task.
        case task
        /// Refused before it was read in full.
        case refused
    }

    static let requests = "gatehouse_requests_total"
    static let help = [
        requests: "Requests by lane (loop, task, refused) and class of status (1xx to 5xx, other)."
    ]

    private let counters: [Lane: [Counter]]

    init(_ factory: any MetricsFactory) {
        var counters: [Lane: [Counter]] = [:]
        for lane in Lane.allCases {
            counters[lane] = ["other", "1xx", "2xx", "3xx", "4xx", "5xx"].map { status in
                let dimensions = [("lane", lane.rawValue), ("status", status)]
                return Counter(label: Self.requests, dimensions: dimensions, factory: factory)
            }
        }
        self.counters = counters
    }

    func count(_ lane: Lane, status: Int) {
        let index = (100..<600).contains(status) ? status / 100 : 0
        counters[lane]?[index].increment()
    }
}

/// A responder that counts the requests of another responder.
struct MeasuredResponder: Responder {
    let responder: any Responder
    let metrics: RequestMetrics

    func respond(to head: borrowing RequestHead, on connection: Connection) -> ResponseMode {
        switch responder.respond(to: head, on: connection) {
        case .immediate(let response):
            metrics.count(.loop, status: response.status)
            return .immediate(response)
        case .refused(let response):
            metrics.count(.loop, status: response.status)
            return .refused(response)
        case .prepared(let beginsOnEventLoop, let prepare):
            return .prepared(beginsOnEventLoop: beginsOnEventLoop) { [metrics] in
                let response = await prepare()
                metrics.count(.task, status: response.status)
                return response
            }
        case .deferred(let produce):
            return .deferred { [metrics] body in
                let response = await produce(body)
                switch response {
                case .whole(let whole): metrics.count(.task, status: whole.status)
                case .stream(let head, _, _): metrics.count(.task, status: head.status.code)
                }
                return response
            }
        }
    }

    func respond(to fault: RequestFault, on connection: Connection) -> PreparedResponse {
        let response = responder.respond(to: fault, on: connection)
        metrics.count(.refused, status: response.status)
        return response
    }
}
