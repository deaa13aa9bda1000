// SPDX-License-Identifier: Apache-2.0

public import OpenSSLKit
public import RealmKit

/// The settings of the realm API: the `realm-api` block of the `server` block.
///
/// With the realm API, other programs check credentials of users in the realms of this server.
public struct RealmAPISettings: Sendable, Hashable {
    /// A program that may check credentials.
    ///
    /// A program is identified by a token, by the certificate of its TLS connection, or by both. If several conditions
    /// are set, all of them must be met.
    public struct Client: Sendable, Hashable {
        /// The name of the program, for logs.
        public let name: String
        /// The names of the realms that the program may use, at least one.
        public var realms: [String]
        /// The SHA-256 digests of the tokens; empty if the program needs no token.
        ///
        /// During a change of the token, two tokens are valid.
        public var tokens: [Digest] = []
        /// The SHA-256 digests of the public keys of the certificates.
        ///
        /// If ``certificateKeys`` and ``certificateSubjects`` are both empty, the program needs no certificate.
        /// Otherwise its certificate must have one of these keys or one of these subjects.
        public var certificateKeys: [Digest] = []
        /// The subjects of the certificates in the form of RFC 2253, such as `CN=build,O=Example`.
        public var certificateSubjects: [String] = []
        /// The networks of the program; empty for all networks.
        public var networks: [CIDRBlock] = []
        /// True if a request may contain the address of the user, for the throttle and the log.
        public var mayStateUserAddress = false
        /// True if the response to refused credentials contains the reason.
        ///
        /// The reason reveals whether a user exists, and whether an account is locked.
        public var showsReasons = false

        package init(name: String, realms: [String]) {
            self.name = name
            self.realms = realms
        }

        /// True if the program needs a certificate.
        public var needsCertificate: Bool { !certificateKeys.isEmpty || !certificateSubjects.isEmpty }
    }

    /// The programs, in the order of the file.
    public let clients: [Client]
}
