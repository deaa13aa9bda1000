// SPDX-License-Identifier: Apache-2.0

package import Logging
package import RealmConfiguration
internal import RealmKit
package import Store
package import Throttle

extension FailureThrottle {
    /// The time between two writes of the counters.
    ///
    /// Locks are not delayed: they are stored at once.
    static let storingInterval = Duration.milliseconds(250)

    /// Returns the throttle of a server.
    ///
    /// Its counters are stored if the configuration has a store.
    package static func make(
        _ configuration: Configuration,
        refresher: RealmRefresher,
        logger: Logger,
        onLock: @escaping @Sendable (ThrottleKey) -> Void = { _ in }
    ) throws(StoreFault) -> FailureThrottle {
        FailureThrottle(
            configuration.server.throttle,
            clock: SystemClock(),
            wall: { WallClock.system.seconds },
            jitter: { Double.random(in: 0...1) },
            store: try configuration.services[LazyStore.self]?.store(),
            onLock: { lockout, _ in
                onLock(lockout.key)
                if let network = FailureThrottle.networkOfTokens(lockout.key) {
                    logger.warning(
                        "\(lockout.failures) wrong tokens at the realm API",
                        metadata: ["address": "\(network)"]
                    )
                    return
                }
                logger.warning(
                    "locked after \(lockout.failures) failures",
                    metadata: ["locked": "\(Self.logText(lockout.key))", "until": "\(lockout.end)"]
                )
                refresher.evict(lockout.key)
            }
        )
    }

    /// Returns an account or a source for the log; the name of an account comes from a client.
    private static func logText(_ key: ThrottleKey) -> String {
        switch key {
        case .account(let account): LogText.quoted(account.description)
        case .source(let network): network.description
        }
    }
}
