// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import HTTPServer
internal import RealmConfiguration
internal import RealmKit
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
        let described = proxy.map { description(head, of: $0) }
        /// Rejects the request with a reason for the page, and a remark for its line in the access log.
        func reject(because reason: String, remark: String? = nil, isForStranger: Bool = false) -> ResponseMode {
            let claim = proxy.flatMap { described?.claim(from: $0) }
            return self.reject(received, because: reason, remark: remark, claim: claim, isForStranger: isForStranger)
        }
        guard proxies.contains(connection.peer) else {
            let reason = "only trusted proxies may use forward authentication"
            return reject(because: reason, remark: "not-trusted", isForStranger: true)
        }
        // The path is compared byte by byte. A proxy may block this path for clients, and a client may use another
        // spelling to bypass the block.
        guard let proxy, let described, let kind = routes.check(head.target, of: proxy) else {
            return reject(because: "not a forward authentication path")
        }
        if kind == .page { received.remark = " page\(received.remark)" }
        // Without X-Forwarded-For, every client would have the address of the proxy, and rules for the network of the
        // proxy would match.
        guard received.client.isForwarded else {
            return reject(because: "the request cannot be checked", remark: "no-x-forwarded-for")
        }
        let original: OriginalRequest
        switch OriginalRequest.read(described, from: proxy) {
        case .request(let read): original = read
        case .rejected(let reason):
            return reject(because: "the request cannot be checked", remark: LogText.quoted(reason))
        }
        received.original = original
        // A request over http has exposed its credentials on the network. Browsers do not send our cookies over http.
        guard original.scheme == .https else { return reject(because: "only https is allowed", remark: "not-https") }
        let request = AccessRequest(
            method: original.method,
            path: original.path,
            host: .parsed(original.host),
            client: received.client,
            preflightMethod: original.preflightMethod
        )
        let clientKind = received.clientKind(head)
        var check = ForwardAuth.Check(
            proxy: proxy,
            original: original,
            clientKind: clientKind,
            representation: Representation(
                isHTML: clientKind == .navigation,
                language: received.representation.language
            ),
            cookies: received.client.cookies,
            isPage: kind == .page
        )
        switch accessController.decide(request, credentials: { Self.credentials(head) }) {
        case .now(let result):
            if case .malformed(let reason) = result.decision, result.rule == nil {
                return reject(because: "the request cannot be checked", remark: LogText.quoted(reason))
            }
            note(result, in: &received)
            if case .noMatchingRule = result.decision { return reject(because: "no rule matches") }
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
            with: PreparedResponse(forwardAuth.denial(reason + place, as: received.representation)),
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
