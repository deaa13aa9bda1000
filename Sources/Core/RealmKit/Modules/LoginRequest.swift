// SPDX-License-Identifier: Apache-2.0

/// The start of a login: the realm, the user name, the service and the client's address.
public struct LoginRequest: Sendable, Hashable {
    /// The name of the realm that authenticates the user.
    public let realm: String
    /// The user name as the client sent it.
    public let username: Username
    /// The service that the user signs in to, such as `https` or `authcheck`; the service name of PAM.
    public let service: String
    /// The network address of the client; nil if the login did not come over a network.
    public let peer: String?

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - realm: The name of the realm that authenticates the user.
    ///   - username: The user name as the client sent it.
    ///   - service: The service that the user signs in to.
    ///   - peer: The network address of the client, if the login came over a network.
    public init(realm: String, username: Username, service: String = "login", peer: String? = nil) {
        self.realm = realm
        self.username = username
        self.service = service
        self.peer = peer
    }
}
