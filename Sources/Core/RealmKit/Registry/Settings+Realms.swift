// SPDX-License-Identifier: Apache-2.0

extension Settings {
    /// Returns the other realm that a setting refers to.
    ///
    /// - Parameter name: A name of the schema, of the kind ``Property/Kind/realm``.
    /// - Returns: The realm.
    /// - Throws: The fault, if the setting is not declared, has another kind or has no value.
    public func realm(_ name: String) throws(Fault) -> BoundRealm {
        guard case .realms(let realms) = values[name], let realm = realms.first as? BoundRealm else {
            throw missing(name, kind: "a realm")
        }
        return realm
    }

    /// Returns the other realms that a setting refers to.
    ///
    /// - Parameter name: A name of the schema, of the kind ``Property/Kind/realms``.
    /// - Returns: The realms in the order of the configuration; empty if the setting has no value.
    /// - Throws: The fault, if the setting has another kind.
    public func realms(_ name: String) throws(Fault) -> [BoundRealm] {
        guard let value = values[name] else { return [] }
        guard case .realms(let realms) = value else { throw missing(name, kind: "a list of realms") }
        return realms.compactMap { $0 as? BoundRealm }
    }
}

extension BoundRealm: ReferencedRealm {}
