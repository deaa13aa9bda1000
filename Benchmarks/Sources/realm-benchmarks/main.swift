// SPDX-License-Identifier: Apache-2.0

// The lanes of Scripts/bench-realms.sh that need Swift. The first argument is the name of the lane.

import BuiltInRealms
import Foundation

let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "remote": try await RemoteLane(Array(arguments.dropFirst())).run()
case "client": try await ClientLane(Array(arguments.dropFirst()), kinds: builtInRealms).run()
case let name:
    print("there is no lane \(name ?? "without a name")")
    exit(2)
}
