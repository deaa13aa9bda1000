// SPDX-License-Identifier: Apache-2.0

internal import Bytes
package import RealmKit

extension HelperPoolSettings {
    /// Reads the properties `processes`, `queue`, `when-full`, `timeout`, `requests-per-process` and `idle-time`.
    ///
    /// - Parameters:
    ///   - properties: Properties whose schema contains these names.
    ///   - processes: The name of the property for the maximum number of processes.
    ///   - requestsPerProcess: The name of the property for the number of requests after which a process is replaced.
    /// - Throws: ``BadRealm`` if a time is zero or longer than an hour.
    package init(
        _ properties: RealmProperties,
        processes: String = "processes",
        requestsPerProcess: String = "requests-per-process"
    ) throws(BadRealm) {
        self.init()
        self.processes = try properties.integer(processes)
        self.requestsPerProcess = try properties.integer(requestsPerProcess)
        queue = try properties.integer("queue")
        whenFull = WhenFull(rawValue: try properties.string("when-full")) ?? .refuse
        timeout = try Self.time("timeout", of: properties)
        idleTime = try Self.time("idle-time", of: properties)
    }

    /// Reads a time from 1 millisecond to an hour.
    ///
    /// - Parameters:
    ///   - name: The name of the property.
    ///   - properties: Properties whose schema contains the name.
    /// - Returns: The time.
    /// - Throws: ``BadRealm`` if the time is zero or longer than an hour.
    package static func time(_ name: String, of properties: RealmProperties) throws(BadRealm) -> Duration {
        let time = try properties.duration(name)
        guard time > .zero, time <= .seconds(3600) else {
            throw BadRealm("must be longer than 0 and at most 1h", setting: name)
        }
        return time
    }
}
