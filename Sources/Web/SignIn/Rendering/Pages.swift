// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import HTTPTypes
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
        let groups = user.groups.map { Message.verbatim($0) }
        return [
            Fact(name: .key(.signedInAs), values: [.verbatim(user.username)]),
            Fact(name: .key(.realm), values: [.verbatim(user.realm)]),
        ] + (groups.isEmpty ? [] : [Fact(name: .key(groups.count == 1 ? .group : .groups), values: groups)])
    }

    /// 401. The text does not reveal why credentials were rejected.
    static func unauthorized(_ challenge: Challenge, wasRejected: Bool, links: SignInLinks) -> Page {
        var page =
            wasRejected
            ? Page(.unauthorized, .signInFailed, .invalidCredentials)
            : Page(.unauthorized, .pleaseSignIn, .signInToOpen)
        challenge.add(to: &page.headers, signInAt: links.page)
        if challenge.schemes.contains(.form) { page.parts = [.link(to: links.routes.signIn, .key(.signIn))] }
        return page
    }

    /// A redirect to the sign-in page, after which the browser may repeat the request if its method is safe.
    static func redirect(to link: SignInLink, isSafe: Bool) -> Page {
        var page = Page(isSafe ? .found : .seeOther, .pleaseSignIn, .pleaseSignInSentence)
        page.headers[.location] = link.location
        page.headers[.setCookie] = link.cookie
        page.parts = [.link(to: link.location, .key(.signIn))]
        return page
    }

    /// 400: the browser has not sent a cookie that the sign-in needs.
    static func cookieNeeded(at host: String, link: String) -> Page {
        let values = ["host": Message.verbatim(host)]
        var page = Page(.badRequest, .cookiesNeeded)
        page.lines = [Message(.cookieNotSent, values), Message(.allowCookies, values)]
        page.parts = [.link(to: link, .key(.tryAgain))]
        return page
    }

    /// 400: a hand-over has failed twice.
    static func handOverFailed(link: String) -> Page {
        var page = Page(.badRequest, .handOverFailed, .linkExpired)
        page.parts = [.link(to: link, .key(.tryAgain))]
        return page
    }

    /// 403: users sign in at another host.
    static func onlyAtSignInHost(_ host: String, link: String) -> Page {
        let values = ["host": Message.verbatim(host)]
        var page = Page(status: .forbidden, title: Message(.signInAt, values), lines: [Message(.onlyAtHost, values)])
        page.parts = [.link(to: link, Message(.continueAt, values))]
        return page
    }

    /// 403 (Forbidden); the user is nil if the rule denies the client address or all requests.
    static func forbidden(_ user: SignedInUser?, signOut: Part?) -> Page {
        var page = Page(.forbidden, .accessDenied)
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
    static let certificateNeeded = Page(.forbidden, .certificateNeeded, .onlyCertificates, .noCertificate)

    /// 403: a page of another site has sent the request.
    static let crossOrigin = Page(.forbidden, .accessDenied, .otherSite, .enterAddress)

    /// 400 (Bad Request), with the reason as a part of a sentence.
    static func badRequest(_ reason: Message) -> Page {
        let reason = Message(.notUnderstood, ["reason": reason])
        return Page(status: .badRequest, title: .key(.badRequest), lines: [reason, .key(.goBack)])
    }

    static let misdirected = Page(.misdirectedRequest, .misdirected, .wrongConnection)
    static let tooLarge = Page(.contentTooLarge, .tooLarge, .bodyTooLarge)
    static let notFound = Page(.notFound, .notFound, .noSuchPage, .checkAddress)
    static let unsupported = Page(.unsupportedMediaType, .unsupportedType, .typeNotSupported)

    static func methodNotAllowed(_ allowed: [String]) -> Page {
        let names = allowed.joined(separator: ", ")
        var page = Page(.methodNotAllowed, .methodNotAllowed, .methodNotAccepted)
        page.lines.append(Message(.useMethods, ["methods": .verbatim(names)]))
        page.headers[.allow] = names
        return page
    }

    /// 503: a session has ended, but the end could not be stored.
    static let notStored = Page(.serviceUnavailable, .endNotStored, .sessionEndNotStored, .tellAdministrator)

    static let unavailable = Page(.serviceUnavailable, .tryLater, .cannotSignIn, .pleaseTryLater)

    private init(_ status: HTTPResponse.Status, _ title: MessageKey, _ lines: MessageKey...) {
        self.init(status: status, title: .key(title), lines: lines.map { .key($0) })
        if status == .serviceUnavailable { headers[.retryAfter] = "5" }
    }
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
