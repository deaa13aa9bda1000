// SPDX-License-Identifier: Apache-2.0

import BuiltInRealms
import GatehouseCommand
import RealmTeam

await GatehouseCommand.main(builtInRealms + [.team])
