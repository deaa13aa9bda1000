// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The output of `gatehouse check`, which leaves out settings with their default values.
@Suite struct ConfigurationSummaryTests {
    static let cases: [(passwords: String, throttle: String, lines: String)] = [
        (
            "workers 4;", "",
            """
            passwords
              at most 4 checks at a time, with 256 MiB of memory and niceness 5
            server

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
            server

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

    @Test func `a warning about a certificate is on standard error with its place`() async throws {
        let files = "certificate a.pem; key a.key;"
        let people = try People(People.configuration(server: "tls { \(files) host b.test { \(files) } }"))
        let made = try await Program.run(
            try #require(Program.system("openssl")),
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "99",
                "-subj", "/CN=a.test", "-addext", "subjectAltName=DNS:a.test", "-keyout", "a.key", "-out", "a.pem",
            ],
            in: people.folder.url
        )
        #expect(made.status == 0, "\(made)")
        let checked = try await people.gatehouse("check")
        #expect(checked.status == 0, "\(checked)")
        #expect(checked.errors.contains("warning: certificate a.pem is not valid for b.test\n"), "\(checked)")
        #expect(checked.errors.contains("realms.conf:8:") && !checked.output.contains("warning"), "\(checked)")
    }

    @Test func `the summary has the settings of sessions, pages and the server that are configured`() async throws {
        let plain = try await People(People.configuration()).gatehouse("check")
        let titles = plain.output.split(separator: "\n").filter { !$0.hasPrefix(" ") }
        #expect(titles == ["realms", "login contexts", "protected", "server"], "\(plain.output)")
        let settings = """
            metrics { listen 127.0.0.1:9464; }
            trusted-proxies 127.0.0.1;
            identity-token { key id.pem; }
            sessions { idle 1h; }
            sign-in { prefix /gatehouse; brand { name "Example Ltd"; footer "Internal use only"; } }
            """
        // Identity tokens need rules with hosts.
        let configuration = People.configuration(server: settings)
            .replacing("protect /", with: "protect app.example.org/")
        let people = try People(configuration)
        let made = try await Program.run(
            try #require(Program.system("openssl")),
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "id.pem"],
            in: people.folder.url
        )
        #expect(made.status == 0, "\(made)")
        let full = try await people.gatehouse("check")
        let lines = """
            sessions
              expire after 1h without a request, and after 12h
              sign-in pages below /gatehouse, at most 10m for a sign-in
              brand Example Ltd, footer
            server
              listens on 127.0.0.1:0
              serves metrics on 127.0.0.1:9464
              trusts the proxies 127.0.0.1
              gives identity tokens to applications

            """
        #expect(full.status == 0 && full.output.contains(lines), "\(full)")
    }

    @Test func `a group of a rule that no user of a store is in is named, once the store has groups`() async throws {
        let people = try People()
        #expect(try await people.add("ann").status == 0)
        #expect(try await people.gatehouse("check").errors == "")
        #expect(try await people.add("ben", "--group", "Stafff").status == 0)
        let checked = try await people.gatehouse("check")
        #expect(checked.status == 0, "\(checked)")
        let warning = "realms.conf:10:34: warning: no user of realm people is in Staff\n"
        #expect(checked.errors.hasPrefix(warning) && checked.errors.contains("did you mean Stafff?"), "\(checked)")
        #expect(try await people.add("carl", "--group", "Staff").status == 0)
        #expect(try await people.gatehouse("check").errors == "")
    }
}
