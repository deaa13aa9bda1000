// SPDX-License-Identifier: Apache-2.0

internal import Bytes
public import LoginConf
package import OpenSSLKit
public import RealmConfiguration
public import RealmKit

/// The certificates that a configuration names, and the warnings about those that expire within 30 days.
///
/// They are the certificates of the server, of authorities and of connections to other servers, and the authority of
/// the development certificate. The development certificate is renewed before it expires, and so it is not among them.
public struct ExpiringCertificates: Sendable {
    /// A file with more certificates is a collection such as that of the system, in which some always expire.
    private static let maximumCount = 20

    /// Each with the place that names its file.
    private let certificates: [(file: Located<String>, certificate: Certificate)]

    /// Reads the files; a file that cannot be read, which is reported elsewhere, is left out.
    public init(_ configuration: Configuration, files: ConfigurationFiles) {
        let settings = configuration.server
        var names = configuration.certificateFiles
        if settings.tls.files == nil {
            names.append(settings.stateFolder.map { "\($0)/\(DevelopmentCertificate.authorityName)" })
        }
        var certificates: [(Located<String>, Certificate)] = []
        var seen: Set<String> = []
        for name in names where seen.insert(name.value).inserted {
            guard case .success(let bytes) = files.read(name.value) else { continue }
            guard let chain = try? Certificate.chain(pem: bytes, name: name.value),
                chain.count <= Self.maximumCount
            else { continue }
            certificates += chain.map { (name, $0) }
        }
        self.certificates = certificates
    }

    /// The files, each with the time at which the first of its certificates expires, in seconds since 1970.
    package var expiryByFile: [String: Int64] {
        Dictionary(certificates.map { ($0.file.value, $0.certificate.notAfter) }, uniquingKeysWith: min)
    }

    /// Returns the warnings, at the places that name the files.
    public func warnings(at clock: WallClock) -> [Diagnostic] {
        certificates.compactMap { file, certificate in
            Self.warning(certificate, "in \(file.value)", at: clock).map { file.warning($0) }
        }
    }

    /// Returns the warning about a certificate at a place such as `in FILE`; nil if it is valid for 30 days.
    package static func warning(_ certificate: Certificate, _ place: String, at clock: WallClock) -> String? {
        let now = Int64(clock.seconds)
        guard certificate.notAfter < now + 30 * 86_400 else { return nil }
        let date = UTCTime.readableText(Int(clamping: certificate.notAfter))
        let text = "certificate \(certificate.subject) \(place)"
        guard certificate.notAfter >= now else { return "\(text) has expired on \(date)" }
        let days = (certificate.notAfter - now) / 86_400
        return "\(text) expires on \(date), in \(days) \(days == 1 ? "day" : "days")"
    }
}
