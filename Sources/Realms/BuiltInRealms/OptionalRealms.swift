// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

#if LDAP
internal import RealmLDAP

private let ldap = RealmKind(LDAPRealm.self, modules: LDAPLoginModule.self)
#else
private let ldap = OptionalRealm.ldap.absent
#endif

#if PAM
internal import RealmPAM

private let pam = RealmKind(PAMRealm.self, modules: PAMLoginModule.self)
#else
private let pam = OptionalRealm.pam.absent
#endif

/// The realms that need a library of the system: each is built in with its trait, and otherwise named in errors.
let optionalRealms: [RealmKind] = [ldap, pam]

/// The names of a realm that needs a library of the system, for the errors of a program without it.
///
/// They are copies, because such a program does not link the realm. A test of a program with the realm compares them.
package struct OptionalRealm: Sendable {
    package let classNames: [String]
    package let moduleNames: [String]
    let hint: String

    var absent: RealmKind { RealmKind(notBuiltIn: classNames, modules: [moduleNames], hint: hint) }

    package static let ldap = OptionalRealm(
        classNames: [
            "LDAPRealm", "com.sun.enterprise.security.auth.realm.ldap.LDAPRealm",
            "com.sun.enterprise.security.ee.auth.realm.ldap.LDAPRealm",
        ],
        moduleNames: [
            "LDAPLoginModule", "com.sun.enterprise.security.auth.login.LDAPLoginModule",
            "com.sun.enterprise.security.ee.auth.login.LDAPLoginModule",
        ],
        hint: "install libldap-dev, and build with: swift build --traits default,LDAP"
    )

    package static let pam = OptionalRealm(
        classNames: [
            "PAMRealm", "com.sun.enterprise.security.auth.realm.pam.PamRealm",
            "com.sun.enterprise.security.ee.authentication.glassfish.pam.PamRealm",
        ],
        moduleNames: [
            "PAMLoginModule", "com.sun.enterprise.security.auth.login.PamLoginModule",
            "com.sun.enterprise.security.ee.auth.login.PamLoginModule",
            "com.sun.enterprise.security.ee.authentication.glassfish.pam.PamLoginModule",
        ],
        hint: "install libpam0g-dev, and build with: swift build --traits default,PAM"
    )
}
