// SPDX-License-Identifier: Apache-2.0

import Logging
import RealmKit
import Synchronization

/// The lines of a log.
final class LogLines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func count(containing text: String) -> Int { all.count { $0.contains(text) } }

    var logger: Logger { Logger(label: "test") { [self] _ in Handler(log: self) } }

    private struct Handler: LogHandler {
        let log: LogLines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let fields = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
            log.lines.withLock { $0.append("\(event.level) \(event.message)\(fields)") }
        }
    }
}

/// Asks for a password and a code, and accepts `right` and `123456`.
struct CodeLoginModule: LoginModule {
    init(realm: any Realm, options: ModuleOptions) throws(BadModule) {}

    func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        guard try await attempt.password().isEqual(to: Secret(utf8: "right")) else { return .failed(.wrongCredentials) }
        let code = try await attempt.oneTimeCode()
        return code.isEqual(to: Secret(utf8: "123456")) ? attempt.commit(groups: ["Staff"]) : .failed(.wrongCredentials)
    }
}

/// A realm with the module, whose changed users a test sets by the property `id`.
struct CodeRealm: RefreshingRealm {
    static let properties: PropertySchema = [.jaasContext(default: "code"), .string("id", default: "")]
    static let kind = RealmKind(CodeRealm.self, modules: CodeLoginModule.self)
    static let changed = Mutex<[String: [Username]]>([:])
    let jaasContext: String
    let id: String
    var authType: String { "code" }

    init(_ properties: RealmProperties) throws(BadRealm) {
        jaasContext = try properties.jaasContext
        id = try properties.string("id")
    }

    func refresh() async -> ChangedUsers { .some(Set(Self.changed.withLock { $0.removeValue(forKey: id) ?? [] })) }
}
