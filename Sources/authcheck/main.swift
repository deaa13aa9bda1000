// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import AuthcheckCommand
import BuiltInRealms

await Authcheck.main(builtInRealms)
