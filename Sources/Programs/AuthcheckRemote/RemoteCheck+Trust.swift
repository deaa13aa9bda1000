// SPDX-License-Identifier: Apache-2.0

internal import AuthcheckCommand
internal import CommandSupport
internal import Files
internal import GatehouseClient
internal import HTTPSClient
internal import OpenSSLKit

extension RemoteCheck {
    /// Requests the realms, after the user has decided about an unknown key.
    ///
    /// The password is requested later, so that no password is typed for a server that is not trusted.
    mutating func realms() async throws(Ended) -> (realms: [RealmAPIResponse.ListedRealm], trust: TLSTrust) {
        var trust = try trust()
        var response: HTTPSResponse
        do throws(HTTPSClientError) {
            response = try await self.response(of: url.realms, trust: trust)
        } catch {
            guard error.code == .certificateRejected else { throw unreachable(error.cause) }
            trust = .pinnedKeys([try await decide(because: error.cause)])
            do throws(HTTPSClientError) {
                response = try await self.response(of: url.realms, trust: trust)
            } catch {
                throw unreachable(error.cause)
            }
        }
        let realms = try read(response, hint: Self.realmAPIHint) { answer throws(RealmAPIResponse.Fault) in
            try answer.realms()
        }
        return (realms, trust)
    }

    private mutating func trust() throws(Ended) -> TLSTrust {
        if let pin = options.remote.pin {
            guard let key = Digest(pin: pin) else {
                throw Ended(.usage, "--pin takes sha256//BASE64 or 64 hexadecimal digits, not \(pin)")
            }
            (server.key, server.authorities) = (key, nil)
        }
        if let ca = options.remote.ca { (server.key, server.authorities) = (nil, Self.absolute(ca)) }
        if let key = server.key { return .pinnedKeys([key]) }
        guard let authorities = server.authorities else { return .system }
        let pem = try bytes(of: "the authorities", authorities, as: .certificates)
        return try Result { () throws(OpenSSLError) in .authorities(try Certificate.chain(pem: pem, name: authorities))
        }
        .mapError { Ended(.configuration, Printable.line("\($0)")) }.get()
    }

    /// Asks the user about a key that is not trusted; returns it if the user trusts it, and no other key was expected.
    private mutating func decide(because cause: String) async throws(Ended) -> Digest {
        let presented = try await presentedKey()
        let fingerprint = presented.pin
        let reason = Printable.line(cause)
        if let expected = server.key { throw Ended(.undecided, changed(from: expected, to: fingerprint)) }
        if let file = server.authorities {
            let text = "the certificate of \(url) is not trusted: no valid certificate of \(file): \(reason)"
            let warning = options.remote.ca == nil ? noLongerTrusted(text, fingerprint: fingerprint) : nil
            throw Ended(.undecided, warning ?? text)
        }
        // A remembered server had a trusted certificate. An interceptor must not get the question of a first contact.
        let text = "the certificate of \(url) is not trusted: \(reason)"
        if let warning = noLongerTrusted(text, fingerprint: fingerprint) { throw Ended(.undecided, warning) }
        switch await FirstContact.ask(about: presented, of: url.description, because: reason) {
        case .trusted:
            server.key = presented
            return presented
        case .refused: throw Ended(.undecided, "the key of \(url) is not trusted")
        case .noTerminal:
            throw Ended(
                .undecided,
                """
                \(text)
                    The SHA-256 fingerprint of its public key is \(fingerprint)
                    hint: verify the fingerprint at the server, then use --pin \(fingerprint), or use --ca FILE
                """
            )
        }
    }

    /// Returns the key that the server presents, without trusting it and without sending a request.
    private func presentedKey() async throws(Ended) -> Digest {
        let presented = PresentedKey()
        do throws(HTTPSClientError) {
            _ = try await send(HTTPSRequest("GET", HTTPSURL(url.realms)), .noServer(recording: presented))
        } catch {
            if error.code == .certificateRejected, let digest = presented.digest { return digest }
            throw unreachable(error.cause)
        }
        throw unreachable("the server has presented no certificate")
    }

    /// The warning about a remembered server whose certificate is not trusted any more; nil for another server.
    private func noLongerTrusted(_ cause: String, fingerprint: String) -> String? {
        guard let known, let line = known.entry(of: url.description)?.line else { return nil }
        return """
            THE CERTIFICATE OF \(url) IS NOT TRUSTED ANY MORE. Another server may pretend to be this server.
                Nothing was sent to it.
                \(cause)
                presented key: \(fingerprint)
                The server is remembered in \(known.path):\(line).
                hint: if its certificate was replaced, verify the key at the server, then use --pin, or remove this line
            """
    }

    private func changed(from expected: Digest, to fingerprint: String) -> String {
        let text = """
            THE KEY OF \(url) HAS CHANGED. Another server may pretend to be this server. Nothing was sent to it.
                expected key:  \(expected.pin)
                presented key: \(fingerprint)
            """
        guard options.remote.pin == nil, let known, let line = known.entry(of: url.description)?.line else {
            return text
        }
        return text + """

                The expected key is in \(known.path):\(line).
                hint: if the key was replaced, verify the new key at the server, then remove this line
            """
    }
}

/// The question whether an unknown key of a server is trusted.
enum FirstContact {
    enum Decision {
        case trusted
        case refused
        /// There is no terminal for the question.
        case noTerminal
    }

    /// The number of answers that are neither yes, no nor a fingerprint, before the key is refused.
    private static let attempts = 3

    /// Shows the fingerprint of a key on the terminal and asks whether it is trusted.
    static func ask(about key: Digest, of url: String, because cause: String) async -> Decision {
        await BlockingCall.run {
            guard let terminal = Terminal() else { return .noTerminal }
            terminal.show(
                """
                The certificate of \(url) is not trusted: \(cause).
                The SHA-256 fingerprint of its public key is
                    \(key.pin)

                """
            )
            var prompt = "Do you trust this key? (yes, no, or the fingerprint): "
            for _ in 0..<attempts {
                guard let line = terminal.readLine(prompt) else { return .refused }
                let answer = line.lowercased()
                if answer == "yes" || Digest(pin: line) == key { return .trusted }
                // Another fingerprint is the answer of a user who expects another server.
                if answer == "no" || Digest(pin: line) != nil { return .refused }
                prompt = "Please type yes, no or the fingerprint: "
            }
            return .refused
        }
    }
}
