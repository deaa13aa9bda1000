// SPDX-License-Identifier: Apache-2.0

public import OpenSSLKit

/// The servers that a client trusts.
///
/// There is no way to trust all servers.
public struct HTTPSTrust: Sendable {
    let tls: TLSTrust

    /// Servers whose chain ends in a certificate of the system's store, and whose certificate has the host's name.
    public static let system = HTTPSTrust(tls: .system)

    /// Servers whose chain ends in one of these certificates, and whose certificate has the host's name (RFC 9525).
    ///
    /// - Parameter certificates: The authorities; not empty.
    /// - Returns: The trust.
    public static func certificateAuthorities(_ certificates: [Certificate]) -> HTTPSTrust {
        HTTPSTrust(tls: .authorities(certificates))
    }

    /// Servers whose chain ends in one of the certificates of a PEM text.
    ///
    /// - Parameters:
    ///   - pem: The text.
    ///   - name: The name of the file, for error messages.
    /// - Returns: The trust.
    /// - Throws: `OpenSSLError` with code `noCertificate` or `malformedCertificate`.
    public static func certificateAuthorities(pem: [UInt8], name: String) throws(OpenSSLError) -> HTTPSTrust {
        .certificateAuthorities(try Certificate.chain(pem: pem, name: name))
    }

    /// Servers that have one of these public keys.
    ///
    /// Without authorities, the pin replaces the check of the chain: name, issuer and dates are not checked. With
    /// authorities, both checks must succeed.
    ///
    /// - Parameters:
    ///   - pins: The pins; not empty.
    ///   - authorities: The authorities of a check in addition to the pin.
    /// - Returns: The trust.
    public static func pinnedKeys(_ pins: Set<KeyPin>, authorities: [Certificate] = []) -> HTTPSTrust {
        HTTPSTrust(tls: .pinnedKeys(Set(pins.map(\.digest)), authorities: authorities))
    }
}

extension HTTPSTrust {
    /// No server: every request fails with code `certificateRejected` before any byte of it is sent.
    ///
    /// With it, a program can show the fingerprint of an unknown server.
    ///
    /// - Parameter presentedKey: Records the public key that the server presents.
    /// - Returns: The trust.
    public static func noServer(recording presentedKey: PresentedKey) -> HTTPSTrust {
        HTTPSTrust(tls: .noServer(recording: presentedKey))
    }
}

/// The SHA-256 digest of a server's public key (the DER form of its SubjectPublicKeyInfo, as in RFC 7469).
public struct KeyPin: Sendable, Hashable, CustomStringConvertible {
    /// The digest.
    public let digest: Digest

    /// Creates a pin.
    ///
    /// - Parameter digest: The digest.
    public init(_ digest: Digest) { self.digest = digest }

    /// Creates the pin of a certificate's key.
    ///
    /// - Parameter certificate: The certificate.
    /// - Throws: `OpenSSLError` if the key cannot be read.
    public init(of certificate: Certificate) throws(OpenSSLError) { digest = try certificate.publicKeyDigest() }

    /// Reads a pin.
    ///
    /// - Parameter text: `sha256//` and Base64, as in curl's `--pinnedpubkey`, or 64 hexadecimal digits, with or without
    ///   colons between pairs. The result is nil for any other text.
    public init?(_ text: String) {
        guard let digest = Digest(pin: text) else { return nil }
        self.digest = digest
    }

    /// The pin in the form `sha256//` and Base64.
    public var description: String { digest.pin }
}
