// SPDX-License-Identifier: Apache-2.0

package import AccessControl
internal import Bytes
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import RealmConfiguration
internal import RealmKit

/// The realm API: the routes by which other programs list realms and check credentials of users.
///
/// A check creates no session, and is throttled and logged like any other login.
package struct RealmAPI: SignInComponent {
    let site: SignInSite
    let programs: Programs
    let log: ProgramLog

    init(site: SignInSite, programs: Programs, log: ProgramLog) {
        self.site = site
        self.programs = programs
        self.log = log
    }

    package func respond(
        at route: Route,
        to request: WebRequest,
        from credentials: ProgramCredentials
    ) async -> LoggedResponse {
        guard route.methods.contains(request.method) else {
            var response = failure("method-not-allowed", status: .methodNotAllowed, to: request)
            response.headers[.allow] = route.methods.joined(separator: ", ")
            return LoggedResponse(response)
        }
        // A page of another site must not use the certificate of a browser.
        if !request.isSafe, request.isCrossOrigin {
            log.logRefusal("cross-origin", of: nil, at: request.address)
            return logged(failure("forbidden", status: .forbidden, to: request), remark: "cross-origin")
        }
        let program: RealmAPISettings.Client
        switch await programs.authenticate(credentials, from: request.address, at: state.wallClock.seconds) {
        case .program(let found): program = found
        case .unknown(let reason):
            log.logRefusal(reason, of: nil, at: request.address)
            var response = failure("unknown-program", status: .unauthorized, to: request)
            // RFC 6750 section 3.1: the error code is omitted if the request has no token.
            let error = if case .missing = credentials.token { "" } else { ", error=\"invalid_token\"" }
            response.headers[.wwwAuthenticate] = "Bearer realm=\"realm-api\"\(error)"
            return logged(response, remark: reason)
        case .forbidden(let known, let reason): return forbidden(known, because: reason, request: request)
        }
        switch route {
        case .realms:
            let list = program.realms.compactMap { authenticator.realms[$0] }.map { realm -> JSONValue in
                ["name": .text(realm.name), "auth_type": .text(realm.realm.authType)]
            }
            return logged(answer(["realms": .array(list)], to: request), program: program)
        case .realmCheck(let name):
            // The response to a realm of other programs is the same as for a realm that does not exist.
            guard let realm = program.realms.first(where: { UTF8Text($0) == name }) else {
                return forbidden(program, because: "wrong-realm", request: request)
            }
            return await check(in: realm, by: program, request: request)
        case .signIn, .step, .enter, .signOut, .account, .accountEnd, .asset, .session, .sessionRefresh,
            .sessionEvents, .sessions, .oneSession, .forwardAuth:
            return LoggedResponse(failure("not-found", status: .notFound, to: request))
        }
    }

    // MARK: Checks

    private func check(
        in realm: String,
        by program: RealmAPISettings.Client,
        request: WebRequest
    ) async -> LoggedResponse {
        guard request.contentType == "application/json" else {
            return logged(
                failure("unsupported-media-type", status: .unsupportedMediaType, to: request),
                program: program
            )
        }
        guard let body = await request.collectedBody() else {
            return logged(failure("too-large", status: .contentTooLarge, to: request), program: program)
        }
        let submitted: CheckRequest
        do throws(CheckRequest.Fault) {
            submitted = try CheckRequest(body.readableBytesUInt8Span)
        } catch {
            let json: JSONValue = ["error": .text("malformed"), "reason": .text(error.reason)]
            return logged(answer(json, status: .badRequest, to: request), program: program)
        }
        guard submitted.address == nil || program.mayNameAddress else {
            return forbidden(program, because: "address-not-allowed", request: request)
        }
        guard let username = LoginFlow.username(submitted.username) else {
            // No user can have this name. The response is the same as for an unknown user.
            return logged(refusal(.unknownUser, by: program, to: request), program: program, remark: "bad-user-name")
        }
        // The address of the program is not the address of the user: one program checks the logins of many users, and
        // must not be locked because some of them type wrong passwords. Without the address of the user, failures are
        // counted for the account only.
        let report = try? await authenticator.login(
            LoginRequest(realm: realm, username: username, service: submitted.service, peer: submitted.address),
            asking: CheckConversation(name: username.text, password: submitted.password, codes: submitted.codes)
        )
        guard let report else {
            return logged(failure("unavailable", status: .serviceUnavailable, to: request), program: program)
        }
        log.logCheck(report, by: program.name, at: request.address)
        return logged(response(to: report, by: program, request: request), program: program, report: report)
    }

    private func response(
        to report: LoginReport,
        by program: RealmAPISettings.Client,
        request: WebRequest
    ) -> Response {
        guard let refusal = report.refusal else {
            guard let identity = report.identity else {
                return failure("unavailable", status: .serviceUnavailable, to: request)
            }
            let outcome = identity.checkOutcome
            // There is no session, so the modules are logged out at once.
            state.logouts.add(identity)
            return answer(outcome, to: request)
        }
        // A program that learns reasons may also learn that a module was unavailable for this user only.
        guard !report.isUnavailable, !(program.showsReasons && refusal.failure.isTemporary) else {
            let isOverloaded = report.isUnavailable ? report.isOverloaded : refusal.failure == .overloaded
            return failure(isOverloaded ? "overloaded" : "unavailable", status: .serviceUnavailable, to: request)
        }
        return self.refusal(refusal.failure, by: program, to: request)
    }

    /// Returns the response to refused credentials: unless the program may learn the reason, all have the same bytes.
    private func refusal(
        _ failure: LoginFailure,
        by program: RealmAPISettings.Client,
        to request: WebRequest
    ) -> Response {
        let reason = program.showsReasons ? failure : .wrongCredentials
        return answer(["outcome": .text("refused"), "reason": .text(reason.code)], to: request)
    }

    // MARK: Responses

    private func answer(
        _ value: JSONValue,
        status: HTTPResponse.Status = .ok,
        to request: WebRequest
    ) -> Response {
        var headers: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]
        context.security.add(to: &headers)
        if status == .serviceUnavailable { headers[.retryAfter] = "5" }
        let head = HTTPResponse(status: status, headerFields: headers)
        return RenderedResponse(head, text: value.text(.web) + "\n").response(isHead: request.method == "HEAD")
    }

    private func failure(_ code: String, status: HTTPResponse.Status, to request: WebRequest) -> Response {
        answer(["error": .text(code)], status: status, to: request)
    }

    /// Returns the response to a known program that is not allowed to do this.
    private func forbidden(
        _ program: RealmAPISettings.Client,
        because reason: String,
        request: WebRequest
    ) -> LoggedResponse {
        log.logRefusal(reason, of: program.name, at: request.address)
        return logged(failure("forbidden", status: .forbidden, to: request), program: program, remark: reason)
    }

    private func logged(
        _ response: Response,
        program: RealmAPISettings.Client? = nil,
        remark: String? = nil,
        report: LoginReport? = nil
    ) -> LoggedResponse {
        var logged = LoggedResponse(response, report: report)
        logged.remark = (program.map { " program=\($0.name)" } ?? "") + (remark.map { " \($0)" } ?? "")
        return logged
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
