// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
public import Passwords
public import RealmKit

extension RealmServices {
    /// Returns the services of a program for the test of a realm: a `PasswordService`, a `WallClock` and a `RealmLog`.
    ///
    /// ```swift
    /// let services = RealmServices.forTests()
    /// let passwords = try #require(services[PasswordService.self])
    /// let line = "ann;\(try await passwords.hash(Secret(utf8: "271828")))"
    /// ```
    ///
    /// New hashes are cheap, so the services are for tests only. If no random bytes can be generated, there is no
    /// `PasswordService`.
    ///
    /// - Parameters:
    ///   - policy: The algorithm and cost of new hashes; Argon2id with 64 KiB by default.
    ///   - seconds: The time of the clock, which stands still, in seconds since 1970.
    ///   - log: The log.
    /// - Returns: The services. Each call returns others.
    public static func forTests(
        policy: HashPolicy = HashPolicy(.argon2id(memory: 64, passes: 1, lanes: 1)),
        seconds: Int = 1_000_000,
        log: RecordingLog = RecordingLog()
    ) -> RealmServices {
        var services = RealmServices()
        let pool = HashingPool(HashingSettings(workers: 1)) { DispatchTime.now().uptimeNanoseconds }
        do throws(HashFault) {
            services[PasswordService.self] = try PasswordService(policy: policy, pool: pool)
        } catch {
            // The realm reports that the service is missing.
        }
        services[WallClock.self] = WallClock { seconds }
        services[RealmLog.self] = log.log
        return services
    }
}
