// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPServer
internal import RealmConfiguration

extension HTTPLimits {
    /// What the configuration says.
    init(_ settings: ServerSettings.Limits) {
        self.init()
        requestLine = settings.requestLine
        fieldLine = settings.fieldLine
        fieldCount = settings.fieldCount
        head = settings.header
        body = settings.body
        handshakeTime = settings.handshakeTime
        headTime = settings.headerTime
        bodyTime = settings.bodyTime
        bodyRate = settings.bodyRate
        idleTime = settings.idleTime
        writeTime = settings.writeTime
        connections = settings.connections
        connectionsPerAddress = settings.connectionsPerAddress
        streams = settings.streams
    }
}
