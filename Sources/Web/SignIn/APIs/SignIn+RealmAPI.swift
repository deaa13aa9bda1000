// SPDX-License-Identifier: Apache-2.0

package import AccessControl
internal import Bytes
internal import HTTPTypes
internal import NIOCore
internal import RealmConfiguration
internal import RealmKit

/// The realm API: the routes by which other programs list realms and check credentials of users.
///
/// A check creates no session, and is throttled and logged like any other login.
extension SignIn {
    package func respond(
        at route: Route,
        to request: WebRequest,
        from credentials: APICredentials
    ) async -> RenderedResponse {
        // The routes exist only if the realm API is enabled.
        guard let clients else { return failure("not-found", status: .notFound, to: request) }
        guard route.methods.contains(request.method) else {
            var answer = failure("method-not-allowed", status: .methodNotAllowed, to: request)
            answer.head.headerFields[.allow] = route.methods.joined(separator: ", ")
            return answer
        }
        // A page of another site must not use the certificate of a browser.
        if !request.isSafe, request.isCrossOrigin { return forbidden(nil, because: "cross-origin", request: request) }
        let client: RealmAPISettings.Client
        switch await clients.authenticate(credentials, from: request.address, at: service.wallClock.seconds) {
        case .client(let found): client = found
        case .unknown(let reason):
            service.programLog.logRefusal(reason, of: nil, at: request.address)
            var answer = failure("unknown-program", status: .unauthorized, to: request, remark: reason)
            // RFC 6750 section 3.1: the error code is omitted if the request has no token.
            let error = if case .missing = credentials.token { "" } else { ", error=\"invalid_token\"" }
            answer.head.headerFields[.wwwAuthenticate] = "Bearer realm=\"realm-api\"\(error)"
            return answer
        case .forbidden(let known, let reason): return forbidden(known, because: reason, request: request)
        }
        switch route {
        case .realms:
            let list = client.realms.compactMap { authenticator.realms[$0] }.map { realm -> JSONValue in
                ["name": .text(realm.name), "auth_type": .text(realm.realm.authType)]
            }
            return answer(["realms": .array(list)], to: request, by: client)
        case .realmCheck(let name):
            // The response to a realm of other programs is the same as for a realm that does not exist.
            guard let realm = client.realms.first(where: { UTF8Text($0) == name }) else {
                return forbidden(client, because: "wrong-realm", request: request)
            }
            return await check(in: realm, by: client, request: request)
        case .signIn, .step, .enter, .signOut, .account, .accountEnd, .asset, .session, .sessionRefresh,
            .sessionEvents, .sessions, .oneSession, .forwardAuth:
            return failure("not-found", status: .notFound, to: request)
        }
    }

    // MARK: Checks

    private func check(
        in realm: String,
        by client: RealmAPISettings.Client,
        request: WebRequest
    ) async -> RenderedResponse {
        guard request.contentType == "application/json" else {
            return failure("unsupported-media-type", status: .unsupportedMediaType, to: request, by: client)
        }
        guard let body = await request.collectedBody() else {
            return failure("too-large", status: .contentTooLarge, to: request, by: client)
        }
        let submitted: CheckRequest
        do throws(CheckRequest.Fault) {
            submitted = try CheckRequest(body.readableBytesUInt8Span)
        } catch {
            let json: JSONValue = ["error": .text("malformed"), "reason": .text(error.reason)]
            return answer(json, status: .badRequest, to: request, by: client)
        }
        guard submitted.address == nil || client.mayStateUserAddress else {
            return forbidden(client, because: "address-not-allowed", request: request)
        }
        guard let username = Self.username(submitted.username) else {
            // No user can have this name. The response is the same as for an unknown user.
            return refusal(.unknownUser, of: client, to: request, remark: "bad-user-name")
        }
        // The address of the program is not the address of the user: one program checks the logins of many users, and
        // must not be locked because some of them type wrong passwords. Without the address of the user, failures are
        // counted for the account only.
        let report = try? await authenticator.login(
            LoginRequest(realm: realm, username: username, service: submitted.service, peer: submitted.address),
            asking: CheckConversation(name: username.text, password: submitted.password, codes: submitted.codes)
        )
        guard let report else {
            return failure("unavailable", status: .serviceUnavailable, to: request, by: client)
        }
        service.programLog.logCheck(report, by: client.name, at: request.address)
        var response = response(to: report, by: client, request: request)
        response.report = report
        return response
    }

    private func response(
        to report: LoginReport,
        by client: RealmAPISettings.Client,
        request: WebRequest
    ) -> RenderedResponse {
        guard let refusal = report.refusal else {
            guard let identity = report.identity else {
                return failure("unavailable", status: .serviceUnavailable, to: request, by: client)
            }
            let outcome = identity.checkOutcome
            // There is no session, so the modules are logged out at once.
            service.logouts.add(identity)
            return answer(outcome, to: request, by: client)
        }
        // A program that learns reasons may also learn that a module was unavailable for this user only.
        guard !report.isUnavailable, !(client.showsReasons && refusal.failure.isTemporary) else {
            let isOverloaded = report.isUnavailable ? report.isOverloaded : refusal.failure == .overloaded
            let code = isOverloaded ? "overloaded" : "unavailable"
            return failure(code, status: .serviceUnavailable, to: request, by: client)
        }
        return self.refusal(refusal.failure, of: client, to: request)
    }

    /// Returns the response to refused credentials: unless the program may learn the reason, all have the same bytes.
    private func refusal(
        _ failure: LoginFailure,
        of client: RealmAPISettings.Client,
        to request: WebRequest,
        remark: String? = nil
    ) -> RenderedResponse {
        let reason = client.showsReasons ? failure : .wrongCredentials
        let value: JSONValue = ["outcome": .text("refused"), "reason": .text(reason.code)]
        return answer(value, to: request, by: client, remark: remark)
    }

    // MARK: Responses

    private func answer(
        _ value: JSONValue,
        status: HTTPResponse.Status = .ok,
        to request: WebRequest,
        by client: RealmAPISettings.Client? = nil,
        remark: String? = nil
    ) -> RenderedResponse {
        var answer = json(value, status: status, to: request, usesCookies: false)
        answer.remark = (client.map { " program=\($0.name)" } ?? "") + (remark.map { " \($0)" } ?? "")
        return answer
    }

    private func failure(
        _ code: String,
        status: HTTPResponse.Status,
        to request: WebRequest,
        by client: RealmAPISettings.Client? = nil,
        remark: String? = nil
    ) -> RenderedResponse {
        answer(["error": .text(code)], status: status, to: request, by: client, remark: remark)
    }

    /// Returns the response to a program, nil if it is not known, that is not allowed to do this.
    private func forbidden(
        _ client: RealmAPISettings.Client?,
        because reason: String,
        request: WebRequest
    ) -> RenderedResponse {
        service.programLog.logRefusal(reason, of: client?.name, at: request.address)
        return failure("forbidden", status: .forbidden, to: request, by: client, remark: reason)
    }
}

extension AuthenticatedIdentity {
    fileprivate var checkOutcome: JSONValue {
        let principals = subject.principals.map { principal -> JSONValue in
            ["kind": .text(principal.kind.rawValue), "name": .text(principal.name)]
        }
        return [
            "outcome": .text("accepted"),
            "user": .text(username.text),
            "groups": .texts(groups),
            "principals": .array(principals),
            "attributes": .lists(attributes.valuesByName),
        ]
    }
}
