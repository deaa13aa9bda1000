// SPDX-License-Identifier: Apache-2.0

package import OpenSSLKit

/// Self-signed certificates for servers in tests.
package enum SelfSignedCertificate {
    /// Makes a P-256 key and a version 3 certificate for it, valid from five minutes before `now`.
    ///
    /// The extensions are subjectAltName, basicConstraints (critical, CA:FALSE), keyUsage (critical, digitalSignature),
    /// extendedKeyUsage (serverAuth) and subjectKeyIdentifier.
    package static func make(
        dnsNames: [String],
        ipAddresses: [String],
        validFor days: Int,
        now: Int64
    ) throws(OpenSSLError) -> (certificate: Certificate, key: PrivateKey) {
        let key = try PrivateKey.makeP256()
        let builder = try CertificateBuilder.begin(for: key, from: now - 300, to: now + Int64(days) * 86_400)
        try builder.setName(commonName: dnsNames.first ?? ipAddresses.first ?? "")
        try builder.addServerExtensions(dnsNames: dnsNames, ipAddresses: ipAddresses)
        return (try builder.sign(with: key), key)
    }
}
