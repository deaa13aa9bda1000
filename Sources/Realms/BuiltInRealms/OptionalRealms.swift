// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

#if LDAP
internal import RealmLDAP

private let ldap = RealmKind(LDAPRealm.self, modules: LDAPLoginModule.self)
#else
private let ldap = RealmKind(
    notBuiltIn: [
        "LDAPRealm", "com.sun.enterprise.security.auth.realm.ldap.LDAPRealm",
        "com.sun.enterprise.security.ee.auth.realm.ldap.LDAPRealm",
    ],
    modules: [
        [
            "LDAPLoginModule", "com.sun.enterprise.security.auth.login.LDAPLoginModule",
            "com.sun.enterprise.security.ee.auth.login.LDAPLoginModule",
        ]
    ],
    hint: "install libldap-dev, and build with: swift build --traits default,LDAP"
)
#endif

#if PAM
internal import RealmPAM

private let pam = RealmKind(PAMRealm.self, modules: PAMLoginModule.self)
#else
private let pam = RealmKind(
    notBuiltIn: [
        "PAMRealm", "com.sun.enterprise.security.auth.realm.pam.PamRealm",
        "com.sun.enterprise.security.ee.authentication.glassfish.pam.PamRealm",
    ],
    modules: [
        [
            "PAMLoginModule", "com.sun.enterprise.security.auth.login.PamLoginModule",
            "com.sun.enterprise.security.ee.auth.login.PamLoginModule",
            "com.sun.enterprise.security.ee.authentication.glassfish.pam.PamLoginModule",
        ]
    ],
    hint: "install libpam0g-dev, and build with: swift build --traits default,PAM"
)
#endif

/// The realms that need a library of the system: each is built in with its trait, and otherwise named in errors.
let optionalRealms: [RealmKind] = [ldap, pam]
