// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import COpenSSL

/// Called by OpenSSL to verify a server's certificate: accepts it if its digest is pinned.
func checkPin(store: OpaquePointer?, data: UnsafeMutableRawPointer?) -> Int32 {
    guard let data = unsafe data, let x509 = unsafe X509_STORE_CTX_get0_cert(store) else { return 0 }
    let pinned = unsafe Unmanaged<CallbackData>.fromOpaque(data).takeUnretainedValue().pinned
    return unsafe accept(store, ifPinned: pinned) { () throws(OpenSSLError) in
        try unsafe Digest { output throws(OpenSSLError) in
            guard unsafe X509_digest(x509, Algorithms.shared.sha256, output, nil) == 1 else {
                throw OpenSSLError(.libraryFailure, context: "SHA-256")
            }
        }
    } otherwise: {
        "the certificate with the SHA-256 fingerprint \($0.fingerprint) is not pinned"
    }
}

/// Called by OpenSSL to verify a server's certificate: accepts it if its public key is pinned, and if its chain is valid
/// where a chain is required.
func checkKeyPin(store: OpaquePointer?, data: UnsafeMutableRawPointer?) -> Int32 {
    guard let data = unsafe data, let x509 = unsafe X509_STORE_CTX_get0_cert(store) else { return 0 }
    let callbacks = unsafe Unmanaged<CallbackData>.fromOpaque(data).takeUnretainedValue()
    // The parameters of the connection, with the requested name, apply to this check.
    if callbacks.verifiesChain, unsafe X509_verify_cert(store) != 1 { return 0 }
    return unsafe accept(store, ifPinned: callbacks.pinnedKeys) { () throws(OpenSSLError) in
        try unsafe Certificate.publicKeyDigest(of: x509, context: "pinned key")
    } otherwise: {
        "the key \($0.pin) is not pinned"
    }
}

/// Returns 1 if a digest is pinned; otherwise sets the error of the verification and returns 0.
private func accept(
    _ store: OpaquePointer?,
    ifPinned pinned: Set<Digest>,
    digest: () throws(OpenSSLError) -> Digest,
    otherwise message: (Digest) -> String
) -> Int32 {
    do throws(OpenSSLError) {
        let digest = try digest()
        guard pinned.contains(digest) else {
            ErrorQueue.add(message(digest))
            unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION)
            return 0
        }
        return 1
    } catch {
        unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_UNSPECIFIED)
        return 0
    }
}

/// Called by OpenSSL to verify a server's certificate: records its public key and rejects it.
func recordKey(store: OpaquePointer?, data: UnsafeMutableRawPointer?) -> Int32 {
    guard let data = unsafe data, let x509 = unsafe X509_STORE_CTX_get0_cert(store) else { return 0 }
    let callbacks = unsafe Unmanaged<CallbackData>.fromOpaque(data).takeUnretainedValue()
    unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_UNTRUSTED)
    do throws(OpenSSLError) {
        callbacks.presentedKey?.record(try unsafe Certificate.publicKeyDigest(of: x509, context: "presented key"))
    } catch {
        unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_UNSPECIFIED)
    }
    return 0
}
