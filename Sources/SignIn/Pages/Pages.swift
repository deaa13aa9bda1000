// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import AccessControl
internal import HTTPTypes
internal import RealmConfiguration
internal import RealmKit

/// The server's own pages.
extension Page {
    /// `/`: the list of protected paths.
    static func index(_ rules: [ProtectRule], title: String) -> Page {
        let shown = rules.filter { $0.host == .any && $0.access == .users }
        return Page(
            title: title,
            lines: [shown.isEmpty ? "Nothing is protected here." : "Protected here:"],
            facts: shown.map {
                Fact(name: $0.path, values: ["realm \($0.realms.joined(separator: ", "))"], isLink: true)
            }
        )
    }

    /// `/health`: the server is running.
    ///
    /// The page does not show whether the realms are available.
    static let health = Page(title: "ok", lines: ["ok"])

    /// The page for `/welcome` and for all other protected paths without their own page.
    ///
    /// - Parameters:
    ///   - user: The user of the request.
    ///   - signOut: The button to sign out; nil if the user has no session.
    /// - Returns: The page.
    static func welcome(_ user: SignedInUser, signOut: Part?) -> Page {
        var page = Page(title: "Welcome \(user.username)", lines: ["Welcome \(user.username)"])
        page.facts = facts(of: user)
        page.add(signOut)
        return page
    }

    private mutating func add(_ signOut: Part?) {
        guard let signOut else { return }
        parts.append(signOut)
        kind = .withScript
    }

    static func facts(of user: SignedInUser) -> [Fact] {
        var facts = [
            Fact(name: "Signed in as", values: [user.username.text]), Fact(name: "Realm", values: [user.realm]),
        ]
        let groups = user.groups
        if !groups.isEmpty { facts.append(Fact(name: groups.count == 1 ? "Group" : "Groups", values: groups)) }
        return facts
    }

    /// 401. The text does not reveal why credentials were rejected.
    ///
    /// - Parameters:
    ///   - challenge: The challenge.
    ///   - wasRejected: True if the request had credentials and they were rejected.
    ///   - routes: The paths of the sign-in page.
    /// - Returns: The page.
    static func unauthorized(_ challenge: Challenge, wasRejected: Bool, routes: Routes) -> Page {
        var page = Page(
            status: .unauthorized,
            title: wasRejected ? "Sign-in failed" : "Please sign in",
            lines: [wasRejected ? "Invalid credentials." : "Sign in to open this page."]
        )
        challenge.add(to: &page.headers, signInAt: routes)
        if challenge.schemes.contains(.form) {
            page.parts = [Part(PageTemplate.link, ["target": routes.signIn, "text": "Sign in"])]
        }
        return page
    }

    /// A redirect to the sign-in page.
    ///
    /// After the sign-in the browser returns to the target of the request.
    ///
    /// - Parameters:
    ///   - link: The link to the sign-in page.
    ///   - isSafe: True if the method of the request is safe, so the browser may repeat the request.
    /// - Returns: The page.
    static func redirect(to link: SignInLink, isSafe: Bool) -> Page {
        var page = Page(status: isSafe ? .found : .seeOther, title: "Please sign in", lines: ["Please sign in."])
        page.headers[.location] = link.location
        page.headers[.setCookie] = link.cookie
        page.parts = [Part(PageTemplate.link, ["target": link.location, "text": "Sign in"])]
        return page
    }

    /// 400: the browser has not sent a cookie that the sign-in needs.
    ///
    /// - Parameters:
    ///   - host: The host that has set the cookie.
    ///   - link: The link to try again.
    /// - Returns: The page.
    static func cookieNeeded(at host: String, link: String) -> Page {
        var page = Page(
            status: .badRequest,
            title: "The sign-in needs cookies",
            lines: [
                "Your browser did not send the cookie that \(host) has set. It may have expired, or cookies may be blocked.",
                "Allow cookies for \(host), and try again.",
            ]
        )
        page.parts = [Part(PageTemplate.link, ["target": link, "text": "Try again"])]
        return page
    }

