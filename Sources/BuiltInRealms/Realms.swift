// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmFile
public import RealmKit
internal import RealmStack
internal import RealmStartWith
internal import RealmStore

/// The realms that `gatehouse` and `authcheck` are linked with.
///
/// A new one is a target and a line here.
public let builtInRealms: [RealmKind] = [
    RealmKind(FileRealm.self, modules: FileLoginModule.self),
    RealmKind(StackRealm.self, modules: PermitLoginModule.self, DenyLoginModule.self, ScriptedLoginModule.self),
    RealmKind(StartWithRealm.self, modules: StartWithLoginModule.self),
    RealmKind(StoreRealm.self, modules: StoreLoginModule.self),
]
