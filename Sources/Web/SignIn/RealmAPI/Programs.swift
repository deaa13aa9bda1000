// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
package import Bytes
package import OpenSSLKit
internal import RealmConfiguration
internal import RealmKit
internal import Throttle

/// The credentials of a program that uses the realm API.
package struct ProgramCredentials: Sendable {
    /// The token.
    package let token: BearerToken
    /// The verified chain of the certificate of the program's own TLS connection, from this certificate to the
    /// authority; empty if the connection has no certificate or comes from a proxy.
    ///
    /// A resumed connection has the chain of its first handshake.
    package let certificateChain: [Certificate]

    /// Creates credentials.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - certificateChain: The verified chain of the certificate of the program's own TLS connection.
    package init(token: BearerToken, certificateChain: [Certificate]) {
        self.token = token
        self.certificateChain = certificateChain
    }

    /// Returns the certificate of the program if all certificates of the chain are valid at a time.
    ///
    /// A connection may stay open after a certificate has expired.
    ///
    /// - Parameter now: Seconds since 1970.
    /// - Returns: The certificate; nil if there is none, or if a certificate of the chain is not valid.
    func certificate(at now: Int) -> Certificate? {
        guard let chain = ClientCertificate(certificateChain), chain.isValid(at: now) else { return nil }
        return certificateChain.first
    }
}

/// The programs that may use the realm API.
struct Programs: Sendable {
    private let clients: [RealmAPISettings.Client]
    private let throttle: FailureThrottle?

    /// The programs of a configuration.
    ///
    /// - Parameters:
    ///   - clients: The programs, with different names, tokens and certificates.
    ///   - throttle: Counts and delays wrong tokens; nil for no delays.
    init(_ clients: [RealmAPISettings.Client], throttle: FailureThrottle?) {
        self.clients = clients
        self.throttle = throttle
    }

    /// The result of ``authenticate(_:from:at:)``.
    enum Result: Sendable {
        /// The program is authenticated.
        case program(RealmAPISettings.Client)
        /// 401: the token is missing or wrong.
        case unknown(reason: String)
        /// 403: the program is known, but its network or its certificate is not allowed.
        case forbidden(RealmAPISettings.Client, reason: String)
    }

    /// Finds the program with the credentials.
    ///
    /// The response to a wrong token is delayed like the response to a failed login.
    ///
    /// - Parameters:
    ///   - credentials: The credentials.
    ///   - address: The address of the program.
    ///   - now: Seconds since 1970, for the validity of the certificate.
    /// - Returns: The program, or the reason for the log.
    func authenticate(_ credentials: ProgramCredentials, from address: String?, at now: Int) async -> Result {
        let certificate = credentials.certificate(at: now)
        let found: RealmAPISettings.Client?
        switch credentials.token {
        case .digest(let digest): found = client(with: digest)
        case .unusable: found = nil
        case .missing:
            guard let client = client(with: certificate) else {
                return .unknown(reason: credentials.certificateChain.isEmpty ? "no-token" : "unknown-certificate")
            }
            return check(client, certificate: certificate, from: address)
        }
        guard let found else {
            await throttle?.refuseToken(from: ClientNetwork(address ?? ""))
            return .unknown(reason: "wrong-token")
        }
        return check(found, certificate: certificate, from: address)
    }

    /// Returns the program with a token.
    ///
    /// The digest is compared with the digests of all tokens, in constant time.
    private func client(with digest: Digest) -> RealmAPISettings.Client? {
        var found: RealmAPISettings.Client?
        for client in clients {
            for token in client.tokens where token == digest { found = client }
        }
        return found
    }

    /// Returns the program that needs a certificate and no token.
    private func client(with certificate: Certificate?) -> RealmAPISettings.Client? {
        clients.first { $0.tokens.isEmpty && Self.accepts(certificate, for: $0) }
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
        return .program(client)
    }

    /// Returns whether a certificate is a certificate of a program that needs one.
    private static func accepts(_ certificate: Certificate?, for client: RealmAPISettings.Client) -> Bool {
        guard let certificate else { return false }
        if client.certificateSubjects.contains(where: { $0.hasBytes(of: certificate.subject) }) { return true }
        guard !client.certificateKeys.isEmpty else { return false }
        do throws(OpenSSLError) {
            return client.certificateKeys.contains(try certificate.publicKeyDigest())
        } catch {
            return false
        }
    }
}

/// The token in the `Authorization` field of a program's request.
///
/// Only the digest of the token is kept. Source: RFC 6750 section 2.1.
package enum BearerToken: Sendable {
    /// There is no token: the field is missing or has another scheme.
    case missing
    /// The SHA-256 digest of a token.
    case digest(Digest)
    /// There is a token that no program can have.
    case unusable

    /// The maximum length of a token in bytes.
    static let maximumBytes = 512

    /// Reads the `Authorization` fields of a request.
    ///
    /// - Parameter fields: The values of all `Authorization` fields, in order.
    package init(_ fields: [UTF8Text]) {
        guard let field = fields.first else {
            self = .missing
            return
        }
        self.init(field.string.utf8Span.span, count: fields.count)
    }

    /// Reads the `Authorization` field of a request.
    ///
    /// - Parameters:
    ///   - field: The value of the first field, without surrounding white space.
    ///   - count: The number of fields. If there are several fields, no token is used.
    package init(_ field: Span<UInt8>, count: Int) {
        let scheme: StaticString = "bearer"
        let length = scheme.utf8CodeUnitCount
        guard count == 1 else {
            self = .unusable
            return
        }
        guard field.count >= length, field.extracting(0..<length).equalsIgnoringCase(scheme),
            field.count == length || field[length] == UInt8(ascii: " ")
        else {
            self = .missing
            return
        }
        var start = length
        while start < field.count, field[start] == UInt8(ascii: " ") { start += 1 }
        let token = field.extracting(start..<field.count)
        guard !token.isEmpty, token.count <= Self.maximumBytes else {
            self = .unusable
            return
        }
        do throws(OpenSSLError) {
            self = .digest(try Digest.sha256(token))
        } catch {
            self = .unusable
        }
    }
}
