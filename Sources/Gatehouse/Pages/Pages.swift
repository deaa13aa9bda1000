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
        let shown = rules.filter { $0.host == .any && $0.access == .users }
        return Page(
            title: "Gatehouse",
            lines: [shown.isEmpty ? "Nothing is protected here." : "Protected here:"],
            facts: shown.map {
                Fact(name: $0.path, values: ["realm \($0.realms.joined(separator: ", "))"], isLink: true)
            }
        )
    }

    /// `/health`: that the server answers; it says nothing about realms.
    static let health = Page(title: "ok", lines: ["ok"])

    /// `/welcome`, and whatever else is protected and has no page of its own.
    ///
    /// - Parameters:
    ///   - user: Who is greeted.
    ///   - exit: The way out, for those who have a session.
    /// - Returns: The page.
    static func welcome(_ user: SignedInUser, _ exit: Part?) -> Page {
        var page = Page(title: "Welcome \(user.username)", lines: ["Welcome \(user.username)"])
        page.facts = facts(of: user)
        page.add(exit)
        return page
    }

    private mutating func add(_ exit: Part?) {
        guard let exit else { return }
        parts.append(exit)
        kind = .live
    }

    static func facts(of user: SignedInUser) -> [Fact] {
        var facts = [
            Fact(name: "Signed in as", values: [user.username.text]), Fact(name: "Realm", values: [user.realm]),
        ]
        let groups = user.groups
        if !groups.isEmpty { facts.append(Fact(name: groups.count == 1 ? "Group" : "Groups", values: groups)) }
        return facts
    }

    /// 401. Whatever was wrong with credentials, it says the same.
    ///
    /// - Parameters:
    ///   - challenge: What is asked for.
    ///   - wasRefused: Whether there were credentials.
    ///   - places: Where the sign-in page is.
    /// - Returns: The page.
    static func unauthorized(_ challenge: Challenge, wasRefused: Bool, _ places: Places) -> Page {
        var page = Page(
            status: .unauthorized,
            title: wasRefused ? "Not accepted" : "Please sign in",
            lines: [wasRefused ? "Invalid credentials." : "This page is for people who have signed in."]
        )
        challenge.add(to: &page.headers, places)
        if challenge.schemes.contains(.form) {
            page.parts = [Part(PageTemplate.link, ["target": places.signIn, "text": "Sign in"])]
        }
        return page
    }

    /// To the sign-in page; after it, back to where somebody wanted to go.
    ///
    /// - Parameters:
    ///   - location: The page's address.
    ///   - isSafe: Whether the request was one that may be made again.
    /// - Returns: The page.
    static func redirect(to location: String, isSafe: Bool) -> Page {
        var page = Page(status: isSafe ? .found : .seeOther, title: "Please sign in", lines: ["Please sign in."])
        page.headers[.location] = location
        page.parts = [Part(PageTemplate.link, ["target": location, "text": "Sign in"])]
        return page
    }

    /// 403.
    ///
    /// - Parameters:
    ///   - user: Who is refused; nil where it does not matter who.
    ///   - exit: The way out, for those who have a session.
    /// - Returns: The page.
    static func forbidden(_ user: SignedInUser?, _ exit: Part?) -> Page {
        var page = Page(status: .forbidden, title: "Not for you")
        page.lines = [
            user.map { "You are signed in as \($0.username), who may not see this page." }
                ?? "This page cannot be had from where you are."
        ]
        page.add(exit)
        return page
    }

    /// 403: another site has sent it.
    static let crossOrigin = Page(
        status: .forbidden,
        title: "Refused",
        lines: ["The request was sent by a page of another site."]
    )

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

    /// 413.
    static let tooLarge = Page(status: .contentTooLarge, title: "Too large", lines: ["The body is too large."])

    /// 404.
    static let notFound = Page(status: .notFound, title: "Not found", lines: ["There is nothing here."])

    /// 405.
    ///
    /// - Parameter allowed: The methods that can be used.
    /// - Returns: The page.
    static func methodNotAllowed(_ allowed: [String]) -> Page {
        let names = allowed.joined(separator: ", ")
        var page = Page(status: .methodNotAllowed, title: "Method not allowed", lines: ["Use \(names) here."])
        page.headers[.allow] = names
        return page
    }

    /// 415.
    static let unsupported = Page(
        status: .unsupportedMediaType,
        title: "Unsupported media type",
        lines: ["The body is of a type that is not read here."]
    )

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
