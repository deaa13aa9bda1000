// SPDX-License-Identifier: Apache-2.0

internal import RealmBasics
internal import RealmExec
internal import RealmFile
public import RealmKit

/// The built-in realms that need neither the store, nor GRDB, nor a trait, nor SwiftNIO.
///
/// To add such a realm, add a target and a line here.
public let realmsWithoutStore: [RealmKind] = [
    RealmKind(AggregateRealm.self, modules: AggregateLoginModule.self),
    RealmKind(CertificateRealm.self, modules: CertificateLoginModule.self),
    RealmKind(ExecRealm.self, modules: ExecLoginModule.self),
    RealmKind(FileRealm.self, modules: FileLoginModule.self),
    RealmKind(StackRealm.self, modules: PermitLoginModule.self, DenyLoginModule.self, ScriptedLoginModule.self)
        .with(modules: PAMModules.kinds),
    RealmKind(StartWithRealm.self, modules: StartWithLoginModule.self),
]
