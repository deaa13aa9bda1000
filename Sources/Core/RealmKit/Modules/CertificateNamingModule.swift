// SPDX-License-Identifier: Apache-2.0

/// A module that takes the user name from the client's certificate.
///
/// With the scheme `certificate` the client sends no user name. The server calls ``username(ofCertificate:)`` of the
/// first such module in the stack, and begins the login with the result. The module then requests the certificate with
/// ``Callback/certificate``, and must check it again: the login may have a name that the user has typed.
public protocol CertificateNamingModule<RealmType>: LoginModule {
    /// Checks a certificate in DER, which TLS has verified, and returns the name of its user.
    ///
    /// A certificate that this module would reject must be rejected here too. Nothing is counted against the user for it,
    /// because anybody could lock the user out with it.
    ///
    /// - Throws: ``LoginFault`` if the module does not accept the certificate, with the reason for the log.
    func username(ofCertificate certificate: [UInt8]) async throws(LoginFault) -> Username
}

extension LoginStack {
    /// True if a module of the stack takes the user name from a certificate.
    public var namesUsersByCertificate: Bool { namingModule != nil || entries.contains(where: \.namesUsers) }

    /// Returns the user name in a certificate, as the first ``CertificateNamingModule`` of the stack reads it.
    ///
    /// - Throws: ``LoginFault`` if the module does not accept the certificate, or the stack has no such module.
    public func username(ofCertificate certificate: [UInt8]) async throws(LoginFault) -> Username {
        guard let namingModule else {
            throw LoginFault(.missingCredential, log: "no module of \(name) takes the user name from a certificate")
        }
        return try await namingModule.username(ofCertificate: certificate)
    }

    private var namingModule: (any CertificateNamingModule)? {
        entries.lazy.compactMap { $0.module as? any CertificateNamingModule }.first
    }
}
