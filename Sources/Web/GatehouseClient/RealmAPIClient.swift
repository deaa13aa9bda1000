// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import HTTPSClient
public import RealmKit

/// Checks the credentials of users by the realm API of a server.
///
/// The server counts and logs each check as a login. A check has the time limit of the client of the ``GatehouseEndpoint``, 30
/// seconds by default, and ends when its task is cancelled. It may be used from any thread.
public struct RealmAPIClient: Sendable {
    private let server: GatehouseEndpoint
    private let token: Secret?

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - server: The server.
    ///   - token: The `token` of the `client` block of this program, without a line feed; nil if the program has only a
    ///     client certificate.
    /// - Throws: ``GatehouseClientError`` if the token is not 1 to 512 visible characters of ASCII.
    public init(_ server: GatehouseEndpoint, token: Secret?) throws(GatehouseClientError) {
        let isValid = token?.withBytes { bytes in
            (1...512).contains(bytes.count) && bytes.indices.allSatisfy { ASCII.isVisible(bytes[$0]) }
        }
        guard isValid ?? true else {
            throw GatehouseClientError("the token is not one line of 1 to 512 visible characters of ASCII")
        }
        (self.server, self.token) = (server, token)
    }

    /// Creates a client with the token of a file of one line, which is read now.
    ///
    /// - Throws: ``GatehouseClientError`` if the file cannot be read, or has no token.
    public init(_ server: GatehouseEndpoint, tokenFile path: String) throws(GatehouseClientError) {
        var bytes = try ClientFile.bytes(path)
        defer { for index in bytes.indices { bytes[index] = 0 } }
        let count = bytes.last == ASCII.lineFeed ? bytes.count - 1 : bytes.count
        try self.init(server, token: Secret(bytes[..<count]))
    }

    /// Checks a name and a password.
    ///
    /// - Parameters:
    ///   - name: The user name, as the client has sent it.
    ///   - password: The password, in UTF-8.
    ///   - realm: The name of the realm.
    ///   - codes: The answers to questions after the password, such as one-time codes; at most 3.
    ///   - service: The service that the user signs in to; it must not come from a client.
    ///   - address: The address of the user, if the program has `may-name-address on`. Programs that serve a network should
    ///     pass it: without it, nothing limits guesses at many accounts.
    /// - Returns: The result.
    public func check(
        _ name: String,
        password: Secret,
        in realm: String,
        codes: [Secret] = [],
        service: String = "https",
        address: String? = nil
    ) async -> CredentialCheck {
        guard let username = try? Username(name) else { return .refused(.wrongCredentials) }
        let body = RealmAPIRequest.body(
            username: username,
            password: password,
            codes: codes,
            service: service,
            address: address
        )
        guard let body else { return .refused(.unusableCredential) }
        do throws(GatehouseClientError) {
            let path = "/realms/\(PercentEncoding.encode(realm, keeping: "@"))/check"
            switch try await answer(
                path,
                body: body,
                { response throws(RealmAPIResponse.Fault) in try response.outcome() }
            ) {
            case .refused(let reason) where reason.isTemporary: return .unavailable(reason.code)
            case .refused(let reason): return .refused(reason)
            case .accepted(let user, let groups, _, let attributes):
                let sorted = attributes.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
                return .accepted(
                    try SignedInUser(
                        user.text,
                        realm: realm,
                        groups: groups,
                        attributes: sorted.map { ($0.key, $0.value) }
                    )
                )
            }
        } catch {
            return .unavailable(error.description)
        }
    }

    /// Returns the names of the realms that this program may use, for a check of the settings at the start.
    ///
    /// - Throws: ``GatehouseClientError`` if the server cannot be reached, does not know the program, or has no realm API.
    public func realms() async throws(GatehouseClientError) -> [String] {
        try await answer("/realms") { response throws(RealmAPIResponse.Fault) in try response.realms().map(\.name) }
    }

    /// Sends a request, and reads the answer if its status is 200.
    private func answer<Value>(
        _ path: String,
        body: Secret? = nil,
        _ read: (RealmAPIResponse) throws(RealmAPIResponse.Fault) -> Value
    ) async throws(GatehouseClientError) -> Value {
        let url = server.url(path)
        let response: HTTPSResponse
        do throws(HTTPSClientError) {
            response = try await server.response(to: RealmAPIRequest.make(url, token: token, body: body))
        } catch {
            throw GatehouseClientError("\(url): \(error.cause)")
        }
        guard response.status == 200 else {
            let error = RealmAPIResponse.error(in: response).map { ", \(LineText.line($0))" } ?? ""
            throw GatehouseClientError("\(url): status \(response.status)\(error)")
        }
        do throws(RealmAPIResponse.Fault) {
            return try read(try RealmAPIResponse(response))
        } catch {
            throw GatehouseClientError("\(url): the answer cannot be used: \(LineText.line(error.reason))")
        }
    }
}

/// The result of a check by the realm API.
public enum CredentialCheck: Sendable {
    /// The realm has accepted the user.
    case accepted(SignedInUser)
    /// The user is refused. Without `show-reasons` the reason is always `LoginFailure.wrongCredentials`; it is for the log.
    case refused(LoginFailure)
    /// The login could not be decided, for the cause in the text: the server cannot be reached or is busy, or this program
    /// has made a mistake, such as a wrong token. It says nothing about the password. A server answers with 503.
    case unavailable(String)

    /// The accepted user; nil for every other result.
    public var user: SignedInUser? { if case .accepted(let user) = self { user } else { nil } }
}
