// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import BuiltInRealms
import GatehouseCommand
import RealmTeam

await GatehouseCommand.main(builtInRealms + [.team])
