// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Foundation
import Testing

/// The settings for passwords and failed logins in the output of `gatehouse check`.
@Suite struct ConfigurationSummaryTests {
    static let cases: [(passwords: String, throttle: String, lines: String)] = [
        (
            "workers 4;", "",
            """
            passwords
              new passwords have at least 8 characters and are hashed with argon2id memory=19MiB passes=2 lanes=1
              at most 4 checks at a time, with 256 MiB of memory and niceness 10
              at most 512 checks wait, each for at most 5s; further checks are refused
            failed logins
              answers are delayed by 250ms, then longer, up to 4s
              10 within 15m lock an account for 15m
              100 within 15m lock an address for 15m
            sessions

            """
        ),
        (
            "hash bcrypt cost=12; minimum-length 15; memory 2GiB; queue 9; wait 1500ms; when-full cancel-oldest; niceness 0;",
            "failures 0; source-failures 5; source-window 90s; source-lock 1d; delay 0s; exempt 10.0.0.0/8 127.0.0.1;",
            """
            passwords
              new passwords have at least 15 characters and are hashed with bcrypt cost=12
              at most one check for each processor at a time, with 2 GiB of memory and niceness 0
              at most 9 checks wait, each for at most 1500ms; the oldest waiting checks are refused
            failed logins
              answers are not delayed
              never lock an account
              5 within 90s lock an address for 1d
              exempt networks: 2
            sessions

            """
        ),
    ]

    @Test(arguments: cases)
    func `the summary shows the settings for passwords and failed logins`(
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

    @Test func `the summary shows the languages of the pages, and what a translation file lacks`() async throws {
        let people = try People(People.configuration(server: ""))
        let plain = try await people.gatehouse("check")
        #expect(plain.output.contains("\n  pages in en, de, fr; other browsers get en\nserver\n"), "\(plain.output)")
        let files = ["it it.conf", "it more.conf", "de de.conf"].map { "translation \($0);" }.joined(separator: " ")
        let settings = "sign-in { languages fr it de; \(files) }"
        let translated = try People(People.configuration(server: settings))
        let full = try await people.gatehouse("translation")
        let count = full.output.split(separator: "\n").count - 1
        _ = try translated.folder.write("sign-in Accedi; user-name \"Nome utente\";", to: "it.conf")
        _ = try translated.folder.write("password Password;", to: "more.conf")
        _ = try translated.folder.write("password Kennwort;", to: "de.conf")
        let lines = """
              pages in fr, it, de; other browsers get fr
                it  it.conf, more.conf, lacks \(count - 3) of \(count) texts, which are in English
                de  de.conf
            server

            """
        let checked = try await translated.gatehouse("check")
        #expect(checked.status == 0 && checked.output.contains(lines), "\(checked)")
    }
}
