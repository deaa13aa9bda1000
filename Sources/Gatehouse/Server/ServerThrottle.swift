// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Logging
internal import RealmConfiguration
internal import RealmKit
internal import Store
internal import Throttle

extension FailureThrottle {
    /// How often what was counted is stored: four times a second; a lock is stored at once.
    static let storingInterval = Duration.milliseconds(250)

    /// The throttle of a server, which keeps what it counts in the store the realms were lent, if there is one.
    static func make(
        _ configuration: Configuration,
        watch: RealmWatch,
        logger: Logger
    ) throws(StoreFault) -> FailureThrottle {
        FailureThrottle(
            configuration.server.throttle,
            clock: SystemClock(),
            wall: { WallClock.system.seconds },
            jitter: { Double.random(in: 0...1) },
            store: try configuration.services[StoreSource.self]?.store(),
            onLock: { lockout, _ in
                logger.warning(
                    "locked after \(lockout.failures) failures",
                    metadata: ["locked": "\(lockout.key)", "until": "\(lockout.end)"]
                )
                watch.forget(lockout.key)
            }
        )
    }
}
