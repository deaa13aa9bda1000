// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Random bytes for keys, from OpenSSL's generator (RAND_bytes(3)).
public enum RandomBytes {
    /// Makes `count` random bytes.
    ///
    /// - Throws: ``OpenSSLError`` with code `libraryFailure` if the generator has no entropy. No other generator is used.
    public static func make(_ count: Int) throws(OpenSSLError) -> [UInt8] {
        guard let length = Int32(exactly: count), length >= 0 else {
            throw OpenSSLError(.invalidConfiguration, context: "\(count) random bytes")
        }
        var bytes = [UInt8](repeating: 0, count: count)
        ErrorQueue.clear()
        guard unsafe RAND_bytes(&bytes, length) == 1 else {
            throw .draining(.libraryFailure, context: "random bytes")
        }
        return bytes
    }
}
