// SPDX-License-Identifier: Apache-2.0

internal import CommandSupport
internal import Files
internal import LoginConf
internal import OpenSSLKit
internal import RealmConfiguration
internal import RealmKit

extension RemoteCheck {
    /// Requests the realms, after the user has decided about an unknown key.
    ///
    /// The password is requested later, so that no password is typed for a server that is not trusted.
    mutating func realms(
        token: Secret?
    ) async throws(Ended) -> (realms: RealmAPIAnswer.Realms, trust: RemoteTransport.Trust) {
        var trust = try trust()
        var response: RemoteTransport.Response
        do throws(RemoteTransport.Fault) {
            let request = RemoteTransport.Request(url: url.realms, trust: trust, token: token, body: nil)
            response = try await transport.send(request)
        } catch {
            guard error.isUntrusted else { throw unreachable(error) }
            trust = .key(try await decide(about: error, trust: trust))
            response = try await send(url.realms, trust: trust, token: token)
        }
        guard response.status == 200 else { throw unexpected(response) }
        do throws(RealmAPIAnswer.Fault) {
            return (try RealmAPIAnswer.Realms(response), trust)
        } catch {
            let ended = unusable(error)
            throw Ended(ended.status, "\(ended.message)\n\(Self.realmAPIHint)")
        }
    }

    private mutating func trust() throws(Ended) -> RemoteTransport.Trust {
        if let pin = options.remote.pin {
            guard let key = Digest(pin: pin) else {
                throw Ended(.usage, "--pin takes sha256//BASE64 or 64 hexadecimal digits, not \(pin)")
            }
            (server.key, server.authorities) = (key, nil)
        }
        if let ca = options.remote.ca { (server.key, server.authorities) = (nil, Self.absolute(ca)) }
        if let key = server.key { return .key(key) }
        guard let authorities = server.authorities else { return .system }
        warn(about: authorities, as: .certificates)
        let contents = try ConfigurationFiles.system.read(authorities)
            .mapError { Ended(.configuration, "the authorities \(authorities) cannot be read: \($0.reason)") }.get()
        return .authorities(pem: contents.bytes, file: authorities)
    }

    /// Asks the user about a key that is not trusted; returns it if the user trusts it, and no other key was expected.
    private mutating func decide(
        about fault: RemoteTransport.Fault,
        trust: RemoteTransport.Trust
    ) async throws(Ended) -> Digest {
        let presented: Digest
        do throws(RemoteTransport.Fault) {
            presented = try await transport.presentedKey(url.realms)
        } catch {
            throw unreachable(error)
        }
        let fingerprint = presented.pin
        let cause = Printable.line(fault.cause)
        switch trust {
        case .authorities(_, let file):
            let text = "the certificate of \(url) is not trusted: no valid certificate of \(file): \(cause)"
            guard options.remote.ca == nil, let warning = noLongerTrusted(text, fingerprint: fingerprint) else {
                throw Ended(.undecided, text)
            }
            throw Ended(.undecided, warning)
        case .key(let expected):
            throw Ended(.undecided, changed(from: expected, to: fingerprint))
        case .system:
            // A remembered server had a trusted certificate. An interceptor must not get the question of a first contact.
            let text = "the certificate of \(url) is not trusted: \(cause)"
            if let warning = noLongerTrusted(text, fingerprint: fingerprint) { throw Ended(.undecided, warning) }
        }
        switch await FirstContact.ask(about: presented, of: url.description, because: fault.cause) {
        case .trusted:
            server.key = presented
            return presented
        case .refused: throw Ended(.undecided, "the key of \(url) is not trusted")
        case .noTerminal:
            throw Ended(
                .undecided,
                """
                the certificate of \(url) is not trusted: \(cause)
                    The SHA-256 fingerprint of its public key is \(fingerprint)
                    hint: verify the fingerprint at the server, then use --pin \(fingerprint), or use --ca FILE
                """
            )
        }
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
                The certificate of \(url) is not trusted: \(Printable.line(cause)).
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
