// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import LoginConf
internal import OpenSSLKit
internal import RealmConfiguration
internal import RealmKit

/// The client certificate of the option `--certificate`.
///
/// The file of a certificate is not secret, so the certificate says nothing about who runs the command. The command
/// tests which user a server would accept from the holder of the key. The server's authorities are therefore required.
struct CertificateFile {
    /// A certificate or configuration that cannot be used.
    struct Fault: Error {
        let status: ExitStatus
        let text: String
    }

    let der: [UInt8]
    private let chain: [Certificate]
    private let policy: ClientCertificatePolicy
    private let tls: TLSSettings

    /// Reads a file in PEM, the certificate and then the intermediates, and the authorities of the configuration.
    init(_ path: String, settings: ServerSettings) throws(Fault) {
        let bytes = try ConfigurationFiles.system.read(path)
            .mapError { Fault(status: .usage, text: "\(path) cannot be read: \($0.reason)") }.get()
        do throws(OpenSSLError) {
            chain = try Certificate.chain(pem: bytes, name: path)
            der = try chain[0].der
        } catch {
            throw Fault(status: .usage, text: "\(error)")
        }
        let policy: ClientCertificatePolicy?
        do throws(ConfigurationErrors) {
            let reader = TLSFileReader(files: .system)
            let lists = try reader.revocationLists(settings.tls)
            policy = try reader.clientCertificatePolicy(settings.tls, revocationLists: lists.map(\.list))
        } catch {
            throw Fault(status: .configuration, text: error.description)
        }
        guard let policy else {
            throw Fault(
                status: .configuration,
                text: """
                    the server of this configuration requests no client certificates
                        hint: write server { tls { client-certificates optional; client-ca FILE; } }
                    """
            )
        }
        self.policy = policy
        tls = settings.tls
    }

    /// Checks that a TLS server with the settings accepts the certificate, and returns the reasons why the server could
    /// use it less than this command does.
    func check(for realm: BoundRealm, rules: [ProtectRule]) throws(LoginFault) -> [String] {
        var warnings: [String] = []
        do throws(OpenSSLError) {
            try policy.verify(chain)
            let versions = try ClientCertificatePolicy.versions(
                acceptingKeyOf: chain[0],
                minimumVersion: tls.minimumVersion == .tls13 ? .tls13 : .tls12,
                groups: tls.groups?.map(\.value) ?? TLSParameters.intermediate.groups
            )
            guard !versions.isEmpty else {
                throw OpenSSLError(
                    .certificateRejected,
                    context: "client certificate",
                    reasons: ["no version of TLS has a signature algorithm for its key"]
                )
            }
            if !versions.contains(.tls13) {
                warnings.append("the key of the certificate can be used in TLS 1.2 only, and most clients use TLS 1.3")
            }
        } catch {
            throw LoginFault(.unusableCredential, log: "the TLS server rejects the certificate: \(error)")
        }
        if !rules.contains(where: { $0.schemes.contains(.certificate) && $0.realms.contains(realm.name) }) {
            warnings.append(
                "no rule of this configuration has auth certificate for realm \(realm.name): the server begins no login in it "
                    + "by a certificate alone"
            )
        }
        return warnings
    }

    /// Returns the given user name, if the certificate names no other user, or else that of the certificate.
    func username(_ given: Username?, in realm: BoundRealm) async throws(LoginFault) -> Username {
        guard let given else { return try await realm.stack.username(ofCertificate: der) }
        // A realm without such a module may use realms that have one. The login then decides.
        guard realm.stack.namesUsersByCertificate else { return given }
        let named = try await realm.stack.username(ofCertificate: der)
        guard named == given else {
            throw LoginFault(.wrongCredentials, log: "the certificate names another user: \(named)")
        }
        return given
    }
}
