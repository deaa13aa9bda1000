// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The executable that was built together with these tests.
private enum BuiltExecutable {
    static let url = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(
        path: "authcheck"
    )
    static var exists: Bool { FileManager.default.isExecutableFile(atPath: url.path()) }
}

/// The output and the exit status of the command, which runs as a separate process.
@Suite(.enabled(if: BuiltExecutable.exists, "the executable authcheck is not beside the tests"))
struct CommandOutputTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder([
            "realms.conf": """
            realm xtech { class StartWithRealm; assign-groups Staff; }
            login xtechMyRealm { org.xtech.examples.gfloginmodule.MyLoginModule required; }
            realm down { class StackRealm; jaas-context down; }
            login down { ScriptedLoginModule optional login="throw:unavailable"; DenyLoginModule required; }
            """,
            "unused.conf": """
            realm xtech { class StartWithRealm; }
            login xtechMyRealm { StartWithLoginModule required; }
            login a { org.example.A required; org.example.B required; }
            """,
            "bad.conf": "realm xtech { class StartWithRaelm; }\n",
        ])
    }

    private struct Result: Equatable {
        var status: Int32
        var output = ""
        var errors = ""
    }

    private func run(_ arguments: String..., config: String = "realms.conf") throws -> Result {
        let process = Process()
        process.executableURL = BuiltExecutable.url
        process.arguments = ["--config", folder.path(config)] + arguments
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let errorText = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return Result(
            status: process.terminationStatus,
            // The times are different in each run.
            output: text.replacing(/[0-9]+ (us|ms|s)\n/, with: "T\n").replacing(/"nanoseconds":[0-9]+/, with: "T")
                .replacingOccurrences(of: folder.path(""), with: ""),
            errors: errorText.replacingOccurrences(of: folder.path(""), with: "")
        )
    }

    @Test func `an accepted user is printed with all principals`() throws {
        let text = "accepted: zed in realm xtech\n  user   zed\n  group  User\n  group  Staff\n"
        #expect(try run("xtech", "zed") == Result(status: 0, output: text))
        #expect(try run("--quiet", "xtech", "zed") == Result(status: 0))
    }

    @Test func `warnings about the configuration are counted in one line`() throws {
        let accepted = try run("xtech", "zed", config: "unused.conf")
        #expect(accepted.errors == "unused.conf: 2 warnings; see gatehouse check --config unused.conf\n")
        #expect(accepted.status == 0 && accepted.output.hasPrefix("accepted: zed"))
        #expect(try run("--quiet", "xtech", "zed", config: "unused.conf") == Result(status: 0))
    }

    @Test func `a refused user is printed with the reason`() throws {
        let text =
            "refused: ann in realm xtech: wrong credentials (org.xtech.examples.gfloginmodule.MyLoginModule)\n"
        #expect(try run("xtech", "ann") == Result(status: 1, output: text))
        #expect(try run("xtech", "ann", "--quiet") == Result(status: 1))
    }

    @Test func `a trace shows every module that was called`() throws {
        let text = """
            refused: ann in realm down: permission denied (DenyLoginModule)

            #  module               control   phase  outcome            action  state      time
            0  ScriptedLoginModule  optional  login  unavailable        ignore  undecided  T
            1  DenyLoginModule      required  login  permission-denied  bad     refusing   T
            0  ScriptedLoginModule  optional  abort  ignored            ignore  refusing   T
            1  DenyLoginModule      required  abort  ignored            ignore  refusing   T
            0 ScriptedLoginModule login: as scripted
            decided by DenyLoginModule (required at realms.conf:4:70): permission-denied counts as a failure
            no answers of the modules grant a login in this stack

            """
        #expect(try run("down", "ann", "--trace") == Result(status: 1, output: text))
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let short = ([lines[0]] + lines.suffix(3)).joined(separator: "\n")
        #expect(try run("down", "ann", "--why-not") == Result(status: 1, output: short))
    }

    @Test func `given answers print the trace of a possible login, and a warning about names that do not exist`() throws
    {
        let result = try run("down", "ann", "--answers", "ScriptedLoginModule=success Other=success")
        #expect(result.status == 1)
        #expect(
            result.output.hasPrefix("would be refused: ann in realm down: permission denied (DenyLoginModule)\n\n#")
        )
        #expect(
            result.output.contains("\n0  ScriptedLoginModule  optional  login  success            ok      granting  T")
        )
        let warning =
            "authcheck: warning: realm down has no module Other; its modules are ScriptedLoginModule, DenyLoginModule\n"
        #expect(result.errors == warning)
        let wrong = try run("down", "ann", "--answers", "DenyLoginModule=success")
        let message = "authcheck: DenyLoginModule=success: the only answer of this module is permission-denied\n"
        #expect(wrong == Result(status: 2, errors: message))
    }

    @Test func `JSON is one object on one line`() throws {
        let step = #""control":"required","index":0,"module":"org.xtech.examples.gfloginmodule.MyLoginModule",T,"#
        let text =
            #"{"accepted":true,"attributes":{},T,"principals":[{"kind":"user","name":"zed"},{"kind":"group","name":"User"},"#
            + #"{"kind":"group","name":"Staff"}],"realm":"xtech","steps":[{"action":"ok","# + step
            + #""outcome":"success","phase":"login","state":"granting"},{"action":"ok","# + step
            + #""outcome":"success","phase":"commit","state":"granting"}],"user":"zed"}"# + "\n"
        #expect(try run("xtech", "zed", "--json") == Result(status: 0, output: text))
    }

    @Test func `errors go to standard error, and standard output stays empty`() throws {
        let realm = "authcheck: there is no realm xteck; there are down, xtech\n    hint: did you mean xtech?\n"
        #expect(try run("xteck", "zed") == Result(status: 3, errors: realm))
        let nasty = try run("x\u{1B}[2J\u{9B}", "zed")
        #expect(nasty.status == 3)
        #expect(
            nasty.errors.unicodeScalars.allSatisfy {
                $0 == "\n" || $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value)
            }
        )
        let user = Result(status: 2, errors: "authcheck: the user name contains a control character\n")
        #expect(try run("xtech", "zed\u{7}") == user)
        let bad = """
            bad.conf:1:21: error: there is no realm class StartWithRaelm
                ... class StartWithRaelm; }
                          ^~~~~~~~~~~~~~
                hint: did you mean StartWithRealm?

            """
        #expect(try run("xtech", "zed", config: "bad.conf") == Result(status: 3, errors: bad))
    }
}
