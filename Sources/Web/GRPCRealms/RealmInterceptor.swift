// SPDX-License-Identifier: Apache-2.0

#if GRPC
public import GRPCCore
internal import Instrumentation
internal import RealmKit
public import RealmVerifier

/// Authenticates each call by HTTP Basic, and passes it on with its user.
///
/// ```swift
/// let server = GRPCServer(transport: transport, services: [service], interceptors: [RealmInterceptor(verifier)])
/// ```
///
/// Handlers, response producers and the interceptors after it find the user in `ServiceContext.current?.signedInUser`,
/// and do not see the metadata `authorization`. Other calls end with `unauthenticated`, or with `unavailable` if a
/// realm is unavailable; only the latter may be repeated.
///
/// A user is checked when a call begins: an open stream stays open, whatever becomes of its user. An interceptor that
/// replaces the `ServiceContext`, as those of tracers may do, must be before it; otherwise handlers find no user.
public struct RealmInterceptor: ServerInterceptor {
    private let verifier: RealmVerifier
    private let realms: [String]?
    private let service: String
    private let peer: @Sendable (ServerContext, Metadata) -> String?

    /// Creates an interceptor.
    ///
    /// - Parameters:
    ///   - verifier: The realms and their limits.
    ///   - realms: The names of the realms that may accept the user, in order; nil for those of the verifier.
    ///   - service: The service that users sign in to, for modules and the log.
    ///   - peer: Returns the client's address of a call. Behind a proxy, it is in metadata that only the proxy can set.
    public init(
        _ verifier: RealmVerifier,
        in realms: [String]? = nil,
        service: String = "grpc",
        peer: @escaping @Sendable (ServerContext, Metadata) -> String? = { context, _ in context.remotePeer }
    ) {
        (self.verifier, self.realms, self.service, self.peer) = (verifier, realms, service, peer)
    }

    /// Authenticates a call and passes it on.
    public func intercept<Input: Sendable, Output: Sendable>(
        request: StreamingServerRequest<Input>,
        context: ServerContext,
        next:
            @Sendable @concurrent (StreamingServerRequest<Input>, ServerContext) async throws ->
            StreamingServerResponse<Output>
    ) async throws -> StreamingServerResponse<Output> {
        let user = try await user(of: request.metadata, peer: peer(context, request.metadata))
        var request = request
        request.metadata.removeAllValues(forKey: "authorization")
        let authenticated = request
        var response = try await withSignedInUser(user) { try await next(authenticated, context) }
        // The messages of the response are made after this function has returned.
        response.accepted = response.accepted.map { contents in
            var contents = contents
            let producer = contents.producer
            contents.producer = { writer in try await withSignedInUser(user) { try await producer(writer) } }
            return contents
        }
        return response
    }

    private func user(of metadata: Metadata, peer: String?) async throws -> SignedInUser {
        guard let credentials = BasicCredentials(authorization: metadata[stringValues: "authorization"]) else {
            throw RPCError(code: .unauthenticated, message: "credentials are required")
        }
        switch await verifier.verify(credentials, in: realms, service: service, peer: peer) {
        case .accepted(let user): return user
        case .unavailable: throw RPCError(code: .unavailable, message: "the login is unavailable now")
        case .refused, .questions: throw RPCError(code: .unauthenticated, message: "wrong user name or password")
        }
    }
}

/// Allows calls of the members of some groups; it must be after a ``RealmInterceptor``.
///
/// Other calls end with `permissionDenied`. In an `interceptorPipeline` it may be applied to some methods:
///
/// ```swift
/// [.apply(RealmInterceptor(verifier), to: .all), .apply(RequireGroup("Staff"), to: .methods([Door.open]))]
/// ```
public struct RequireGroup: ServerInterceptor {
    private let groups: [String]

    /// Allows the members of any of the groups.
    public init(_ groups: String...) { self.groups = groups }

    /// Passes a call on if its user is a member.
    public func intercept<Input: Sendable, Output: Sendable>(
        request: StreamingServerRequest<Input>,
        context: ServerContext,
        next:
            @Sendable @concurrent (StreamingServerRequest<Input>, ServerContext) async throws ->
            StreamingServerResponse<Output>
    ) async throws -> StreamingServerResponse<Output> {
        guard let user = ServiceContext.current?.signedInUser else {
            throw RPCError(code: .internalError, message: "RequireGroup needs a RealmInterceptor before it")
        }
        guard groups.contains(where: user.isMember(of:)) else {
            throw RPCError(code: .permissionDenied, message: "access denied")
        }
        return try await next(request, context)
    }
}
#endif
