// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmFile
public import RealmKit
internal import RealmStack
internal import RealmStartWith

/// The built-in realms that need no store, for programs that link no database library.
///
/// A new realm of this kind is a target and a line here.
public let realmsWithoutStore: [RealmKind] = [
    RealmKind(FileRealm.self, modules: FileLoginModule.self),
    RealmKind(StackRealm.self, modules: PermitLoginModule.self, DenyLoginModule.self, ScriptedLoginModule.self),
    RealmKind(StartWithRealm.self, modules: StartWithLoginModule.self),
]
