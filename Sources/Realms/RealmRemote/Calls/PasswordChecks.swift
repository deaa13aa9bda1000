// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import HTTPSClient
internal import OpenSSLKit
internal import RealmKit
internal import ServerConnections
internal import Synchronization
internal import Workers

/// Asks the services about user names and passwords.
///
/// The number of concurrent calls is limited, and identical calls at the same time are made once. A password is sent to
/// each server at most once in a check.
final class PasswordChecks: Sendable {
    let settings: RemoteSettings
    private let client: HTTPSClient
    let slots: FairSlots
    let shared = SharedCalls<Digest, Result<RemoteAnswer, LoginFault>>()
    private let key: HMACKey
    private let timeout: Duration
    private let outages: OutageLog
    private let now: @Sendable () -> UInt64
    /// The time of the last answer of a service.
    private let answered = Atomic<UInt64>(0)

    init(_ properties: RealmProperties, now: @escaping @Sendable () -> UInt64) throws(BadRealm) {
        settings = try RemoteSettings(properties)
        client = try ClientSettings.client(properties)
        timeout = try ServerPoolSettings.time("timeout", of: properties)
        slots = FairSlots(
            count: try properties.integer("connections"),
            queue: try properties.integer("queue"),
            wait: timeout.nanoseconds,
            cancelsOldest: try properties.string("when-full") == "cancel-oldest",
            unlimitedSource: ClientNetwork.source(nil),
            now: now
        )
        outages = OutageLog(properties.services[RealmLog.self], realmName: properties.realmName, now: now)
        key = try Result { () throws(OpenSSLError) in
            let bytes = try RandomBytes.make(32)
            return try HMACKey(bytes.span)
        }.mapError { BadRealm("\($0)") }.get()
        self.now = now
    }

    /// Checks a user name and a password, which is not empty, and returns the answer of the first service that answers.
    func check(_ name: Username, password: Secret, source: String) async throws(LoginFault) -> RemoteAnswer {
        let identity = try Result { () throws(OpenSSLError) in
            try key.tag { message in
                message.append(field: name.text.utf8Span.span)
                password.withBytes { message.append(field: $0) }
            }
        }.mapError { LoginFault.internalError("\($0)") }.get()
        let start = now()
        let owner = JobOwner(source: source, account: name.caseFolded)
        let result = await shared.value(of: identity) { [self] in
            do throws(FairSlots.Refusal) {
                return try await slots.run(for: owner) { await call(name, password: password, since: start) }
            } catch {
                return .failure(refused(error))
            }
        }
        guard let result else { throw .unavailable("the login was cancelled") }
        return try result.get()
    }

    private static let waitedTooLong = "a login has waited too long for the service"

    private func refused(_ refusal: FairSlots.Refusal) -> LoginFault {
        let cause: String
        switch refusal {
        case .full: cause = "too many logins wait for the service"
        case .timedOut: cause = Self.waitedTooLong
        case .cancelled, .noThread: return .unavailable("the login was cancelled")
        }
        outages.write(cause, kind: "\(refusal)")
        return .overloaded(cause)
    }

    /// Asks the servers in order.
    private func call(
        _ name: Username,
        password: Secret,
        since start: UInt64
    ) async -> Result<RemoteAnswer, LoginFault> {
        var last = LoginFault.overloaded(Self.waitedTooLong)
        for server in settings.servers {
            let passed = Duration.nanoseconds(Int64(clamping: now() &- start))
            guard passed < timeout else {
                return .failure(LoginFault(last.kind, log: "no answer in \(timeout); \(last.log)"))
            }
            let request: HTTPSRequest
            do throws(HTTPSClientError) {
                guard var made = try settings.requests.request(to: server, name: name, password: password) else {
                    let problem = "the user name or the password cannot be sent"
                    return .failure(LoginFault(.unusableCredential, log: problem))
                }
                made.timeout = timeout - passed
                request = made
            } catch {
                return .failure(LoginFault(.unusableCredential, log: error.cause))
            }
            do throws(RemoteOutage) {
                let answer = try await answer(to: request)
                answered.store(now(), ordering: .relaxed)
                return .success(answer)
            } catch {
                // A service that answers others meanwhile is slow for this login, or has too much to do.
                let isSlow = error.isTimeout && answered.load(ordering: .relaxed) > start
                let kind = error.isOverload || isSlow ? LoginFailure.overloaded : .unavailable
                last = LoginFault(kind, log: "\(server): \(error.cause)")
                guard error.kind != HTTPSClientError.Code.cancelled.rawValue else {
                    return .failure(.unavailable("the login was cancelled"))
                }
                outages.write(error.cause, kind: error.kind, server: server.description)
                guard !error.mayHaveReachedServer || settings.asksNextIfUnavailable else { return .failure(last) }
            }
        }
        return .failure(last)
    }

    private func answer(to request: HTTPSRequest) async throws(RemoteOutage) -> RemoteAnswer {
        let response: HTTPSResponse
        do throws(HTTPSClientError) {
            response = try await client.response(to: request)
        } catch {
            throw RemoteOutage(error)
        }
        return try settings.format.answer(response)
    }
}

/// Creates the HTTPS client of a realm from its properties.
enum ClientSettings {
    static func client(_ properties: RealmProperties) throws(BadRealm) -> HTTPSClient {
        var configuration = HTTPSClientConfiguration(trust: try trust(properties))
        configuration.identity = try ClientCertificateFiles(properties)?.identity()
        configuration.userAgent = try properties.string("user-agent")
        configuration.connectTimeout = try ServerPoolSettings.time("connect-timeout", of: properties)
        configuration.timeout = try ServerPoolSettings.time("timeout", of: properties)
        configuration.maximumBody = try properties.integer("maximum-response")
        configuration.connections = try properties.integer("connections")
        return try Result { () throws(HTTPSClientError) in try HTTPSClient(configuration) }
            .mapError { BadRealm($0.cause) }.get()
    }

    private static func trust(_ properties: RealmProperties) throws(BadRealm) -> TLSTrust {
        let file = try properties.optional("ca-file")
        let authorities = try file.map { path throws(BadRealm) in
            try SettingsFile.certificates(path, setting: "ca-file")
        }
        guard properties.has("pins") else { return authorities.map { .authorities($0) } ?? .system }
        var pins: Set<Digest> = []
        for text in try properties.list("pins") {
            guard let pin = Digest(pin: text) else {
                throw BadRealm("takes sha256//BASE64 or 64 hexadecimal digits, not \(text)", setting: "pins")
            }
            pins.insert(pin)
        }
        guard !pins.isEmpty else { throw BadRealm("must not be empty", setting: "pins") }
        return .pinnedKeys(pins, authorities: authorities ?? [])
    }
}
