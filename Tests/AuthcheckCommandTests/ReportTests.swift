// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import RealmKit
import RealmTesting
import Testing

@testable import AuthcheckCommand

struct ReportTests {
    private func report(
        _ name: String = "zed",
        _ modules: (ScriptedModule, ControlFlag, String)...
    ) async throws -> LoginReport {
        let entries = modules.map { LoginStack.Entry($0.0, $0.1, name: $0.2) }
        let stack = LoginStack(name: "lane", entries, clock: ManualClock())
        let request = LoginRequest(realm: "xtech", username: try Username(name))
        return await stack.login(request, asking: PreparedConversation.silent)
    }

    @Test func `the text of an accepted user has all principals in aligned columns`() async throws {
        let module = ScriptedModule(
            .run { $0.commit(as: $0.username, groups: ["User", "Staff"], others: [.role("reader")]) }
        )
        #expect(
            ReportText.text(try await report("zed", (module, .required, "M")), trace: false) == """
                accepted: zed in realm xtech
                  user   zed
                  group  User
                  group  Staff
                  role   reader
                """
        )
    }

    @Test func `a refusal is shown with its reason and its module`() async throws {
        let refusing = ScriptedModule(.refuse(.wrongCredentials))
        let failing = ScriptedModule(.fail(.unavailable("no route to host")))
        #expect(
            ReportText.text(try await report("ann", (refusing, .required, "M")), trace: false)
                == "refused: ann in realm xtech: wrong credentials (M)"
        )
        #expect(
            ReportText.text(try await report("ann", (failing, .required, "LDAP")), trace: false)
                == "refused: ann in realm xtech: unavailable (LDAP: no route to host)"
        )
        #expect(
            ReportText.text(try await report("ann", (ScriptedModule(.ignore), .required, "M")), trace: false)
                == "refused: ann in realm xtech: every module ignored this user"
        )
        #expect(
            ReportText.text(try await report("ann"), trace: false)
                == "refused: ann in realm xtech: the login context of the realm has no modules"
        )
    }

    @Test func `a trace has an aligned line for every call, and the faults after these lines`() async throws {
        let failing = ScriptedModule(.fail(.unavailable("no route to host")))
        let report = try await report(
            "zed",
            (failing, .optional, "com.example.Directory"),
            (ScriptedModule(), .required, "File")
        )
        #expect(
            ReportText.text(report, trace: true) == """
                accepted: zed in realm xtech
                  user  zed

                #  module                 control   phase   outcome      action  state      time
                0  com.example.Directory  optional  login   unavailable  ignore  undecided  0 us
                1  File                   required  login   success      ok      granting   0 us
                0  com.example.Directory  optional  commit  ignored      ignore  undecided  0 us
                1  File                   required  commit  success      ok      granting   0 us
                0 com.example.Directory login: no route to host
                """
        )
    }

    /// A name with control characters, and the text that must be shown for it.
    static let nasty = "a\u{1B}[31m\u{9B}b\nrefused:\r\t\u{7F}\u{202E}c\u{0}"
    static let shown = "a\u{FFFD}[31m\u{FFFD}b\u{FFFD}refused:\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}c\u{FFFD}"

    @Test func `control characters in names and faults are replaced, so that they cannot add lines`() async throws {
        let naming = ScriptedModule(.accept(groups: [Self.nasty]))
        let failing = ScriptedModule(.fail(.internalError(Self.nasty)))
        let accepted = try await report("zed", (naming, .required, "M"), (failing, .optional, "N"))
        let lines = ReportText.text(accepted, trace: true).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 10)
        #expect(lines[2] == "  group  \(Self.shown)")
        #expect(lines.last == "1 N login: \(Self.shown)")
        let refused = try await report("zed", (failing, .required, "N"))
        #expect(
            ReportText.text(refused, trace: false)
                == "refused: zed in realm xtech: internal error (N: \(Self.shown))"
        )
    }

    @Test func `JSON has all fields on one line, and no control characters`() async throws {
        let naming = ScriptedModule(.accept(groups: [Self.nasty]))
        let failing = ScriptedModule(.fail(.internalError("\u{9B}31m")))
        let json = ReportJSON.text(try await report("zed", (naming, .required, "M"), (failing, .optional, "N")))
        #expect(json.unicodeScalars.allSatisfy { (0x20...0x7E).contains($0.value) })
        let expected = [
            #"{"accepted":true,"attributes":{},"nanoseconds":0,"principals":[{"kind":"user","name":"zed"},"#,
            #"{"kind":"group","name":"a\u001b[31m\u009bb\nrefused:\r\t\u007f\u202ec\u0000"}],"realm":"xtech","steps":["#,
            #"{"action":"ok","control":"required","index":0,"module":"M","nanoseconds":0,"outcome":"success","#,
            #""phase":"login","state":"granting"},"#,
            #"{"action":"ignore","control":"optional","fault":"\u009b31m","index":1,"module":"N","nanoseconds":0,"#,
            #""outcome":"internal-error","phase":"login","state":"granting"},"#,
            #"{"action":"ok","control":"required","index":0,"module":"M","nanoseconds":0,"outcome":"success","#,
            #""phase":"commit","state":"granting"},"#,
            #"{"action":"ignore","control":"optional","index":1,"module":"N","nanoseconds":0,"outcome":"ignored","#,
            #""phase":"commit","state":"granting"}],"user":"zed"}"#,
        ]
        #expect(json == expected.joined())
    }

    @Test func `JSON contains the reason of a refusal`() async throws {
        let json = ReportJSON.text(try await report("ann", (ScriptedModule(.refuse(.locked)), .required, "M")))
        #expect(
            json.hasPrefix(
                #"{"accepted":false,"module":"M","nanoseconds":0,"realm":"xtech","reason":"locked","smallestChange":{"M":"success"},"steps":["#
            )
        )
        #expect(
            ReportJSON.text(try await report("ann"))
                == #"{"accepted":false,"nanoseconds":0,"realm":"xtech","reason":"empty-stack","steps":[],"user":"ann"}"#
        )
        let ignored = ReportJSON.text(try await report("ann", (ScriptedModule(.ignore), .required, "M")))
        #expect(ignored.contains(#""reason":"all-ignored""#))
    }

    @Test func `a refused login is explained in two lines, and an accepted one needs none`() async throws {
        let refusing = ScriptedModule(.refuse(.disabled))
        let report = try await report("ann", (refusing, .requisite, "M"), (ScriptedModule(), .required, "N"))
        let explanation = """
            decided by M (requisite): disabled counts as a failure, and ends the stack
            granted, if M=success N=success
            """
        #expect(
            ReportText.text(report, trace: false, whyNot: true)
                == "refused: ann in realm xtech: disabled (M)\n\(explanation)"
        )
        #expect(ReportText.text(report, trace: true).hasSuffix("\n\(explanation)"))
        #expect(ReportJSON.text(report).contains(#""smallestChange":{"M":"success","N":"success"}"#))
        let accepted = try await self.report("zed", (ScriptedModule(), .required, "M"))
        #expect(ReportText.text(accepted, trace: false, whyNot: true) == ReportText.text(accepted, trace: false))
        #expect(!ReportJSON.text(accepted).contains("smallestChange"))
    }

    @Test func `a login with given answers is reported as a possible one`() async throws {
        let accepted = CheckResult.answers(try await report("zed", (ScriptedModule(), .required, "M")))
        #expect(accepted.status == .accepted)
        var options = try AuthcheckOptions.parse(["--answers", "M=success", "xtech", "zed"])
        #expect(accepted.text(options).hasPrefix("would be accepted: zed in realm xtech\n"))
        options = try AuthcheckOptions.parse(["--answers", "M=success", "--json", "xtech", "zed"])
        #expect(accepted.text(options).contains(#""wouldBeAccepted":true"#))
        #expect(!accepted.text(options).contains(#""accepted""#))
        #expect(!CheckResult.login(try await report()).text(options).contains("wouldBeAccepted"))
        #expect(throws: (any Error).self) {
            try AuthcheckOptions.parse(["--answers", "M=success", "--quiet", "xtech", "zed"])
        }
    }

    @Test func `no report shows the password`() async throws {
        let module = ScriptedModule(
            .run { (attempt) async throws(LoginFault) in
                let password = try await attempt.password()
                throw .internalError("cannot use \(password)")
            }
        )
        let stack = LoginStack(name: "lane", [LoginStack.Entry(module, .required)], clock: ManualClock())
        let conversation = RecordingConversation(password: "lilac")
        let report = await stack.login(
            LoginRequest(realm: "xtech", username: try Username("ann")),
            asking: conversation
        )
        for text in [ReportText.text(report, trace: true), ReportJSON.text(report)] {
            #expect(!text.contains("lilac"))
            #expect(text.contains("cannot use <secret>"))
        }
    }
}
