// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite struct ExplainTests {
    private static let rules = """
        role editor { group Staff; user ann; }
        protect app.example.com/     { auth form; require any; }
        protect app.example.com/edit { auth form; require role editor; methods GET; }
        """

    private let people: People

    init() throws {
        people = try People(People.configuration(server: "trusted-proxies 127.0.0.1;", rules: Self.rules))
    }

    @Test(arguments: [
        (["GET", "https://app.example.com/"], 1, "401: no user is signed in; the rule offers form for realm people"),
        (["GET", "https://APP.example.com./edit", "--user", "ann", "--groups", "X"], 0, "200: ann of realm people is"),
        (["GET", "https://app.example.com/edit", "--user", "bob", "--groups", "Staff"], 0, "200: bob of realm people"),
        (
            ["GET", "https://app.example.com/edit", "--user", "bob", "--groups", "X"], 1,
            "403: bob of realm people, in X,"
        ),
        (["POST", "https://app.example.com/edit", "--user", "ann"], 1, "405: the rules for the path apply to GET"),
        (["GET", "https://app.example.com/%2e%2e/edit"], 1, "400: the path is ambiguous"),
        (["GET", "/account"], 0, "200: the path belongs to the sign-in pages"),
        (["GET", "https://elsewhere.example/"], 1, "403: no rule matches"),
        (
            ["GET", "/welcome", "--user", "otto", "--realm", "others"], 1,
            "401: otto of realm others is not a user of realm"
        ),
    ])
    func `the decision about a request is explained with its place in the file`(
        words: [String],
        status: Int,
        beginning: String
    ) async throws {
        let finished = try await Program.run(
            Program.built("gatehouse"),
            ["explain"] + words,
            input: "",
            in: people.folder.url
        )
        #expect(finished.output.hasPrefix(beginning), "\(finished)")
        #expect(finished.status == Int32(status))
        #expect(status != 1 || finished.errors == "")
        #expect(!beginning.hasPrefix("200: ann") || finished.output.contains(": decides"))
    }

    @Test func `OPTIONS at a host of cors-preflights is explained with a line about CORS preflights`() async throws {
        let server = "trusted-proxies 127.0.0.1; cors-preflights app.example.com;"
        let people = try People(People.configuration(server: server, rules: Self.rules))
        let finished = try await people.gatehouse("explain", "OPTIONS", "https://app.example.com/")
        #expect(finished.status == 1 && finished.output.hasPrefix("401: no user is signed in"), "\(finished)")
        #expect(finished.output.contains("is allowed without a login for GET, POST"), "\(finished)")
    }

    @Test func `without a proxy, a request for a host without a rule is allowed`() async throws {
        let people = try People(People.configuration(rules: Self.rules))
        let finished = try await people.gatehouse("explain", "GET", "https://elsewhere.example/")
        #expect(finished.status == 0)
        #expect(finished.output.hasPrefix("200: no rule matches, so the server allows the request"), "\(finished)")
    }

    @Test func `the realm returns the groups of a user, unless --groups is given`() async throws {
        #expect(try await people.add("eve", "--group", "Staff").status == 0)
        let edit = ["explain", "GET", "https://app.example.com/edit", "--user"]
        for (words, status, text) in [
            (["eve"], 0, "200: eve of realm people is allowed"), (["eve", "--groups", "X"], 1, "403: eve"),
            (["bob"], 1, "401: bob of realm people cannot sign in: there is no such user"),
            (["zed", "--realm", "xtech"], 1, "401: zed of realm xtech is not a user of realm people"),
        ] {
            let finished = try await Program.run(
                Program.built("gatehouse"),
                edit + words,
                input: "",
                in: people.folder.url
            )
            #expect(finished.output.contains(text), "\(finished)")
            #expect(finished.status == Int32(status))
        }
    }

    @Test func `a user who cannot sign in is explained with the reason`() async throws {
        let url = "https://app.example.com/edit"
        for (name, options) in [
            ("ann", []), ("ben", ["--disabled"]), ("cid", ["--expires", "2020-01-31"]), ("dan", ["--must-change"]),
            ("fay", ["--no-password"]),
        ] {
            let finished = try await Program.run(
                Program.built("gatehouse"),
                ["user", "add", "--group", "Staff"] + (name == "fay" ? [] : ["--password-stdin"]) + options + [name],
                input: People.password + "\n",
                in: people.folder.url
            )
            #expect(finished.status == 0, "\(finished)")
        }
        for (name, status, reason, state) in [
            ("ann", 0, "200: ann of realm people is allowed", "enabled"),
            ("ben", 1, "401: ben of realm people cannot sign in: the account is disabled", "disabled"),
            (
                "cid", 1, "401: cid of realm people cannot sign in: the account expired after 2020-01-31",
                "enabled, expired after 2020-01-31"
            ),
            (
                "dan", 1, "401: dan of realm people cannot sign in: the password must be changed",
                "enabled, must change password"
            ),
            ("fay", 1, "401: fay of realm people cannot sign in: the account has no password", "enabled"),
        ] {
            let finished = try await people.gatehouse("explain", "GET", url, "--user", name)
            #expect(finished.status == Int32(status), "\(finished)")
            #expect(finished.output.hasPrefix(reason + "\n"), "\(finished)")
            #expect(finished.output.hasSuffix("\n\(name) of realm people: \(state), in Staff\n"), "\(finished)")
        }
        // The groups that are given replace the lookup.
        let given = try await people.gatehouse("explain", "GET", url, "--user", "ben", "--groups", "Staff")
        #expect(given.status == 0 && !given.output.contains("disabled"), "\(given)")
    }

    @Test(arguments: [
        ("GTE", "warning: GTE is not a known method; did you mean GET?\n"), ("PROPFIND", ""), ("GET", ""),
        ("LOCK", ""), ("SEARCH", ""), ("REPORT", ""), ("PURGE", ""), ("COPY", ""), ("TRACE", ""), ("PATH", "PATCH?\n"),
    ])
    func `a misspelled method is reported`(method: String, errors: String) async throws {
        let finished = try await people.gatehouse("explain", method, "/welcome")
        #expect(finished.status == 1 && finished.output.hasPrefix("401: no user is signed in"), "\(finished)")
        #expect(finished.errors.isEmpty == errors.isEmpty && finished.errors.hasSuffix(errors), "\(finished)")
    }

    @Test func `invalid arguments exit with 2`() async throws {
        for words in [
            [], ["GET"], ["GET", "/x", "--from", "nowhere"], ["get", "/x"], ["GET", "/x", "--groups", "A"],
        ] {
            let finished = try await Program.run(
                Program.built("gatehouse"),
                ["explain"] + words,
                input: "",
                in: people.folder.url
            )
            #expect(finished.status == 2, "\(words): \(finished)")
        }
    }
}
