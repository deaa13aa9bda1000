// SPDX-License-Identifier: Apache-2.0

import RealmKit

@testable import AccessControl

extension CredentialCache {
    /// Returns the key of credentials for realms with these names.
    func key(
        realms: [String],
        whenUnavailable: WhenUnavailable = .continue,
        peer: String?,
        certificate: ClientCertificate? = nil,
        credentials: Credentials
    ) -> Key? {
        key(
            realms: RealmField(realms, whenUnavailable),
            peer: peer,
            certificate: certificate,
            credentials: credentials
        )
    }
}
