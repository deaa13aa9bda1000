// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import AuthcheckCommand
import BuiltInRealms
import RealmTeam

await Authcheck.main(builtInRealms + [.team])
