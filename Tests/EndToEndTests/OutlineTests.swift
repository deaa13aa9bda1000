// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Foundation
import Testing

/// The settings for passwords and failed logins in the output of `gatehouse check`.
@Suite struct OutlineTests {
    static let cases: [(passwords: String, throttle: String, lines: String)] = [
        (
            "workers 4;", "",
            """
            passwords
              new ones have at least 8 characters, hashed by argon2id memory=19MiB passes=2 lanes=1
              checks at a time 4, in 256 MiB of memory, niceness 10
              up to 512 wait for up to 5s; then new ones are refused
            failed logins
              are answered after 250ms, then later, up to 4s
              10 in 15m lock an account for 15m
              100 in 15m lock an address for 15m
            sessions

            """
        ),
        (
            "hash bcrypt cost=12; minimum-length 15; memory 2GiB; queue 9; wait 1500ms; when-full cancel-oldest; niceness 0;",
            "failures 0; source-failures 5; source-window 90s; source-lock 1d; delay 0s; exempt 10.0.0.0/8 127.0.0.1;",
            """
            passwords
              new ones have at least 15 characters, hashed by bcrypt cost=12
              checks at a time one for each processor, in 2 GiB of memory, niceness 0
              up to 9 wait for up to 1500ms; then the oldest are refused
            failed logins
              are answered at once
              never lock an account
              5 in 90s lock an address for 1d
              exempt networks: 2
            sessions

            """
        ),
    ]

    @Test(arguments: cases)
    func `the outline shows the settings for passwords and failed logins`(
        passwords: String,
        throttle: String,
        lines: String
    ) async throws {
        let people = try People(
            People.configuration(passwords: passwords, server: "throttle { \(throttle) }")
        )
        let checked = try await people.gatehouse("check")
        #expect(checked.status == 0 && checked.errors == "", "\(checked)")
        #expect(checked.output.contains(lines), "\(checked.output)")
    }
}
