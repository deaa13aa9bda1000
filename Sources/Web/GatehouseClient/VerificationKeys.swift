// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import HTTPSClient
internal import OpenSSLKit
internal import RealmKit
internal import Synchronization

/// The public keys by which identity tokens are verified.
///
/// Keys of a server are fetched when the first token arrives, when they are five minutes old, and when a token names an
/// unknown key, but never twice within ten seconds. If a fetch fails, the earlier keys are used for up to an hour. So a key
/// that the server has removed is trusted for five minutes, or for an hour while the server cannot be reached.
///
/// It may be used from any thread.
public final class VerificationKeys: Sendable {
    // In seconds. The server allows to keep its answer for as long.
    static let refreshTime = 300
    static let fetchInterval = 10
    static let lifetime = 3600

    typealias Keys = [UTF8Text: VerificationKey]

    /// A key, or the reason why there is none.
    enum Lookup {
        case found(VerificationKey)
        /// The server does not publish a key with this id.
        case unknown
        /// The keys could not be fetched.
        case unavailable(String)
    }

    private struct State {
        var keys: Keys
        // In seconds since 1970.
        var fetched, attempted: Int?
        /// The cause of the failure of the last fetch.
        var fault: String?
        var fetch: Task<Void, Never>?

        /// Returns whether a time is less than some seconds ago, and not in the future because the clock was set back.
        static func isRecent(_ time: Int?, within seconds: Int, at now: Int) -> Bool {
            time.map { ($0..<$0 + seconds).contains(now) } ?? false
        }
    }

    private let state: Mutex<State>
    private let clock: WallClock
    /// The server whose keys they are; nil for keys that never change.
    private let server: GatehouseEndpoint?

    /// Uses the keys that a server publishes at `jwks.json`; no request is sent now.
    public convenience init(of server: GatehouseEndpoint) { self.init(of: server, clock: .ofSystem) }

    init(of server: GatehouseEndpoint, clock: WallClock) {
        (self.server, self.clock) = (server, clock)
        state = Mutex(State(keys: [:]))
    }

    /// Uses the keys of a JWK Set (RFC 7517), for example from a file, which never change.
    ///
    /// - Throws: ``GatehouseClientError`` if it is no JWK Set of at most 64 KiB, has no key for ES256, or two of the same id.
    public init(json: [UInt8]) throws(GatehouseClientError) {
        (server, clock) = (nil, .ofSystem)
        state = Mutex(State(keys: try Self.read(json)))
    }

    /// Returns the key with an id, after a fetch if it is due.
    func key(_ id: UTF8Text) async -> Lookup {
        guard let server else { return state.withLock { $0.keys[id] }.map(Lookup.found) ?? .unknown }
        let now = clock.seconds
        let running = state.withLock { state -> Task<Void, Never>? in
            if state.keys[id] != nil, State.isRecent(state.fetched, within: Self.refreshTime, at: now) { return nil }
            if state.fetch == nil, !State.isRecent(state.attempted, within: Self.fetchInterval, at: now) {
                state.attempted = now
                // Not a part of the caller's task: a client that cancels its request must not stop the fetch for others.
                state.fetch = Task { [self] in await fetch(from: server, at: now) }
            }
            return state.fetch
        }
        await running?.value
        return state.withLock { state in
            guard State.isRecent(state.fetched, within: Self.lifetime, at: clock.seconds) else {
                return .unavailable(state.fault ?? "the clock was changed")
            }
            if let key = state.keys[id] { return .found(key) }
            return state.fault.map(Lookup.unavailable) ?? .unknown
        }
    }

    private func fetch(from server: GatehouseEndpoint, at now: Int) async {
        do throws(GatehouseClientError) {
            let keys = try await Self.keys(of: server)
            state.withLock { state in (state.keys, state.fetched, state.fault, state.fetch) = (keys, now, nil, nil) }
        } catch {
            state.withLock { state in (state.fault, state.fetch) = (error.description, nil) }
        }
    }
}

extension VerificationKeys {
    private static let maximumBytes = 65_536

    /// Requests the keys of a server.
    private static func keys(of server: GatehouseEndpoint) async throws(GatehouseClientError) -> Keys {
        let url = server.url("/jwks.json")
        let response: HTTPSResponse
        do throws(HTTPSClientError) {
            var request = try HTTPSRequest("GET", HTTPSURL(url))
            request.timeout = .seconds(5)
            response = try await server.response(to: request)
        } catch {
            throw GatehouseClientError("\(url): \(error.cause)")
        }
        guard response.status == 200 else { throw GatehouseClientError("\(url): status \(response.status)") }
        do throws(GatehouseClientError) {
            return try read(response.body)
        } catch {
            throw GatehouseClientError("\(url): \(error)")
        }
    }

    /// Reads a JWK Set; keys for other algorithms or uses are ignored (RFC 7517 section 5).
    static func read(_ json: [UInt8]) throws(GatehouseClientError) -> Keys {
        guard json.count <= maximumBytes else {
            throw GatehouseClientError("the key set is longer than \(maximumBytes) bytes")
        }
        let set = try Result { () throws(JSONFault) in try JSONValue(reading: json.span) }
            .mapError { GatehouseClientError("the key set is not valid JSON: \($0)") }.get()
        guard case .array(let elements)? = set["keys"] else { throw GatehouseClientError("there is no array of keys") }
        var keys: Keys = [:]
        for element in elements {
            guard let (id, key) = key(element) else { continue }
            guard keys.updateValue(key, forKey: id) == nil else {
                throw GatehouseClientError("two keys have the id \(LogText.quoted(id.string))")
            }
        }
        guard !keys.isEmpty else { throw GatehouseClientError("the key set has no key for ES256 with an id") }
        return keys
    }

    /// Returns the key of a JWK (RFC 7518 section 6.2.1); nil if it is not one that verifies ES256, or has no id.
    private static func key(_ jwk: JSONValue) -> (id: UTF8Text, key: VerificationKey)? {
        guard jwk.hasMember("kty", "EC"), jwk.hasMember("crv", "P-256"), let id = jwk["kid"]?.asText,
            jwk["use"] == nil || jwk.hasMember("use", "sig"), jwk["alg"] == nil || jwk.hasMember("alg", "ES256"),
            let x = jwk["x"]?.asText.flatMap({ Base64.url.decode($0) }),
            let y = jwk["y"]?.asText.flatMap({ Base64.url.decode($0) }),
            let key = try? VerificationKey(x: x, y: y)
        else { return nil }
        return (UTF8Text(id), key)
    }
}
