// SPDX-License-Identifier: Apache-2.0

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
            title: .verbatim(title),
            lines: [.key(shown.isEmpty ? .nothingProtected : .protectedHere)],
            facts: shown.map { rule in
                let realms = Message.verbatim(rule.realms.joined(separator: ", "))
                return Fact(name: .verbatim(rule.path), values: [Message(.realms, ["realms": realms])], isLink: true)
            }
        )
    }

    /// `/health`: the server is running, whether or not the realms are available.
    static let health = Page(title: .verbatim("ok"), lines: [.verbatim("ok")])

    /// The page for `/welcome` and for all other protected paths without their own page.
    static func welcome(_ user: SignedInUser, signOut: Part?) -> Page {
        let welcome = Message(.welcome, ["user": .verbatim(user.username)])
        var page = Page(title: welcome, lines: [welcome])
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
            Fact(name: .key(.signedInAs), values: [.verbatim(user.username)]),
            Fact(name: .key(.realm), values: [.verbatim(user.realm)]),
        ]
        let groups = user.groups
        if !groups.isEmpty {
            let name: MessageKey = groups.count == 1 ? .group : .groups
            facts.append(Fact(name: .key(name), values: groups.map { .verbatim($0) }))
        }
        return facts
    }

    /// 401. The text does not reveal why credentials were rejected.
    static func unauthorized(_ challenge: Challenge, wasRejected: Bool, links: SignInLinks) -> Page {
        var page = Page(
            status: .unauthorized,
            title: .key(wasRejected ? .signInFailed : .pleaseSignIn),
            lines: [.key(wasRejected ? .invalidCredentials : .signInToOpen)]
        )
        challenge.add(to: &page.headers, signInAt: links.page)
        if challenge.schemes.contains(.form) { page.parts = [.link(to: links.routes.signIn, .key(.signIn))] }
        return page
    }

    /// A redirect to the sign-in page, after which the browser may repeat the request if its method is safe.
    static func redirect(to link: SignInLink, isSafe: Bool) -> Page {
        var page = Page(
            status: isSafe ? .found : .seeOther,
            title: .key(.pleaseSignIn),
            lines: [.key(.pleaseSignInSentence)]
        )
        page.headers[.location] = link.location
        page.headers[.setCookie] = link.cookie
        page.parts = [.link(to: link.location, .key(.signIn))]
        return page
    }

    /// 400: the browser has not sent a cookie that the sign-in needs.
    static func cookieNeeded(at host: String, link: String) -> Page {
        var page = Page(
            status: .badRequest,
            title: .key(.cookiesNeeded),
            lines: [
                Message(.cookieNotSent, ["host": .verbatim(host)]), Message(.allowCookies, ["host": .verbatim(host)]),
            ]
        )
        page.parts = [.link(to: link, .key(.tryAgain))]
        return page
    }

    /// 400: a hand-over has failed twice.
    static func handOverFailed(link: String) -> Page {
        var page = Page(status: .badRequest, title: .key(.handOverFailed), lines: [.key(.linkExpired)])
        page.parts = [.link(to: link, .key(.tryAgain))]
        return page
    }

    /// 403: users sign in at another host.
    static func onlyAtSignInHost(_ host: String, link: String) -> Page {
        var page = Page(
            status: .forbidden,
            title: Message(.signInAt, ["host": .verbatim(host)]),
            lines: [Message(.onlyAtHost, ["host": .verbatim(host)])]
        )
        page.parts = [.link(to: link, Message(.continueAt, ["host": .verbatim(host)]))]
        return page
    }

    /// 403 (Forbidden); the user is nil if the rule denies the client address or all requests.
    static func forbidden(_ user: SignedInUser?, signOut: Part?) -> Page {
        var page = Page(status: .forbidden, title: .key(.accessDenied))
        page.lines = [
            user.map { Message(.userNotAllowed, ["user": .verbatim($0.username)]) } ?? .key(.addressNotAllowed),
            .key(.askAdministrator),
        ]
        page.add(signOut)
        return page
    }

    /// 403: the page needs a client certificate.
    ///
    /// The text does not reveal why a certificate was rejected.
    static let certificateNeeded = Page(
        status: .forbidden,
        title: .key(.certificateNeeded),
        lines: [.key(.onlyCertificates), .key(.noCertificate)]
    )

    /// 403: a page of another site has sent the request.
    package static let crossOrigin = Page(
        status: .forbidden,
        title: .key(.accessDenied),
        lines: [.key(.otherSite), .key(.enterAddress)]
    )

    /// 400 (Bad Request), with the reason as a part of a sentence.
    static func badRequest(_ reason: Message) -> Page {
        Page(
            status: .badRequest,
            title: .key(.badRequest),
            lines: [Message(.notUnderstood, ["reason": reason]), .key(.goBack)]
        )
    }

    /// 400 (Bad Request), with a reason that is not translated.
    static func badRequest(_ fault: BadFields) -> Page { badRequest(.verbatim(fault)) }

    /// 421 (Misdirected Request).
    static let misdirected = Page(
        status: .misdirectedRequest,
        title: .key(.misdirected),
        lines: [.key(.wrongConnection)]
    )

    /// 413 (Content Too Large).
    static let tooLarge = Page(status: .contentTooLarge, title: .key(.tooLarge), lines: [.key(.bodyTooLarge)])

    /// 404 (Not Found).
    static let notFound = Page(
        status: .notFound,
        title: .key(.notFound),
        lines: [.key(.noSuchPage), .key(.checkAddress)]
    )

    /// 405 (Method Not Allowed).
    static func methodNotAllowed(_ allowed: [String]) -> Page {
        let names = allowed.joined(separator: ", ")
        var page = Page(
            status: .methodNotAllowed,
            title: .key(.methodNotAllowed),
            lines: [.key(.methodNotAccepted), Message(.useMethods, ["methods": .verbatim(names)])]
        )
        page.headers[.allow] = names
        return page
    }

    /// 415 (Unsupported Media Type).
    static let unsupported = Page(
        status: .unsupportedMediaType,
        title: .key(.unsupportedType),
        lines: [.key(.typeNotSupported)]
    )

    /// 503: a session has ended, but the end could not be stored.
    static let notStored: Page = {
        var page = Page(
            status: .serviceUnavailable,
            title: .key(.endNotStored),
            lines: [.key(.sessionEndNotStored), .key(.tellAdministrator)]
        )
        page.headers[.retryAfter] = "5"
        return page
    }()

    /// 503 (Service Unavailable).
    static let unavailable: Page = {
        var page = Page(
            status: .serviceUnavailable,
            title: .key(.tryLater),
            lines: [.key(.cannotSignIn), .key(.pleaseTryLater)]
        )
        page.headers[.retryAfter] = "5"
        return page
    }()
}

extension Page.Part {
    static func link(to target: String, _ text: Message) -> Page.Part {
        Page.Part(PageTemplate.link) { ["target": target, "label": text.text(in: $0)] }
    }

    static func notice(_ text: Message, _ further: Message? = nil, isError: Bool) -> Page.Part {
        Page.Part(PageTemplate.notice) { language in
            let sentences = [text, further].compactMap { $0?.text(in: language) }
            return ["notice": sentences.joined(separator: " "), "isError": isError]
        }
    }
}
