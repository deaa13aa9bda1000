// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit
internal import RealmStore
internal import RealmsWithoutStore

/// The realms that `gatehouse` and `authcheck` are linked with.
///
/// A new one is a target and a line, here or in `realmsWithoutStore`.
public let builtInRealms: [RealmKind] =
    realmsWithoutStore + [
        RealmKind(StoreRealm.self, modules: StoreLoginModule.self)
    ]