    /// 400: a hand-over has failed twice.
    ///
    /// - Parameter link: The link to try again.
    /// - Returns: The page.
    static func handOverFailed(link: String) -> Page {
        var page = Page(
            status: .badRequest,
            title: "The sign-in could not be completed",
            lines: ["The link of this sign-in has expired, or was used before."]
        )
        page.parts = [Part(PageTemplate.link, ["target": link, "text": "Try again"])]
        return page
    }

    /// 403: users sign in at another host.
    ///
    /// - Parameters:
    ///   - host: The sign-in host.
    ///   - link: The link to the page at the sign-in host.
    /// - Returns: The page.
    static func onlyAtSignInHost(_ host: String, link: String) -> Page {
        var page = Page(
            status: .forbidden,
            title: "Sign in at \(host)",
            lines: ["Passwords are accepted only at \(host)."]
        )
        page.parts = [Part(PageTemplate.link, ["target": link, "text": "Continue at \(host)"])]
        return page
    }

    /// 403 (Forbidden).
    ///
    /// - Parameters:
    ///   - user: The user whose access is denied; nil if the rule denies the client address or all requests.
    ///   - signOut: The button to sign out; nil if the user has no session.
    /// - Returns: The page.
    static func forbidden(_ user: SignedInUser?, signOut: Part?) -> Page {
        var page = Page(status: .forbidden, title: "Access denied")
        page.lines = [
            user.map { "You are signed in as \($0.username). This user is not allowed to open this page." }
                ?? "Access to this page is not allowed from your address.",
            "If you need access, please ask the administrator.",
        ]
        page.add(signOut)
        return page
    }

    /// 403: the page needs a client certificate.
    ///
    /// The text does not reveal why a certificate was rejected.
    static let certificateNeeded = Page(
        status: .forbidden,
        title: "A client certificate is needed",
        lines: [
            "This page accepts only client certificates.",
            "Your browser sent no certificate, or a certificate that is not accepted here.",
        ]
    )

    /// 403: a page of another site has sent the request.
    package static let crossOrigin = Page(
        status: .forbidden,
        title: "Access denied",
        lines: [
            "The request was sent by a page of another site.",
            "Please enter the address of the page in the address bar, and try again there.",
        ]
    )

    /// 400 (Bad Request).
    static func badRequest(_ reason: String) -> Page {
        Page(
            status: .badRequest,
            title: "Bad request",
            lines: ["The request could not be understood: \(reason).", "Please go back, and try again."]
        )
    }

    /// 421 (Misdirected Request).
    static let misdirected = Page(
        status: .misdirectedRequest,
        title: "Misdirected request",
        lines: ["This connection cannot be used for this host."]
    )

    /// 413 (Content Too Large).
    static let tooLarge = Page(status: .contentTooLarge, title: "Too large", lines: ["The body is too large."])

    /// 404 (Not Found).
    static let notFound = Page(
        status: .notFound,
        title: "Not found",
        lines: ["This page does not exist.", "Please check the address."]
    )

    /// 405 (Method Not Allowed).
    ///
    /// - Parameter allowed: The methods that are allowed.
    /// - Returns: The page.
    static func methodNotAllowed(_ allowed: [String]) -> Page {
        let names = allowed.joined(separator: ", ")
        var page = Page(
            status: .methodNotAllowed,
            title: "Method not allowed",
            lines: ["This page does not accept the method of the request.", "Use \(names) here."]
        )
        page.headers[.allow] = names
        return page
    }

    /// 415 (Unsupported Media Type).
    static let unsupported = Page(
        status: .unsupportedMediaType,
        title: "Unsupported media type",
        lines: ["The media type of the body is not supported."]
    )

    /// 503: a session has ended, but the end could not be stored.
    static let notStored: Page = {
        var page = Page(
            status: .serviceUnavailable,
            title: "You are signed out, but the server could not save it",
            lines: [
                "The session has ended, but the end could not be stored.",
                "After a restart of the server, the session may be valid again. Please tell the administrator.",
            ]
        )
        page.headers[.retryAfter] = "5"
        return page
    }()

    /// 503 (Service Unavailable).
    static let unavailable: Page = {
        var page = Page(
            status: .serviceUnavailable,
            title: "Try again later",
            lines: ["You cannot be signed in at the moment.", "Please try again later."]
        )
        page.headers[.retryAfter] = "5"
        return page
    }()
}
