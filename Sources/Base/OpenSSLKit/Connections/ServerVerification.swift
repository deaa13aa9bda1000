// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import COpenSSL
internal import Synchronization

/// Records the certificate that a server presents in a handshake which accepts no server; any thread may use it.
public final class PresentedKey: Sendable {
    private let state = Mutex<(digest: Digest, certificate: Certificate?)?>(nil)

    /// Creates a record without a key.
    public init() {}

    /// The SHA-256 digest of the last key, see ``Certificate/publicKeyDigest()``; nil if no certificate was received.
    public var digest: Digest? { state.withLock { $0?.digest } }

    /// The last certificate; nil if no certificate was received, or it cannot be read.
    public var certificate: Certificate? { state.withLock { $0?.certificate } }

    func record(_ digest: Digest, of certificate: Certificate?) { state.withLock { $0 = (digest, certificate) } }
}

/// Called by OpenSSL with each problem of a server's chain: adds the certificate and its problem to the errors.
///
/// The system's clock has decided, and the chain may be that of an attacker; the text is for logs.
func describeProblem(isAccepted: Int32, store: OpaquePointer?) -> Int32 {
    guard isAccepted != 1, let store = unsafe store else { return isAccepted }
    let code = unsafe X509_STORE_CTX_get_error(store)
    guard let reason = unsafe X509_verify_cert_error_string(Int(code)),
        let x509 = unsafe X509_STORE_CTX_get_current_cert(store), unsafe X509_up_ref(x509) == 1
    else { return isAccepted }
    // If the certificate cannot be read, OpenSSL's own text remains.
    if let certificate = try? unsafe Certificate(owning: x509, context: "certificate of the server") {
        ErrorQueue.add("\(unsafe String(cString: reason)): \(description(of: certificate, afterError: code))")
    }
    return isAccepted
}

private func description(of certificate: Certificate, afterError code: Int32) -> String {
    func short(_ text: String) -> String { text.utf8.count <= 200 ? text : "\(text.prefix(100))..." }
    func date(_ seconds: Int64) -> String { UTCTime.text(Int(clamping: seconds)) }
    let subject = "the certificate of \(short(certificate.subject)), issued by \(short(certificate.issuer)),"
    switch code {
    case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
        let names = certificate.dnsNames + certificate.ipAddresses
        guard !names.isEmpty else { return "\(subject) has no subject alternative name" }
        let rest = names.count > 5 ? " and \(names.count - 5) more" : ""
        return "\(subject) is for \(names.prefix(5).map(short).joined(separator: ", "))\(rest)"
    case X509_V_ERR_CERT_HAS_EXPIRED: return "\(subject) was valid until \(date(certificate.notAfter))"
    case X509_V_ERR_CERT_NOT_YET_VALID: return "\(subject) is valid from \(date(certificate.notBefore))"
    case _: return "\(subject) is valid until \(date(certificate.notAfter))"
    }
}

/// Called by OpenSSL to verify a server's certificate: accepts it if its public key is pinned, and if its chain is
/// valid where a chain is required.
func checkKeyPin(store: OpaquePointer?, data: UnsafeMutableRawPointer?) -> Int32 {
    guard let callbacks = unsafe CallbackData.of(argument: data), let x509 = unsafe X509_STORE_CTX_get0_cert(store)
    else { return 0 }
    // The parameters of the connection, with the requested name, apply to this check.
    if callbacks.verifiesChain, unsafe X509_verify_cert(store) != 1 { return 0 }
    guard let digest = try? unsafe Certificate.publicKeyDigest(of: x509, context: "pinned key") else {
        unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_UNSPECIFIED)
        return 0
    }
    if callbacks.pinnedKeys.contains(digest) { return 1 }
    ErrorQueue.add("the key \(digest.pin) is not pinned")
    unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION)
    return 0
}

/// Called by OpenSSL to verify a server's certificate: records it and rejects it.
func recordKey(store: OpaquePointer?, data: UnsafeMutableRawPointer?) -> Int32 {
    guard let callbacks = unsafe CallbackData.of(argument: data), let x509 = unsafe X509_STORE_CTX_get0_cert(store)
    else { return 0 }
    unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_UNTRUSTED)
    do throws(OpenSSLError) {
        let digest = try unsafe Certificate.publicKeyDigest(of: x509, context: "presented key")
        guard unsafe X509_up_ref(x509) == 1 else { throw OpenSSLError(.libraryFailure, context: "presented key") }
        callbacks.presentedKey?.record(digest, of: try? unsafe Certificate(owning: x509, context: "presented key"))
    } catch {
        unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_UNSPECIFIED)
    }
    return 0
}
