// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Called by OpenSSL when a client requests the status of the server's certificate: sends the OCSP response.
func statusCallback(ssl: OpaquePointer?, data: UnsafeMutableRawPointer?) -> Int32 {
    guard let data = unsafe data else { return SSL_TLSEXT_ERR_NOACK }
    let callbacks = unsafe Unmanaged<CallbackData>.fromOpaque(data).takeUnretainedValue()
    guard let response = callbacks.ocspResponse else { return SSL_TLSEXT_ERR_NOACK }
    if let next = response.nextUpdate {
        // OpenSSL uses the same clock for its own checks.
        let now = time(nil)
        if Int64(now) > next { return SSL_TLSEXT_ERR_NOACK }
    }
    let set = unsafe gatehouse_SSL_set_status_response(ssl, response.der, response.der.count)
    return set == 1 ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK
}
