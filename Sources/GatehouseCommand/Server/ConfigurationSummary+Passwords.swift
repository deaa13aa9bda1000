// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Passwords
internal import RealmConfiguration
internal import Throttle

extension ConfigurationSummary {
    /// The rules for new passwords, and the limits of password checks.
    static func passwords(_ settings: PasswordSettings) -> [String] {
        let slots = settings.slots
        let workers = slots.workers == 0 ? "one for each processor" : "\(slots.workers)"
        let full =
            switch slots.whenFull {
            case .refuse: "then new ones are refused"
            case .cancelOldest: "then the oldest are refused"
            }
        return [
            "passwords",
            "  new ones have at least \(settings.minimumLength) characters, hashed by \(settings.policy)",
            "  checks at a time \(workers), in \(size(slots.memory)) of memory, niceness \(slots.niceness)",
            "  up to \(slots.queue) wait for up to \(time(slots.wait)); \(full)",
        ]
    }

    /// The delays and locks for failed logins.
    static func throttle(_ settings: ThrottleSettings) -> [String] {
        var lines = ["failed logins"]
        let longest = settings.longestDelay
        lines.append(
            settings.delay == .zero
                ? "  are answered at once"
                : "  are answered after \(time(settings.delay)), then later, up to \(time(longest))"
        )
        lines.append(lock("an account", failures: settings.failures, in: settings.window, for: settings.lock))
        lines.append(
            lock(
                "an address",
                failures: settings.sourceFailures,
                in: settings.sourceWindow,
                for: settings.sourceLock
            )
        )
        if !settings.exempt.isEmpty {
            lines.append("  exempt networks: \(settings.exempt.count)")
        }
        return lines
    }

    private static func lock(
        _ subject: String,
        failures: Int,
        in window: Duration,
        for lock: Duration
    ) -> String {
        guard failures > 0 else { return "  never lock \(subject)" }
        return "  \(failures) in \(time(window)) lock \(subject) for \(time(lock))"
    }

    private static func size(_ bytes: Int) -> String {
        bytes % (1 << 30) == 0 ? "\(bytes >> 30) GiB" : "\(bytes >> 20) MiB"
    }

    /// A time in the largest unit of realms.conf in which it is a whole number.
    static func time(_ time: Duration) -> String {
        let (seconds, attoseconds) = time.components
        guard attoseconds == 0 else { return "\(seconds * 1000 + attoseconds / 1_000_000_000_000_000)ms" }
        for (unit, length) in [("d", Int64(86_400)), ("h", 3600), ("m", 60)] where seconds > 0 && seconds % length == 0
        {
            return "\(seconds / length)\(unit)"
        }
        return "\(seconds)s"
    }
}
