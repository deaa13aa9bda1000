// SPDX-License-Identifier: Apache-2.0

internal import Instrumentation
internal import RealmKit
internal import Tracing

/// Records the spans of logins.
///
/// Their attributes are names of the configuration, outcomes and times, and never anything of a user or a client.
struct LoginTracer: Sendable {
    private let tracer: any Tracer

    /// The tracer of the program; nil if it has none now, so that each login only tests an optional.
    init?() {
        let tracer = InstrumentationSystem.tracer
        if tracer is NoOpTracer { return nil }
        self.tracer = tracer
    }

    /// Records a login, whose modules may record spans of their own within this one.
    func record(_ login: (LoginSpan) async -> Verification) async -> Verification {
        let span = LoginSpan(span: tracer.startSpan("login"))
        return await ServiceContext.$current.withValue(span.span.context) { span.end(await login(span)) }
    }

    /// Records a login that was decided without a module.
    func record(_ result: Verification, in realm: String?) {
        let span = LoginSpan(span: tracer.startSpan("login"))
        span.setRealm(realm)
        _ = span.end(result)
    }
}

/// The span of a login that is running.
struct LoginSpan {
    fileprivate let span: any Tracing.Span

    func setRealm(_ realm: String?) { span.attributes["gatehouse.realm"] = realm }

    /// Adds the realm that decided, and the times of its modules in seconds.
    func add(_ outcome: MultiRealmLoginReport.Outcome) {
        let report: LoginReport? =
            switch outcome {
            case .accepted(_, let report): report
            case .rejected(let report), .unavailable(let report): report
            }
        guard let report else { return }
        let steps = report.steps.filter { $0.phase == .login }
        span.updateAttributes { attributes in
            attributes["gatehouse.realm"] = report.realm
            attributes.set("gatehouse.modules", value: .stringArray(steps.map(\.module)))
            attributes.set("gatehouse.module.durations", value: .doubleArray(steps.map { $0.duration / .seconds(1) }))
        }
    }

    fileprivate func end(_ result: Verification) -> Verification {
        span.attributes["gatehouse.outcome"] = result.name
        if case .unavailable = result { span.setStatus(SpanStatus(code: .error)) }
        span.end()
        return result
    }
}

extension Verification {
    fileprivate var name: String {
        switch self {
        case .accepted: "accepted"
        case .refused: "refused"
        case .unavailable: "unavailable"
        case .questions: "questions"
        }
    }
}
