// SPDX-License-Identifier: Apache-2.0

import AccessControl
import BuiltInRealms
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import Passwords
import RealmConfiguration
import RealmKit
import Synchronization

@testable import HummingbirdRealms
@testable import SignIn

/// Realms with some users, and applications whose routes these realms protect.
final class RealmsFixture: Sendable {
    typealias Context = BasicRealmRequestContext

    /// The response to a request.
    struct Answer: Sendable {
        let status: Int
        let headers: HTTPFields
        let text: String

        /// The session cookie that the answer sets.
        var cookie: String? {
            headers[values: .setCookie].first { $0.hasPrefix("__Host-gatehouse=") }?
                .split(separator: ";").first.map(String.init)
        }
    }

    static let password = "correct horse"
    let realms: Realms
    let folder: URL

    /// - Parameters:
    ///   - rules: Further statements of realms.conf.
    ///   - server: Further statements of the server block.
    ///   - port: The port to listen on; 0 for any.
    ///   - logger: The log of the realms.
    /// - Throws: An error if the configuration is invalid.
    init(
        rules: String = "",
        server: String = "",
        port: Int = 0,
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    ) async throws {
        folder = try Self.makeFolder()
        let file = folder.appending(path: "realms.conf")
        try Data(Self.text(rules: rules, server: server, port: port).utf8).write(to: file)
        realms = try await Realms(file.path, kinds: builtInRealms, logger: logger)
        try await add("ann", groups: ["Staff", "User"])
        try await add("ben", groups: ["User"])
        // A running application calls it within its first second.
        await refresh()
    }

    private static func text(rules: String, server: String, port: Int) -> String {
        """
        default-realm people;
        login storeRealm { StoreLoginModule required; }
        login open { StartWithLoginModule required; }
        realm people { class StoreRealm; }
        realm zoo { class StartWithRealm; jaas-context open; startWith z; }
        role editor { user ben; }
        passwords { hash argon2id memory=64KiB passes=1 lanes=1; }
        server {
            listen 127.0.0.1:\(port);
            throttle { delay 0s; }
            credential-cache 0s;
            \(server)
        }
        \(rules)
        """
    }

    /// Writes another realms.conf, with replaced texts.
    func rewrite(rules: String = "", server: String = "", _ changes: (old: String, new: String)...) throws {
        var text = Self.text(rules: rules, server: server, port: 0)
        for change in changes {
            guard text.contains(change.old) else { throw MissingValue(item: change.old) }
            text.replace(change.old, with: change.new)
        }
        try Data(text.utf8).write(to: folder.appending(path: "realms.conf"))
    }

    /// Checks the realms for changed users now.
    func refresh() async { await realms.service.refresher.refresh() }

