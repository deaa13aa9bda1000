// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

extension SSLContext {
    /// Applies a policy for client certificates.
    func apply(_ policy: ClientCertificatePolicy) throws(OpenSSLError) {
        data.clientCertificates = policy.mode
        let demand = policy.mode == .required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0
        unsafe SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER | demand, nil)
        unsafe SSL_CTX_set_verify_depth(pointer, Int32(policy.maximumDepth))
        let store = unsafe SSL_CTX_get_cert_store(pointer)
        for authority in policy.authorities {
            try unsafe authority.withX509 { x509 throws(OpenSSLError) in
                let name = "client certificate authority \(authority.subject)"
                try check(unsafe X509_STORE_add_cert(store, x509), name)
                try check(unsafe SSL_CTX_add_client_CA(pointer, x509), name)
            }
        }
        guard !policy.revocationLists.isEmpty else { return }
        for list in policy.revocationLists {
            try unsafe list.withCRL { crl throws(OpenSSLError) in
                try check(unsafe X509_STORE_add_crl(store, crl), "revocation list of \(list.issuer)")
            }
        }
        let flags = UInt(X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL)
        try check(unsafe X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(pointer), flags), "revocation lists")
    }

    private func check(_ result: Int32, _ setting: String) throws(OpenSSLError) {
        guard result == 1 else { throw .draining(.invalidConfiguration, context: setting) }
    }
}
