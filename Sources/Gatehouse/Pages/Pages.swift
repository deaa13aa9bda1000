// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPServer
internal import HTTPTypes
internal import RealmConfiguration
internal import RealmKit

/// What the server itself has to show.
extension Page {
    /// `/`: what is here.
    static func index(_ rules: [ProtectRule]) -> Page {
        Page(
            title: "Gatehouse",
            lines: [rules.isEmpty ? "Nothing is protected here." : "Protected here:"],
            facts: rules.map { Fact(name: $0.path, values: ["realm \($0.realm)"], isLink: true) }
        )
    }

    /// `/health`: that the server answers; it says nothing about realms.
    static let health = Page(title: "ok", lines: ["ok"])

    /// `/welcome`, and whatever else is protected and has no page of its own.
    static func welcome(_ identity: AuthenticatedIdentity) -> Page {
        let groups = identity.groups
        var page = Page(title: "Welcome \(identity.username)", lines: ["Welcome \(identity.username)"])
        page.facts = [
            Fact(name: "Signed in as", values: [identity.username.text]), Fact(name: "Realm", values: [identity.realm]),
        ]
        if !groups.isEmpty { page.facts.append(Fact(name: groups.count == 1 ? "Group" : "Groups", values: groups)) }
        return page
    }

    /// 401. Whatever was wrong with credentials, it says the same.
    static func unauthorized(realm: String, wasRefused: Bool) -> Page {
        var page = Page(
            status: .unauthorized,
            title: wasRefused ? "Not accepted" : "Please sign in",
            lines: [wasRefused ? "Invalid credentials." : "This page is for people who have signed in."]
        )
        page.headers[.wwwAuthenticate] = BasicScheme.challenge(realm: realm)
        return page
    }

    /// 403.
    static func forbidden(_ identity: AuthenticatedIdentity) -> Page {
        Page(
            status: .forbidden,
            title: "Not for you",
            lines: ["You are signed in as \(identity.username), who may not see this page."]
        )
    }

    /// 400.
    static func badRequest(_ reason: String) -> Page {
        Page(status: .badRequest, title: "Bad request", lines: ["The request could not be understood: \(reason)."])
    }

    /// 421.
    static let misdirected = Page(
        status: .misdirectedRequest,
        title: "Misdirected request",
        lines: ["This connection was set up for another host."]
    )

    /// What is no proper request.
    static func fault(_ fault: RequestFault) -> Page {
        let known: [HTTPResponse.Status] = [
            .badRequest, .requestTimeout, .contentTooLarge, .uriTooLong, .expectationFailed,
            .requestHeaderFieldsTooLarge, .httpVersionNotSupported,
        ]
        let status = known.first { $0.code == fault.status } ?? HTTPResponse.Status(code: fault.status)
        return Page(
            status: status,
            title: status.reasonPhrase.isEmpty ? "Refused" : status.reasonPhrase,
            lines: ["Refused: \(fault.reason)."]
        )
    }

    /// 404.
    static let notFound = Page(status: .notFound, title: "Not found", lines: ["There is nothing here."])

    /// 405.
    static let methodNotAllowed: Page = {
        var page = Page(status: .methodNotAllowed, title: "Method not allowed", lines: ["Use GET or HEAD here."])
        page.headers[.allow] = "GET, HEAD"
        return page
    }()

    /// 503.
    static let unavailable: Page = {
        var page = Page(
            status: .serviceUnavailable,
            title: "Try again later",
            lines: ["It cannot be checked now who you are."]
        )
        page.headers[.retryAfter] = "5"
        return page
    }()
}
