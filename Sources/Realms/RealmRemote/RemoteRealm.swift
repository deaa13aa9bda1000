// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Files
internal import HTTPSClient
public import RealmKit

/// A realm whose users are checked by an HTTPS service.
///
/// The service receives the user name and the password as HTTP Basic credentials or in a JSON body. Its status, and
/// optionally the values at some paths of its JSON answer, decide the login. A service that cannot be reached, does not
/// answer in time, or answers something unexpected is unavailable; this is never a wrong password.
///
/// Properties: see docs/realms/remote.md. It may be used from any thread.
public struct RemoteRealm: Realm {
    /// True, because the realm asks a web service.
    public static let dependsOnOtherSystems = true

    /// The properties that are listed in docs/realms/remote.md.
    public static let properties: PropertySchema = [
        .jaasContext(default: "remoteRealm"),
        .optional("url", .list),
        .optional("gatehouse", .list),
        .optional("method", .choice(["GET", "POST"])),
        .optional("credentials", .choice(["basic", "json"])),
        .optional("body-template"),
        .optional("token", .secret),
        .string("user-agent", default: "Gatehouse"),
        .optional("fields", .list),
        .optional("ca-file", .path).naming(.certificates),
        .optional("pins", .list),
        .optional("client-certificate", .path).naming(.certificates),
        .optional("client-key", .path).naming(.privateKey),
        Property("connect-timeout", .duration, default: "3s"),
        Property("timeout", .duration, default: "10s"),
        Property("maximum-response", .integer(1...16_777_216), default: "65536"),
        Property("connections", .integer(1...1024), default: "16"),
        Property("queue", .integer(0...4096), default: "512"),
        Property("when-full", .choice(["refuse", "cancel-oldest"]), default: "refuse"),
        Property("fail-over", .choice(["not-reached", "unavailable"]), default: "not-reached"),
        .optional("user-path"),
        .optional("groups-path"),
        .optional("reason-path", .list),
        .optional("attribute-paths", .list),
        .optional("attributes-path"),
        .optional("outcomes", .list),
    ]

    /// The entry of login.conf that checks this realm's users.
    public let jaasContext: String
    let checks: PasswordChecks

    /// The authentication type `remote`.
    public var authType: String { "remote" }

    /// Creates the realm; no connection is opened.
    ///
    /// - Parameter properties: The properties of the schema. If the services contain a `RealmLog`, it receives the causes
    ///   of outages.
    /// - Throws: ``BadRealm`` for a property that cannot be used, such as a URL that is not `https`, a file without a
    ///   certificate, or a template that is not JSON.
    public init(_ properties: RealmProperties) throws(BadRealm) {
        let start = ContinuousClock.now
        try self.init(properties) { (ContinuousClock.now - start).nanoseconds }
    }

    init(_ properties: RealmProperties, now: @escaping @Sendable () -> UInt64) throws(BadRealm) {
        jaasContext = try properties.jaasContext
        checks = try PasswordChecks(properties, now: now)
    }
}

/// Checks the names and passwords of a ``RemoteRealm``'s users.
///
/// The options are those of `FirstPass`.
public struct RemoteLoginModule: PasswordLoginModule {
    /// The settings for sharing the password with the other modules of the stack.
    public let firstPass: FirstPass
    private let realm: RemoteRealm

    /// Creates the module for a realm.
    ///
    /// - Parameters:
    ///   - realm: The realm whose users are checked.
    ///   - options: The options of `FirstPass`.
    /// - Throws: ``BadModule`` if the options cannot be read.
    public init(realm: RemoteRealm, options: ModuleOptions) throws(BadModule) {
        firstPass = try FirstPass(options)
        self.realm = realm
    }

    /// Succeeds if the service accepts the user name and the password.
    ///
    /// An empty password is refused without asking the service, because some services accept it as an anonymous login.
    public func authenticate(_ attempt: LoginAttempt, password: Secret) async throws(LoginFault) -> Verdict {
        guard !password.isEmpty else { return .failed(.wrongCredentials) }
        let answer: RemoteAnswer
        do throws(LoginFault) {
            let source = ClientNetwork.source(attempt.peer)
            answer = try await realm.checks.check(attempt.username, password: password, source: source)
        } catch {
            guard error.kind == .unusableCredential else { throw error }
            return .failed(.unusableCredential)
        }
        switch answer {
        case .failed(let failure): return .failed(failure)
        case .accepted(let user, let groups, let attributes):
            guard let user else { return attempt.commit(groups: groups, attributes: attributes) }
            return attempt.commit(as: user, groups: groups, attributes: attributes)
        }
    }
}

extension RemoteLoginModule: NonblockingLoginModule {}
