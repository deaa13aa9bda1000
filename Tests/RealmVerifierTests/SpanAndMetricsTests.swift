// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
import InMemoryTracing
import Instrumentation
import MetricsTestKit
import RealmKit
import Synchronization
import Testing
import Tracing

@testable import RealmVerifier

@Suite struct LoginSpanTests {
    private let tracer = InMemoryTracer()
    private let right = Secret(utf8: "violet lamp")

    /// A verifier that a program with the tracer has created, with realms of a closure and of a module that asks for a code.
    private func makeVerifier() async throws -> RealmVerifier {
        try await withTracer(tracer) { () async throws in
            try await RealmVerifier(
                kinds: [CodeRealm.kind],
                settings: "throttle { delay 0s; }",
                logger: LogLines().logger
            ) {
                RealmDefinition("team") { name, password in
                    if name == "broken" { throw LoginFault.unavailable("the table is locked") }
                    return name == "ann" && password.isEqual(to: Secret(utf8: "violet lamp")) ? ["Staff"] : nil
                }
                RealmDefinition("code", class: "CodeRealm")
            }
        }
    }

    /// The spans since the last call, as text, of the times of modules only the number.
    private func recorded() -> [String] {
        tracer.popFinishedSpans().map { span in
            var attributes: [String] = []
            span.attributes.forEach { name, value in
                switch value {
                case .string(let text): attributes.append("\(name)=\(text)")
                case .stringArray(let texts): attributes.append("\(name)=\(texts)")
                case .doubleArray(let times): attributes.append("\(name)=\(times.count { (0..<60).contains($0) })")
                default: attributes.append("\(name)=\(value)")
                }
            }
            let status = span.status.map { ["\($0.code)"] } ?? []
            let more = span.events.map { "\($0)" } + span.errors.map { "\($0)" } + status
            return ([span.operationName] + attributes.sorted() + more).joined(separator: " ")
        }
    }

    @Test func `each login is a span with its realm, its outcome and the times of its modules`() async throws {
        let verifier = try await makeVerifier()
        let peer = "192.0.2.1"
        _ = await verifier.verify("ann", password: right, peer: peer)
        _ = await verifier.verify("ann", password: right, peer: peer)
        _ = await verifier.verify("ann", password: Secret(utf8: "wrong"), peer: peer)
        _ = await verifier.verify("broken", password: right, peer: peer)
        _ = await verifier.verify(" ", password: right, peer: peer)
        _ = await verifier.verify("ann", password: right, in: ["nowhere"], peer: peer)
        let module = #"login gatehouse.module.durations=1 gatehouse.modules=["team-password"]"#
        #expect(
            recorded() == [
                "\(module) gatehouse.outcome=accepted gatehouse.realm=team",
                "login gatehouse.outcome=accepted gatehouse.realm=team",
                "\(module) gatehouse.outcome=refused gatehouse.realm=team",
                "\(module) gatehouse.outcome=unavailable gatehouse.realm=team error",
                "login gatehouse.outcome=refused gatehouse.realm=team",
                "login gatehouse.outcome=unavailable error",
            ]
        )
    }

    @Test func `a login with a question is a span until the question, and one for each answer`() async throws {
        let (verifier, password) = (try await makeVerifier(), Secret(utf8: "right"))
        guard case .questions(let questions) = await verifier.verify("ann", password: password, in: ["code"]) else {
            return #expect(Bool(false))
        }
        #expect(recorded() == ["login gatehouse.outcome=questions gatehouse.realm=code"])
        #expect(await questions.answer([.secret(Secret(utf8: "123456"))]).user != nil)
        let module = #"login gatehouse.module.durations=1 gatehouse.modules=["CodeLoginModule"]"#
        #expect(recorded() == ["\(module) gatehouse.outcome=accepted gatehouse.realm=code"])
    }

    @Test func `a span has nothing of a user and of a client`() async throws {
        let verifier = try await makeVerifier()
        for name in ["ann", "broken", "a\nb"] {
            _ = await verifier.verify(name, password: right, service: "mail", peer: "192.0.2.1:5555")
        }
        let spans = recorded()
        #expect(spans.count == 3)
        for text in ["ann", "broken", "a\nb", "violet", "Staff", "192.0.2.1", "5555", "table", "mail"] {
            #expect(!spans.contains { $0.contains(text) }, "\(text): \(spans)")
        }
    }

    @Test func `a span is within that of the request, and what a realm records is within the login`() async throws {
        let inner = Mutex<String?>(nil)
        let verifier = try await withTracer(tracer) { () async throws in
            try await RealmVerifier(logger: LogLines().logger) {
                RealmDefinition("team") { _, _ in
                    inner.withLock { $0 = ServiceContext.current?.inMemorySpanContext?.spanID }
                    return []
                }
            }
        }
        let request = tracer.startSpan("request")
        await ServiceContext.withValue(request.context) { _ = await verifier.verify("ann", password: right) }
        let login = try #require(tracer.finishedSpans.first)
        #expect(login.parentSpanID == request.spanID && login.spanID == inner.withLock { $0 })
        #expect(tracer.activeSpans.map(\.spanID) == [request.spanID])
    }

    @Test func `a verifier that was created without a tracer records nothing`() async throws {
        let verifier = try await RealmVerifier(logger: LogLines().logger) { RealmDefinition("team") { _, _ in [] } }
        let user = await withTracer(tracer) { await verifier.verify("ann", password: right).user }
        #expect(user != nil && tracer.finishedSpans.isEmpty && tracer.activeSpans.isEmpty)
    }
}

@Suite struct VerifierMetricsTests {
    @Test func `logins are counted by realm and outcome, as a server counts them`() async throws {
        let metrics = TestMetrics()
        let verifier = try await withMetricsFactory(metrics) { () async throws in
            try await RealmVerifier(settings: "throttle { delay 0s; }", logger: LogLines().logger) {
                RealmDefinition("team") { name, _ in name == "ann" ? [] : nil }
            }
        }
        func count(_ outcome: String) -> Int64 {
            metrics.counterTotal(
                label: "gatehouse_logins_total",
                dimensions: [("realm", "team"), ("outcome", outcome)]
            )
        }
        let password = Secret(utf8: "violet lamp")
        for name in ["ann", "ann", "ben"] { _ = await verifier.verify(name, password: password) }
        // The second login of ann is answered by the cache.
        #expect(count("accepted") == 1 && count("wrong-credentials") == 1)
        let outcomes = metrics.counters(label: "gatehouse_logins_total").flatMap(\.dimensions).map(\.1)
        #expect(Set(outcomes) == ["team", "accepted", "wrong-credentials", "unavailable", "overloaded"])
        #expect(metrics.timers(label: "gatehouse_module_duration_seconds").count == 1)
    }
}
