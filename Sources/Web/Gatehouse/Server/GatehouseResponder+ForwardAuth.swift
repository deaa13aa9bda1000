// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import HTTPServer
internal import RealmConfiguration
internal import SignIn

/// Forward authentication: a proxy sends a request to get the decision about another request.
extension GatehouseResponder {
    func answer(
        _ proxy: ForwardAuthProxy?,
        _ received: ReceivedRequest,
        head: borrowing RequestHead,
        on connection: Connection
    ) -> ResponseMode {
        var received = received
        guard proxies.contains(connection.peer) else {
            return reject(
                received,
                because: "only trusted proxies may use forward authentication",
                remark: "not-trusted",
                claim: proxy.flatMap { description(head, of: $0).claim(from: $0) },
                isForStranger: true
            )
        }
        // The path is compared byte by byte. A proxy may block this path for clients, and a client may use another
        // spelling to bypass the block.
        guard let proxy, let kind = routes.check(head.target, of: proxy) else {
            let claim = proxy.flatMap { description(head, of: $0).claim(from: $0) }
            return reject(received, because: "not a forward authentication path", remark: nil, claim: claim)
        }
        if kind == .page { received.remark = " page\(received.remark)" }
        let described = description(head, of: proxy)
        // Without X-Forwarded-For, every client would have the address of the proxy, and rules for the network of the
        // proxy would match.
        guard received.client.isForwarded else {
            return reject(
                received,
                because: "the request cannot be checked",
                remark: "no-x-forwarded-for",
                claim: described.claim(from: proxy)
            )
        }
        let original: OriginalRequest
        switch OriginalRequest.read(described, from: proxy) {
        case .request(let read): original = read
        case .rejected(let reason):
            let claim = described.claim(from: proxy)
            return reject(received, because: "the request cannot be checked", logging: reason, claim: claim)
        }
        received.original = original
        // A request over http has exposed its credentials on the network. Browsers do not send our cookies over http.
        guard original.scheme == .https else {
            let claim = described.claim(from: proxy)
            return reject(received, because: "only https is allowed", remark: "not-https", claim: claim)
        }
        let request = AccessRequest(
            method: original.method,
            path: original.path,
            host: .parsed(original.host),
            client: received.client,
            preflightMethod: original.preflightMethod
        )
        var check = ForwardAuth.Check(
            proxy: proxy,
            original: original,
            clientKind: received.clientKind(head),
            language: received.representation.language,
            cookies: received.client.cookies,
            isPage: kind == .page
        )
        switch accessController.decide(request, credentials: { Self.credentials(head) }) {
        case .now(let result):
            if case .malformed(let reason) = result.decision, result.rule == nil {
                let claim = described.claim(from: proxy)
                return reject(received, because: "the request cannot be checked", logging: reason, claim: claim)
            }
            note(result, in: &received)
            if case .noMatchingRule = result.decision {
                let claim = described.claim(from: proxy)
                return reject(received, because: "no rule matches", remark: nil, claim: claim)
            }
            check.encoding = result.rule?.rule.identityFields ?? .percent
            let response = forwardAuth.prepared(result.decision, for: check, authentication: result.authentication)
            return reply(to: received, with: response, for: result.authentication)
        case .afterLogin(let login):
            check.encoding = login.compiled.rule.identityFields
            guard let place = places.take(for: received.client.address) else {
                let response = forwardAuth.prepared(.unavailable, for: check, authentication: nil)
                return refuse(received, with: response)
            }
            return complete(login, for: received, in: place) { [forwardAuth, check] result in
                forwardAuth.prepared(result.decision, for: check, authentication: result.authentication)
            }
        }
    }

    /// Rejects a request of a proxy with a reason for the page, and a text for its line in the access log.
    ///
    /// `claim` is the host and the path that the request states; nil if it states none.
    func reject(
        _ received: ReceivedRequest,
        because reason: String,
        logging text: String,
        claim: OriginalRequest.Description.Claim? = nil
    ) -> ResponseMode {
        reject(received, because: reason, remark: LogText.quoted(text), claim: claim)
    }

    private func reject(
        _ received: ReceivedRequest,
        because reason: String,
        remark: String?,
        claim: OriginalRequest.Description.Claim?,
        isForStranger: Bool = false
    ) -> ResponseMode {
        var received = received
        // The line of a request that was read has the host and the path already.
        if let claim, received.original == nil {
            received.remark = " for=\(LogText.quoted(claim.text))\(received.remark)"
        }
        let place = isForStranger ? "" : claim.map { " (\($0.place))" } ?? ""
        return reply(
            to: received,
            with: forwardAuth.rejection(reason + place, as: received.representation),
            reason: remark.map { " \($0)" } ?? ""
        )
    }

    func description(_ head: borrowing RequestHead, of proxy: ForwardAuthProxy) -> OriginalRequest.Description {
        let fields = copy head
        var description = OriginalRequest.Description(values: { fields.values(named: $0) })
        description.allowsAmbiguousPath = accessController.rules.allowsAmbiguousPaths
        if proxy == .envoy {
            description.method = head.methodText
            description.target = head.target
            description.host = head.host
            description.prefix = routes.forwardAuthPrefix + proxy.rawValue
        }
        return description
    }
}