    /// Creates a folder that is removed when the process ends.
    ///
    /// An application may exist longer than its fixture.
    private static func makeFolder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "gatehouse-library-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let isFirst = folders.withLock { folders in
            folders.append(folder)
            return folders.count == 1
        }
        if isFirst {
            atexit {
                for folder in RealmsFixture.folders.withLock({ $0 }) { try? FileManager.default.removeItem(at: folder) }
            }
        }
        return folder
    }

    private static let folders = Mutex<[URL]>([])

    private var people: any ManagedRealm {
        get throws {
            let realm = try realms.configuration.authenticator.realm("people").realm
            guard let realm = realm as? any ManagedRealm else { throw RealmError.noSuchRealm("people", known: []) }
            return realm
        }
    }

    func add(_ name: String, groups: [String]) async throws {
        let hash = try await realms.configuration.services[PasswordService.self]?.hash(Secret(utf8: Self.password))
        try await people.add(UserRecord(try Username(name), groups: groups), hash: hash)
    }

    func remove(_ name: String) async throws { try await people.remove(try Username(name)) }

    /// Returns the application that most tests use.
    func application() throws -> Application<RouterResponder<Context>> {
        var application = Application(router: try router())
        application.logger.logLevel = .critical
        return application
    }

    func router() throws -> Router<Context> {
        let router = Router(context: Context.self)
        router.add(middleware: SignInPages(realms))
        router.add(middleware: try RealmAuthenticator(realms))
        router.get("/") { _, context in context.user.map { "hello \($0.username)" } ?? "hello stranger" }
        router.group("user").add(middleware: RequireUser())
            .get { _, context in try context.requireUser().username.text }
            .post { _, context in context.isCSRFToken("nonsense") ? "forged" : "done" }
        router.group("staff").add(middleware: RequireGroup("Staff", "Crew")).get { _, _ in "staff" }
        router.group("edit").add(middleware: try RequireRole("editor", of: realms)).get { _, _ in "edit" }
        router.get("/required") { _, context in try context.requireUser().username.text }
        router.get("/own-cache") { _, _ in
            Response(status: .ok, headers: [.cacheControl: "private, max-age=60", .vary: "Accept, COOKIE"])
        }
        router.get("/shared") { _, _ in Response(status: .ok, headers: [.cacheControl: "public, max-age=60"]) }
        return router
    }

    /// Returns an application that is protected by the rules of realms.conf.
    func ruled(
        _ unmatched: ProtectedByRules<Context>.UnmatchedRequests = .denied
    ) -> Application<RouterResponder<Context>> {
        let router = Router(context: Context.self)
        router.add(middleware: SignInPages(realms))
        router.add(middleware: ProtectedByRules(realms, unmatched: unmatched))
        router.get("**") { _, context in context.user?.username.text ?? "nobody" }
        router.post("**") { _, context in context.user?.username.text ?? "nobody" }
        return Application(router: router)
    }

    /// Signs in by the session API, and returns the session cookie.
    func signIn(_ name: String, at application: Application<RouterResponder<Context>>) async throws -> String {
        let body = #"{"username": "\#(name)", "password": "\#(Self.password)"}"#
        let answer = try await application.send(.post, "/session", [.contentType: "application/json"], body: body)
        guard let cookie = answer.cookie else { throw MissingValue(item: "cookie in \(answer)") }
        return cookie
    }
}

/// The error for a missing value that a test needs.
struct MissingValue: Error {
    let item: String
}

func basic(_ name: String, _ password: String = RealmsFixture.password) -> HTTPFields {
    [.authorization: "Basic \(Data("\(name):\(password)".utf8).base64EncodedString())"]
}

extension Application {
    /// Sends a request without a connection.
    func send<Context: RequestContext>(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ headers: HTTPFields = [:],
        body: String = "",
        from peer: String? = "192.0.2.1",
        host: String = "localhost"
    ) async throws -> RealmsFixture.Answer
    where Responder == RouterResponder<Context>, Context.Source == ApplicationRequestContextSource {
        let channel = NIOAsyncTestingChannel()
        channel.remoteAddress = try peer.map { try SocketAddress(ipAddress: $0, port: 1234) }
        let source = ApplicationRequestContextSource(channel: channel, logger: logger)
        let head = HTTPRequest(method: method, scheme: "https", authority: host, path: path, headerFields: headers)
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(string: body)))
        let context = Context(source: source)
        let response: Response
        do {
            response = try await responder.respond(to: request, context: context)
        } catch let error as any HTTPResponseError {
            response = try error.response(from: request, context: context)
        }
        let written = WrittenBody()
        try await response.body.write(written)
        _ = try? await channel.finish()
        let text = written.text.withLock { $0 }
        return RealmsFixture.Answer(status: response.status.code, headers: response.headers, text: text)
    }
}

/// A body writer that keeps the written text.
private final class WrittenBody: ResponseBodyWriter, Sendable {
    let text = Mutex("")

    func write(_ buffer: ByteBuffer) async throws { text.withLock { $0 += String(buffer: buffer) } }

    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
