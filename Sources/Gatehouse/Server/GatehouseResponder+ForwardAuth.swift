// SPDX-License-Identifier: Apache-2.0
// Gatehouse

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
                remark: "not-trusted"
            )
        }
        // The path is compared byte by byte. A proxy may block this path for clients, and a client may use another
        // spelling to bypass the block.
        let target = head.target
        guard let proxy, target.utf8.starts(with: routes.forwardAuthPrefix.utf8),
            target.utf8.dropFirst(routes.forwardAuthPrefix.utf8.count).starts(with: proxy.rawValue.utf8)
        else {
            return reject(received, because: "not a forward authentication path", remark: nil)
        }
        // Without X-Forwarded-For, every client would have the address of the proxy, and rules for the network of the
        // proxy would match.
        guard received.client.isForwarded else {
            return reject(received, because: "the request cannot be checked", remark: "no-x-forwarded-for")
        }
        let original: OriginalRequest
        switch OriginalRequest.read(description(head, of: proxy), from: proxy) {
        case .request(let read): original = read
        case .rejected(let reason):
            return reject(received, because: "the request cannot be checked", logging: reason)
        }
        received.original = original
        // A request over http has exposed its credentials on the network. Browsers do not send our cookies over http.
        guard original.scheme == .https else {
            return reject(received, because: "only https is allowed", remark: "not-https")
        }
        let request = AccessRequest(
            method: original.method,
            path: original.path,
            host: .parsed(original.host),
            client: received.client
        )
        var check = ForwardAuth.Check(
            proxy: proxy,
            original: original,
            clientKind: received.clientKind(head),
            language: received.representation.language,
            cookies: received.client.cookies
        )
        switch accessController.evaluate(request, credentials: { Self.credentials(head) }) {
        case .decided(let decision, let authentication, let rule):
            received.rule = ruleText(rule, of: decision)
            check.encoding = rule?.rule.identityFields ?? .percent
            let response = forwardAuth.prepared(decision, for: check, authentication: authentication)
            return reply(to: received, with: response, for: authentication)
        case .login(let login):
            check.encoding = login.compiled.rule.identityFields
            guard let place = places.take(for: received.client.address) else {
                let response = forwardAuth.prepared(.unavailable, for: check, authentication: nil)
                return refuse(received, with: response)
            }
            return .prepared(beginsOnEventLoop: accessController.rarelyWaits(login)) { [self, received, check] in
                defer { place.release() }
                let completed = await accessController.completeLogin(login)
                var received = received
                received.rule = ruleText(login.compiled, of: completed.decision)
                let authentication = completed.authentication
                let response = forwardAuth.prepared(completed.decision, for: check, authentication: authentication)
                return finish(response, to: received, after: completed.report, for: authentication)
            }
        }
    }

    /// Rejects a request of a proxy, and adds a text to its line in the access log.
    func reject(_ received: ReceivedRequest, because reason: String, logging text: String) -> ResponseMode {
        reject(received, because: reason, remark: LogText.quoted(text))
    }

    private func reject(_ received: ReceivedRequest, because reason: String, remark: String?) -> ResponseMode {
        reply(
            to: received,
            with: forwardAuth.rejection(reason, as: received.representation),
            reason: remark.map { " \($0)" } ?? ""
        )
    }

    /// Returns the description of the original request in a forward-auth request.
    private func description(
        _ head: borrowing RequestHead,
        of proxy: ForwardAuthProxy
    ) -> OriginalRequest.Description {
        let fields = copy head
        var description = OriginalRequest.Description(values: { fields.values(named: $0) })
        if proxy == .envoy {
            description.method = head.methodText
            description.target = head.target
            description.host = head.host
            description.prefix = routes.forwardAuthPrefix + proxy.rawValue
        }
        return description
    }
}
