// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import AuthcheckCommand
import AuthcheckRemote
import BuiltInRealms
import Store

await Authcheck.main(builtInRealms, state: .store, remote: .https)
