// SPDX-License-Identifier: Apache-2.0

public import RealmKit
internal import RealmRemote
internal import RealmSQL
internal import RealmStore
internal import RealmsWithoutStore
internal import Store

/// The realms that are linked into `gatehouse` and `authcheck`.
///
/// To add a realm, add a target, and a line here or in `realmsWithoutStore`.
public let builtInRealms: [RealmKind] =
    realmsWithoutStore + optionalRealms + [
        RealmKind(RemoteRealm.self, modules: RemoteLoginModule.self),
        RealmKind(SQLRealm.self, modules: SQLLoginModule.self),
        RealmKind(StoreRealm.self, modules: StoreLoginModule.self, state: .store),
    ]
