// SPDX-License-Identifier: Apache-2.0

internal import CoreMetrics
internal import HTTPServer
internal import HTTPTypes
internal import HummingbirdCore

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

    /// Counts a request.
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
            return .deferred { [metrics] request in
                let response = await produce(request)
                metrics.count(.task, status: response.status.code)
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
