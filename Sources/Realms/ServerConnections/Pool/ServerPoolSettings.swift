// SPDX-License-Identifier: Apache-2.0

package import RealmKit

/// The limits of the connections of one realm.
package struct ServerPoolSettings: Sendable, Hashable {
    /// The maximum number of calls at the same time; each has a thread, and at most one connection to each server.
    package var connections = 8
    /// The maximum number of waiting calls.
    package var queue = 512
    /// True to reject the oldest call of the source or user with the most waiting calls when the queue is full; false
    /// to reject the new call or, if another source or user has more of them, the newest call of that one; of the calls
    /// of a user, one of the source with the most.
    package var cancelsOldest = false
    /// The time for a call, from its arrival to its answer.
    package var timeout = Duration.seconds(10)
    /// The time after which a connection without calls is closed.
    package var idleTime = Duration.seconds(60)
    /// The maximum time between two checks of a server that is down.
    package var checkInterval = Duration.seconds(1)
    /// True if the servers take turns; false if the first one that is up is used.
    package var isRoundRobin = false

    package init() {}

    /// The properties that ``init(_:connections:)`` reads, apart from the number of connections.
    package static let properties: PropertySchema = [
        Property("queue", .integer(0...4096), default: "512"),
        Property("when-full", .choice(["refuse", "cancel-oldest"]), default: "refuse"),
        Property("timeout", .duration, default: "10s"),
        Property("idle-time", .duration, default: "60s"),
        Property("check-interval", .duration, default: "1s"),
        Property("servers", .choice(["in-order", "round-robin"]), default: "in-order"),
    ]

    /// Reads the limits from properties whose schema contains ``properties``, and the number of `connections` by that
    /// name.
    package init(_ properties: RealmProperties, connections: String) throws(BadRealm) {
        self.init()
        self.connections = try properties.integer(connections)
        queue = try properties.integer("queue")
        cancelsOldest = try properties.string("when-full") == "cancel-oldest"
        timeout = try Self.time("timeout", of: properties)
        idleTime = try Self.time("idle-time", of: properties)
        checkInterval = try Self.time("check-interval", of: properties)
        isRoundRobin = try properties.string("servers") == "round-robin"
    }

    package static func time(_ name: String, of properties: RealmProperties) throws(BadRealm) -> Duration {
        let time = try properties.duration(name)
        guard (Duration.milliseconds(1)...Duration.seconds(3600)).contains(time) else {
            throw BadRealm("is from 1ms to 1h", setting: name)
        }
        return time
    }
}
