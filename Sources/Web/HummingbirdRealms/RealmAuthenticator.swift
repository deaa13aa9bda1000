// SPDX-License-Identifier: Apache-2.0

public import AccessControl
internal import Bytes
internal import HTTPTypes
public import Hummingbird
internal import RealmConfiguration
public import RealmKit
internal import SignIn
internal import Synchronization

/// Authenticates requests and stores the user in the context.
///
/// Requests without a user are passed on too.
///
/// If a request passes several authenticators, the last authenticator decides. If it does not accept the user's realm
/// or scheme, it authenticates the request again, and the earlier user is removed from the context.
///
/// An ambiguous or malformed request gets 400. An authenticated request from a page of another site gets 403 if its
/// method is not safe.
public struct RealmAuthenticator<Context: RealmRequestContext>: RouterMiddleware {
    private let realms: Realms
    private let guards: PerConfiguration<(routeGuard: RouteGuard, names: [String])>
    private let schemes: [ProtectRule.Scheme]
    private let isActivity: Bool

    /// Creates an authenticator for some realms.
    ///
    /// - Parameters:
    ///   - realms: The realms.
    ///   - names: The names of the realms that authenticate users, in order; nil for the realms of the sign-in page.
    ///   - whenUnavailable: Whether the next realm is used if a realm is unavailable; nil for the setting of the sign-in
    ///     page if `names` is nil, otherwise for `continue`.
    ///   - schemes: The authentication schemes, the preferred scheme first. If `form` is first, browsers without a session
    ///     are redirected to the sign-in page.
    ///   - isActivity: True if a request extends the idle time of its session. Use false for requests that scripts send
    ///     without an action of the user.
    /// - Throws: `RealmError` with the code `noSuchRealm` when a realm does not exist. A configuration without
    ///   these realms is not reloaded.
    public init(
        _ realms: Realms,
        in names: [String]? = nil,
        whenUnavailable: WhenUnavailable? = nil,
        schemes: [ProtectRule.Scheme] = [.form, .basic],
        isActivity: Bool = true
    ) throws(RealmError) {
        let access = realms.access
        for name in names ?? access.signIn.realms { _ = try access.configuration.authenticator.realm(name) }
        realms.namesInCode.withLock { $0.realms.formUnion((names ?? []).map { UTF8Text($0) }) }
        guards = PerConfiguration(access) { access in
            let reaction = whenUnavailable ?? (names == nil ? access.signIn.whenUnavailable : .continue)
            let names = names ?? access.signIn.realms
            return (access.routeGuard(realms: names, whenUnavailable: reaction, schemes: schemes), names)
        }
        self.realms = realms
        self.schemes = schemes
        self.isActivity = isActivity
    }

    /// Authenticates a request and passes it on.
    public func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        var context = context
        let (routeGuard, names) = guards.value(in: realms.access)
        // A user of other middleware has no guard.
        if case .user(let authenticated, .some) = context.authentication.result,
            isAccepted(authenticated, of: names, on: context.authentication)
        {
            context.authentication.result = .user(authenticated, routeGuard)
            return try await next(request, context)
        }
        let connection = context.authentication.connection
        switch await routeGuard.check(request, from: connection, isActivity: isActivity, logger: context.logger) {
        case .user(let user): context.authentication.result = .user(user, routeGuard)
        case .rejected(let rejection): context.authentication.result = .anonymous(rejection)
        case .open, .noMatchingRule: context.authentication.result = .anonymous(routeGuard.rejection(of: nil))
        case .answered(let response): return response
        }
        return try await CacheHeaders.add(isPersonal: context.user != nil) {
            try await next(request, context)
        }
    }

    /// Returns whether this authenticator accepts a user that other middleware has authenticated.
    private func isAccepted(
        _ authenticated: RouteGuard.AuthenticatedUser,
        of names: [String],
        on authentication: RealmAuthentication
    ) -> Bool {
        // On a connection with a client certificate, it is not known which credentials were accepted.
        guard authenticated.session != nil || authentication.connection.certificate?.handshake.chain.isEmpty ?? true
        else {
            return false
        }
        return schemes.contains(authenticated.session == nil ? .basic : .form)
            && names.contains { $0.utf8.elementsEqual(authenticated.user.realm.utf8) }
    }
}

/// The header fields that prevent caches from sending a response for one user to another user.
///
/// Source: RFC 9111 section 5.2.2, RFC 9110 section 12.5.5.
enum CacheHeaders {
    private static let credentialFields = ["Authorization", "Cookie"]

    /// Makes a response, and adds the header fields to it or to its `HTTPError`.
    ///
    /// It gets `Vary`. If the request is authenticated, it also gets `Cache-Control: no-store`, unless its
    /// `Cache-Control` already contains `no-store` or `private`.
    static func add(isPersonal: Bool, _ respond: () async throws -> Response) async throws -> Response {
        do {
            var response = try await respond()
            add(to: &response.headers, isPersonal: isPersonal)
            return response
        } catch var error as HTTPError {
            add(to: &error.headers, isPersonal: isPersonal)
            throw error
        }
    }

    static func add(to headers: inout HTTPFields, isPersonal: Bool) {
        let varying = names(headers[values: .vary])
        if !varying.contains("*") {
            let missing = credentialFields.filter { name in !varying.contains { $0 == name.lowercased() } }
            if !missing.isEmpty { headers.append(HTTPField(name: .vary, value: missing.joined(separator: ", "))) }
        }
        guard isPersonal else { return }
        let control = names(headers[values: .cacheControl])
        guard !control.contains("no-store"), !control.contains("private") else { return }
        headers[.cacheControl] = "no-store"
    }

    private static func names(_ values: [String]) -> [String] {
        values.flatMap { $0.split(separator: ",") }.map { name in
            String(name.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }).lowercased()
        }
    }
}
