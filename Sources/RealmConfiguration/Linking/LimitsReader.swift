// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import LoginConf

/// Reads the `limits` block of the `server` block.
struct LimitsReader {
    let linker: Linker

    private static let keywords = [
        "request-line", "field-line", "field-count", "header", "body", "handshake-time", "header-time", "body-time",
        "body-rate", "idle-time", "write-time", "connections", "connections-per-address", "streams",
    ]

    func read(_ statement: Statement) -> ServerSettings.Limits {
        var limits = ServerSettings.Limits()
        guard let statements = linker.block(statement) else { return limits }
        let block = Block(statements, of: "limits", Self.keywords, in: linker)
        let scalars = ScalarReader(linker: linker, block: block)
        // A head is taken in as a whole, so its bound is one on memory too.
        scalars.integer("request-line", 64...262_144, into: &limits.requestLine)
        scalars.integer("field-line", 64...262_144, into: &limits.fieldLine)
        scalars.integer("field-count", 1...1000, into: &limits.fieldCount)
        scalars.integer("header", 256...1_048_576, into: &limits.header)
        scalars.integer("body", 0...1_073_741_824, into: &limits.body)
        let times = Duration.milliseconds(250)...Duration.seconds(86_400)
        scalars.duration("handshake-time", times, into: &limits.handshakeTime)
        scalars.duration("header-time", times, into: &limits.headerTime)
        scalars.duration("body-time", times, into: &limits.bodyTime)
        scalars.integer("body-rate", 1...1_073_741_824, into: &limits.bodyRate)
        scalars.duration("idle-time", times, into: &limits.idleTime)
        scalars.duration("write-time", times, into: &limits.writeTime)
        scalars.integer("connections", 1...1_000_000, into: &limits.connections)
        scalars.integer("connections-per-address", 1...1_000_000, into: &limits.connectionsPerAddress)
        scalars.integer("streams", 1...1000, into: &limits.streams)
        return limits
    }
}
