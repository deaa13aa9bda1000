// SPDX-License-Identifier: Apache-2.0

internal import LoginConf
internal import RealmKit

/// The conditions for the scheme `certificate`: TLS requests certificates, and a realm takes user names from them.
struct CertificateSupport {
    private let isRequested: Bool
    private let hasProxies: Bool
    /// The realms without errors, and whether they take user names from certificates.
    private let realms: [(name: String, namesUsers: Bool)]

    init(_ server: ServerSettings, realms: [BoundRealm]) {
        isRequested = server.tls.clientCertificates != .none
        hasProxies = !server.trustedProxies.isEmpty
        self.realms = realms.map { ($0.name, $0.stack.namesUsersByCertificate) }
    }

    /// Reports a rule whose scheme `certificate` cannot work.
    func check(_ rule: ProtectRule, at range: SourceRange, in builder: ConfigurationBuilder) {
        if !isRequested {
            builder.error(
                at: range,
                "the scheme certificate needs client certificates, which TLS does not request",
                hint: "add server { tls { client-certificates optional; client-ca FILE; } }",
                dependsOnOthers: true
            )
        }
        let linked = realms.filter { rule.realms.contains($0.name) }
        // A realm with an error is not linked, and its error has been reported.
        if !rule.realms.isEmpty, linked.count == rule.realms.count, !linked.contains(where: \.namesUsers) {
            builder.error(
                at: range,
                "no realm of the rule takes the user name from a certificate",
                hint: "add CertificateLoginModule to the login context of the realm \(rule.realms[0])"
            )
        }
        if hasProxies, rule.schemes == [.certificate] {
            let hint = "a proxy cannot pass a certificate on: offer another scheme too, or let clients connect directly"
            let message = "the rule denies all requests of trusted-proxies: it accepts only certificates"
            builder.log.add(builder.text.warning(at: range, message, hint: hint))
        }
    }
}
