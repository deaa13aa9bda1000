// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPSClient
import OpenSSLKit
import RealmKit
import RemoteList

let arguments = CommandLine.arguments
guard arguments.count == 4, let pin = Digest(pin: arguments[3]), let password = readLine() else {
    print("usage: remote-list URL USER PIN < PASSWORD")
    exit(2)
}
do {
    var configuration = HTTPSClientConfiguration(trust: .pinnedKeys([pin]))
    configuration.userAgent = "remote-list/1.0"
    let devices = try await DeviceList.devices(
        at: HTTPSURL(arguments[1]),
        authorization: Secret(utf8: Data("\(arguments[2]):\(password)".utf8).base64EncodedString()),
        client: HTTPSClient(configuration)
    )
    for device in devices { print(device.isOn ? "on " : "off", device.name) }
} catch {
    print("no list: \(error)")
    exit(1)
}
