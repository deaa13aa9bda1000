// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

extension Certificate {
    /// True if a server may use the certificate: it has no extKeyUsage, or one with serverAuth or anyExtendedKeyUsage
    /// (RFC 5280 4.2.1.12).
    ///
    /// It is false for a certificate whose extensions are malformed.
    public var isForServers: Bool {
        do throws(OpenSSLError) {
            return try unsafe withX509 { x509 throws(OpenSSLError) in
                let flags = unsafe X509_get_extension_flags(x509)
                guard flags & UInt32(EXFLAG_INVALID) == 0 else { return false }
                guard flags & UInt32(EXFLAG_XKUSAGE) != 0 else { return true }
                return unsafe X509_get_extended_key_usage(x509) & UInt32(XKU_SSL_SERVER | XKU_ANYEKU) != 0
            }
        } catch {
            return false
        }
    }
}
