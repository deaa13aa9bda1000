// SPDX-License-Identifier: Apache-2.0

import BuiltInRealms
import GatehouseCommand

await GatehouseCommand.main(builtInRealms)
