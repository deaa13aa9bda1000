// SPDX-License-Identifier: Apache-2.0

internal import Passwords
internal import RealmConfiguration
internal import Throttle

extension ConfigurationSummary {
    /// Returns the rules for new passwords, and the limits of password checks.
    static func passwords(_ settings: PasswordSettings) -> [String] {
        let slots = settings.slots
        let checks = slots.workers == 0 ? "one check for each processor" : "\(slots.workers) checks"
        let refused =
            switch slots.whenFull {
            case .refuse: "further checks are refused"
            case .cancelOldest: "the oldest waiting checks are refused"
            }
        return [
            "  new passwords have at least \(settings.minimumLength) characters and are hashed with \(settings.policy)",
            "  at most \(checks) at a time, with \(size(slots.memory)) of memory and niceness \(slots.niceness)",
            "  at most \(slots.queue) checks wait, each for at most \(time(slots.wait)); \(refused)",
        ]
    }

    /// Returns the delays and locks for failed logins.
    static func throttle(_ settings: ThrottleSettings) -> [String] {
        var lines = ["failed logins"]
        let longest = settings.longestDelay
        lines.append(
            settings.delay == .zero
                ? "  answers are not delayed"
                : "  answers are delayed by \(time(settings.delay)), then longer, up to \(time(longest))"
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
        return "  \(failures) within \(time(window)) lock \(subject) for \(time(lock))"
    }

    private static func size(_ bytes: Int) -> String {
        bytes % (1 << 30) == 0 ? "\(bytes >> 30) GiB" : "\(bytes >> 20) MiB"
    }

    /// Returns a time in the syntax of realms.conf, in the largest unit that gives a whole number.
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
