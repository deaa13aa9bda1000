// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmConfiguration
internal import RealmKit

extension Configuration {
    /// The realm that a command is about: the one that `--realm` names, or the configuration's default.
    func realm(_ name: String?) throws(ActionFault) -> BoundRealm {
        guard let name = name ?? defaultRealm else {
            throw ActionFault(.usage, "name a realm by --realm; the configuration has no default-realm")
        }
        do throws(RealmError) {
            return try authenticator.realm(name)
        } catch {
            throw ActionFault(error)
        }
    }
}
