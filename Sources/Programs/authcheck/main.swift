// SPDX-License-Identifier: Apache-2.0

import AuthcheckCommand
import AuthcheckRemote
import BuiltInRealms
import Store

await Authcheck.main(builtInRealms, state: .store, remote: .https)
