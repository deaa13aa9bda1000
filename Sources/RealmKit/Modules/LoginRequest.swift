// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// What a login begins with, the other end of its conversation aside.
public struct LoginRequest: Sendable, Hashable {
    /// The name of the realm that is asked.
    public let realm: String
    /// Who somebody wants to be.
    public let username: Username
    /// What is signed in to, as in `https` or `authcheck`; the service of PAM.
    public let service: String
    /// The network address the request came from, if it came over one.
    public let peer: String?

    /// A request.
    ///
    /// - Parameters:
    ///   - realm: The name of the realm that is asked.
    ///   - username: Who somebody wants to be.
    ///   - service: What is signed in to.
    ///   - peer: The network address the request came from, if it came over one.
    public init(realm: String, username: Username, service: String = "login", peer: String? = nil) {
        self.realm = realm
        self.username = username
        self.service = service
        self.peer = peer
    }
}
