// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

extension RealmBackEndConformance {
    /// A user of the back end, with the credentials that the user presents.
    public struct User: Sendable {
        /// The user name that the client sends.
        public let username: String
        /// The groups that the realm must commit, in any order.
        public let groups: [String]
        let acceptedName: String
        let password: String?
        let certificate: [UInt8]?

        /// Creates a user.
        ///
        /// - Parameters:
        ///   - username: The user name that the client sends.
        ///   - password: The right password. It should be random and have at least
        ///     ``RealmBackEndConformance/searchableBytes`` bytes, because only such a password can be recognised in a
        ///     log; see ``RealmBackEndConformance/randomPassword()``.
        ///   - certificate: The right certificate, in DER.
        ///   - groups: The groups that the realm must commit, in any order. Different groups for each user make the
        ///     check of concurrent logins stricter.
        ///   - acceptedAs: The name of the accepted user, if the realm spells it in another way than the client.
        public init(
            _ username: String,
            password: String? = nil,
            certificate: [UInt8]? = nil,
            groups: [String] = [],
            acceptedAs: String? = nil
        ) {
            self.username = username
            self.password = password
            self.certificate = certificate
            self.groups = groups
            acceptedName = acceptedAs ?? username
        }
    }
}
