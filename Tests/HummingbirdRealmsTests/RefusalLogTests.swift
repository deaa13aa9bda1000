// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Synchronization
import Testing

@testable import HummingbirdRealms

/// The lines of refused requests in the log of an application.
@Suite struct RefusalLogTests {
    private static let rules = """
        protect /staff  { auth form basic; require group Staff; }
        protect /admin  { nobody; }
        protect /read   { open; methods GET; }
        """

    @Test func `a request that a rule refuses is logged with the rule`() async throws {
        let fixture = try await RealmsFixture(rules: Self.rules)
        let log = Lines()
        var application = fixture.ruled()
        application.logger = log.logger(.info)
        let staff = "rule=\"\(fixture.folder.path)/realms.conf:14:9 /staff\""
        let admin = "rule=\"\(fixture.folder.path)/realms.conf:15:9 /admin\""
        let read = "rule=\"\(fixture.folder.path)/realms.conf:16:9 /read GET\""
        let cookie = try await fixture.signIn("ann", at: application)
        log.clear()
        // A request without credentials is the beginning of most sign-ins.
        #expect(try await application.send(.get, "/staff/a?secret=1").status == 401)
        #expect(log.text == "")
        #expect(try await application.send(.get, "/staff/a?secret=1", basic("ben")).status == 403)
        #expect(
            log.text.contains("a request was refused: forbidden \(staff) needs=\"group Staff\" has=\""),
            "\(log.text)"
        )
        #expect(log.text.contains("\"GET /staff/a\""), "\(log.text)")
        #expect(log.text.contains("\"ben\""))
        #expect(!log.text.contains("secret"))
        log.clear()
        #expect(try await application.send(.get, "/staff", basic("ben", "wrong")).status == 401)
        let answers = "answers=\"StoreLoginModule=wrong-credentials\""
        let refusal = "a login was refused: wrong-credentials module=0 phase=login \(answers) \(staff)"
        #expect(log.text.contains(refusal), "\(log.text)")
        #expect(!log.text.contains("a request was refused"), "\(log.text)")
        log.clear()
        #expect(try await application.send(.get, "/admin", [.cookie: cookie]).status == 403)
        #expect(log.text.contains("a request was refused: forbidden \(admin) denied-by=nobody"), "\(log.text)")
        #expect(try await application.send(.post, "/read").status == 405)
        #expect(log.text.contains("a request was refused: method-not-allowed \(read)"), "\(log.text)")
        #expect(try await application.send(.get, "/elsewhere").status == 403)
        #expect(log.text.contains("a request was refused: no-rule rule=none"), "\(log.text)")
        log.clear()
        #expect(
            try await application.send(.post, "/staff", [.cookie: cookie, .origin: "https://evil.example"]).status
                == 403
        )
        #expect(log.text.contains("a request was refused: cross-origin"), "\(log.text)")
        log.clear()
        #expect(try await application.send(.get, "/staff", [.cookie: cookie]).status == 200)
        #expect(log.text == "")
    }

    @Test func `a request that a requirement of a route refuses is logged with the requirement`() async throws {
        let fixture = try await RealmsFixture()
        let log = Lines()
        var application = try fixture.application()
        application.logger = log.logger(.info)
        #expect(try await application.send(.get, "/staff", basic("ben")).status == 403)
        #expect(log.text.contains("a request was refused: forbidden requires=\"group Staff Crew\""), "\(log.text)")
        #expect(log.text.contains("\"ben\"") && log.text.contains("192.0.2.1"), "\(log.text)")
        log.clear()
        #expect(try await application.send(.get, "/edit", basic("ann")).status == 403)
        #expect(log.text.contains("requires=\"role editor\""), "\(log.text)")
        // Without a user there is a challenge, and no refusal.
        log.clear()
        #expect(try await application.send(.get, "/staff").status == 401)
        #expect(log.text == "")
    }
}

/// The lines that an application has logged.
final class Lines: Sendable {
    private let lines = Mutex<[String]>([])

    var text: String { lines.withLock { $0.joined(separator: "\n") } }

    func clear() { lines.withLock { $0 = [] } }

    func logger(_ level: Logger.Level) -> Logger {
        var logger = Logger(label: "test", factory: { _ in Handler(lines: self) })
        logger.logLevel = level
        return logger
    }

    private struct Handler: LogHandler {
        let lines: Lines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let text = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0)=\($1)" }.joined(separator: " ")
            lines.lines.withLock { $0.append("\(event.message) \(text)") }
        }
    }
}
