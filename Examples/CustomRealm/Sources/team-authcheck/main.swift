// SPDX-License-Identifier: Apache-2.0

import AuthcheckCommand
import RealmTeam
import RealmsWithoutStore

// For a version with the store see docs/realm-author-reference.md, "The store".
await Authcheck.main(realmsWithoutStore + [.team])
