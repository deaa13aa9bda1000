// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The version of OpenSSL.
public enum OpenSSLVersion {
    /// The version of the library that the process has loaded, such as `OpenSSL 3.0.17 1 Jul 2025`.
    ///
    /// It can be newer than the version with which the program was built.
    public static var loaded: String { unsafe String(cString: OpenSSL_version(OPENSSL_VERSION)) }
}
