// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
package import OpenSSLKit
internal import RealmConfiguration
internal import RealmKit
internal import Throttle

/// The programs that may use the realm API.
struct APIClients: Sendable {
    /// The clients, with different names, tokens and certificates.
    private let all: [RealmAPISettings.Client]
    /// Counts and delays wrong tokens.
    private let throttle: FailureThrottle?

    init(_ clients: [RealmAPISettings.Client], throttle: FailureThrottle?) {
        all = clients
        self.throttle = throttle
    }

    enum Result: Sendable {
        case client(RealmAPISettings.Client)
        /// 401: the token is missing or wrong.
        case unknown(reason: String)
        /// 403: the program is known, but its network or its certificate is not allowed.
        case forbidden(RealmAPISettings.Client, reason: String)
    }

    /// Finds the program with the credentials, at a time in seconds since 1970; the response to a wrong token is
    /// delayed like that to a failed login.
    func authenticate(_ credentials: APICredentials, from address: String?, at now: Int) async -> Result {
        let certificate = credentials.certificate(at: now)
        let found: RealmAPISettings.Client?
        switch credentials.token {
        case .digest(let digest): found = client(with: digest)
        case .unusable: found = nil
        case .missing: found = all.first { $0.tokens.isEmpty && Self.accepts(certificate, for: $0) }
        }
        if let found { return check(found, certificate: certificate, from: address) }
        if case .missing = credentials.token {
            return .unknown(reason: credentials.certificateChain.isEmpty ? "no-token" : "unknown-certificate")
        }
        await throttle?.refuseToken(from: ClientNetwork(address ?? ""))
        return .unknown(reason: "wrong-token")
    }

    /// Returns the program with a token; the digest is compared with those of all tokens, in constant time.
    private func client(with digest: Digest) -> RealmAPISettings.Client? {
        var found: RealmAPISettings.Client?
        for client in all {
            for token in client.tokens where token == digest { found = client }
        }
        return found
    }

    private func check(
        _ client: RealmAPISettings.Client,
        certificate: Certificate?,
        from address: String?
    ) -> Result {
        if !client.networks.isEmpty {
            let address = address.flatMap { NetworkAddress($0[...]) }
            guard let address, client.networks.contains(where: { $0.contains(address) }) else {
                return .forbidden(client, reason: "wrong-network")
            }
        }
        guard !client.needsCertificate || Self.accepts(certificate, for: client) else {
            return .forbidden(client, reason: "wrong-certificate")
        }
        return .client(client)
    }

    private static func accepts(_ certificate: Certificate?, for client: RealmAPISettings.Client) -> Bool {
        guard let certificate else { return false }
        if client.certificateSubjects.contains(where: { $0.hasBytes(of: certificate.subject) }) { return true }
        guard !client.certificateKeys.isEmpty, let digest = try? certificate.publicKeyDigest() else { return false }
        return client.certificateKeys.contains(digest)
    }
}

/// The credentials of a program that uses the realm API.
package struct APICredentials: Sendable {
    package let token: BearerToken
    /// The verified chain of the certificate of the program's own TLS connection, from this certificate to the
    /// authority; empty without a certificate, or behind a proxy.
    ///
    /// A resumed connection has that of its first handshake.
    package let certificateChain: [Certificate]

    package init(token: BearerToken, certificateChain: [Certificate]) {
        self.token = token
        self.certificateChain = certificateChain
    }

    /// Returns the certificate of the program if its chain is valid at a time in seconds since 1970: a connection may
    /// stay open after a certificate has expired.
    func certificate(at now: Int) -> Certificate? {
        guard let chain = ClientCertificate(certificateChain), chain.isValid(at: now) else { return nil }
        return certificateChain.first
    }
}
