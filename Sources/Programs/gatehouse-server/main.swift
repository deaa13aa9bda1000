// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import BuiltInRealms
import GatehouseCommand

await GatehouseCommand.main(builtInRealms)
