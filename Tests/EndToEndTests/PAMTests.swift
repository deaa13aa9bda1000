// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Logins by PAM at the built server and with `authcheck`, both with the helper program that is installed beside them.
@Suite(.enabled(if: PAMService.obstacle == nil, "\(PAMService.obstacle ?? "")"))
struct PAMTests {
    private static let newPassword = "mint and thyme"

    /// A browser with its cookies.
    private struct Browser {
        let server: RunningServer
        let jar: String

        init(_ server: RunningServer) {
            self.server = server
            jar = server.folder.url.appendingPathComponent("\(UUID().uuidString).jar").path
        }

        func get(_ path: String) async throws -> (status: Int, body: String) {
            try await server.request(path, "-b", jar, "-c", jar)
        }

        /// Sends a form, and returns the page after the redirects.
        func post(_ path: String, _ fields: String...) async throws -> (status: Int, body: String) {
            try await server.request(
                path,
                "-L",
                "-b",
                jar,
                "-c",
                jar,
                "-H",
                "Sec-Fetch-Site: same-origin",
                "-H",
                "Accept: text/html",
                "-d",
                fields.joined(separator: "&")
            )
        }

        /// Sends the sign-in form, and returns the page after it.
        func signIn(password: String) async throws -> (status: Int, body: String) {
            let page = try await server.request(
                "/sign-in?return=/welcome",
                "-b",
                jar,
                "-c",
                jar,
                "-H",
                "Accept: text/html"
            )
            let ticket = try #require(Self.input("ticket", of: page.body), "\(page)")
            return try await post("/sign-in", "ticket=\(ticket)", "username=daemon", "password=\(password)")
        }

        /// Answers the question of a page, and returns the page after it.
        func answer(_ page: String, _ answer: String) async throws -> (status: Int, body: String) {
            let number = try #require(Self.input("number", of: page), "\(page)")
            // The number in the name of the field counts messages too.
            let field = try #require(page.firstMatch(of: /name="(answer-[0-9]+)"/), "\(page)").1
            return try await post("/sign-in/step", "number=\(number)", "\(field)=\(answer)")
        }

        func session(_ json: String) async throws -> (status: Int, body: String) {
            try await server.request("/session", "-b", jar, "-c", jar, "--json", json)
        }

        private static func input(_ name: String, of page: String) -> String? {
            guard let start = page.range(of: "name=\"\(name)\" value=\"") else { return nil }
            return page[start.upperBound...].split(separator: "\"", maxSplits: 1).first.map(String.init)
        }
    }

    @Test(.enabled(if: Program.hasCurl, "curl is not installed"))
    func `a one-time code is asked on the second page of the sign-in`() async throws {
        let service = try await PAMService(asksCode: true)
        let server = try await RunningServer(in: service.folder)
        let browser = Browser(server)
        let page = try await browser.signIn(password: "lilac+tree").body
        #expect(page.contains(">Verification code</label>"), "\(page)")
        #expect(page.contains("A code was sent to your telephone."), "\(page)")
        #expect(try await browser.get("/welcome").status == 401)
        let welcome = try await browser.answer(page, PAMService.code)
        #expect(welcome.status == 200, "\(welcome)")
        #expect(try await browser.get("/welcome").status == 200)
        for code in ["111111", ""] {
            let other = Browser(server)
            // The page of the code is shown again twice.
            var answer = try await other.answer(try await other.signIn(password: "lilac+tree").body, code)
            for _ in 0..<2 {
                #expect(answer.body.contains("This code was not accepted."), "\(code): \(answer)")
                answer = try await other.answer(answer.body, code)
            }
            #expect(answer.body.contains("Invalid credentials."), "\(code): \(answer)")
            #expect(try await other.get("/welcome").status == 401)
        }
        // A wrong password is refused before the code.
        #expect(try await Browser(server).signIn(password: "lilac").body.contains("Invalid credentials."))
        // A program with HTTP Basic has no answer to the second prompt.
        #expect(try await server.request("/welcome", "-u", "daemon:\(PAMService.password)").status == 401)
        #expect(!service.helpers.isEmpty)
        #expect(await server.end() == 0)
        #expect(!server.log.contains(PAMService.password) && !server.log.contains(PAMService.code))
        // The helpers end with the server.
        #expect(try await Program.wait { service.helpers.allSatisfy { kill($0, 0) != 0 } })
    }

    @Test(.enabled(if: Program.hasCurl, "curl is not installed"))
    func `a one-time code is a question of the session API`() async throws {
        let server = try await RunningServer(in: try await PAMService(asksCode: true).folder)
        let login = "{\"username\":\"daemon\",\"password\":\"\(PAMService.password)\"}"
        for (code, status) in [("111111", 401), (PAMService.code, 201)] {
            let browser = Browser(server)
            let asked = try await browser.session(login)
            #expect(asked.status == 200)
            #expect(asked.body.contains(#"{"prompt":"Verification code","type":"one-time-code"}"#), "\(asked)")
            let number = try #require(asked.body.firstMatch(of: /"number":([0-9]+)/)).1
            // The first answer belongs to the message.
            let answered = try await browser.session("{\"number\":\(number),\"answers\":[\"\",\"\(code)\"]}")
            #expect(answered.status == status, "\(answered)")
            #expect(try await browser.get("/welcome").status == (status == 201 ? 200 : 401))
        }
        let wrong = try await Browser(server).session("{\"username\":\"daemon\",\"password\":\"wrong\"}")
        #expect(wrong.status == 401)
        #expect(await server.end() == 0)
    }

    @Test func `authcheck asks for a one-time code on the terminal`() async throws {
        let service = try await PAMService(asksCode: true)
        for (code, status) in [(PAMService.code, Int32(0)), ("111111", 1)] {
            let terminal = try service.terminal()
            try await terminal.answer("Password for daemon: ", PAMService.password + "\n")
            try await terminal.answer("Verification code for daemon: ", code + "\n")
            #expect(try await terminal.end() == status, "\(terminal.output)")
            #expect(terminal.output.contains("A code was sent to your telephone."))
            #expect(!(terminal.shown + terminal.output).contains(PAMService.password))
        }
    }

    @Test func `a prompt on the terminal without an answer ends the login in time, and the terminal echoes again`()
        async throws
    {
        let service = try await PAMService(asksCode: true)
        try service.setPromptTimeout("1s")
        for typed in ["", "48"] {
            let terminal = try service.terminal()
            try await terminal.answer("Password for daemon: ", PAMService.password + "\n")
            try await terminal.answer("Verification code for daemon: ", typed)
            #expect(try await terminal.end() == 4, "\(terminal.output)")
            let expected = "refused: daemon in realm system: unavailable (PAMLoginModule: no answer in time)\n"
            #expect(terminal.output.contains(expected), "\(terminal.output)")
            #expect(terminal.echoes)
        }
    }

    @Test(.enabled(if: Program.hasCurl, "curl is not installed"))
    func `a prompt of the sign-in without an answer ends the login as one that the user has left`() async throws {
        let service = try await PAMService(asksCode: true)
        try service.setPromptTimeout("1s")
        let server = try await RunningServer(in: service.folder)
        let browser = Browser(server)
        let page = try await browser.signIn(password: "lilac+tree").body
        #expect(page.contains(">Verification code</label>"), "\(page)")
        // The helper does not wait longer for the user.
        #expect(!service.helpers.isEmpty)
        #expect(try await Program.wait { service.helpers.allSatisfy { kill($0, 0) != 0 } })
        let late = try await browser.answer(page, PAMService.code)
        #expect(late.body.contains("The sign-in page has expired"), "\(late)")
        #expect(try await browser.get("/welcome").status == 401)
        #expect(await server.end() == 0)
    }

    @Test(.enabled(if: Program.hasCurl, "curl is not installed"))
    func `an expired password is changed on the pages of the sign-in`() async throws {
        let service = try await PAMService()
        try service.expirePassword()
        let server = try await RunningServer(in: service.folder)
        // A program with HTTP Basic cannot choose another password.
        #expect(try await server.request("/welcome", "-u", "daemon:\(PAMService.password)").status == 401)
        let wrong = try await Browser(server).signIn(password: "wrong")
        #expect(wrong.body.contains("Invalid credentials."), "\(wrong)")
        #expect(service.storedPassword == PAMService.password)
        let browser = Browser(server)
        let first = try await browser.signIn(password: "lilac+tree").body
        #expect(first.contains(">New password</label>") && first.contains("type=\"password\""), "\(first)")
        let second = try await browser.answer(first, "mint+and+thyme").body
        #expect(second.contains(">Retype new password</label>"), "\(second)")
        #expect(try await browser.answer(second, "mint+and+thyme").status == 200)
        #expect(service.storedPassword == Self.newPassword)
        #expect(try await browser.get("/welcome").status == 200)
        #expect(try await server.request("/welcome", "-u", "daemon:\(Self.newPassword)").status == 200)
        #expect(try await server.request("/welcome", "-u", "daemon:\(PAMService.password)").status == 401)
        #expect(await server.end() == 0)
        #expect(!server.log.contains(PAMService.password) && !server.log.contains(Self.newPassword))
    }

    @Test func `an expired password is changed with authcheck on the terminal`() async throws {
        let service = try await PAMService()
        try service.expirePassword()
        for second in ["mint and time", Self.newPassword] {
            let terminal = try service.terminal()
            try await terminal.answer("Password for daemon: ", PAMService.password + "\n")
            try await terminal.answer("New password for daemon: ", Self.newPassword + "\n")
            try await terminal.answer("Retype new password for daemon: ", second + "\n")
            let isRight = second == Self.newPassword
            #expect(try await terminal.end() == (isRight ? 0 : 1), "\(terminal.output)")
            #expect(service.storedPassword == (isRight ? Self.newPassword : PAMService.password))
            #expect(!(terminal.shown + terminal.output).contains("mint"))
        }
        #expect(try await service.authcheck(password: Self.newPassword).status == 0)
        #expect(try await service.authcheck(password: PAMService.password).status == 1)
    }

    @Test(
        arguments: zip(
            [
                "com.sun.enterprise.security.auth.realm.pam.PamRealm",
                "com.sun.enterprise.security.ee.authentication.glassfish.pam.PamRealm", "PAMRealm",
            ],
            [
                "com.sun.enterprise.security.auth.login.PamLoginModule",
                "com.sun.enterprise.security.ee.authentication.glassfish.pam.PamLoginModule",
                "com.sun.enterprise.security.ee.auth.login.PamLoginModule",
            ]
        )
    )
    func `a realm and a module with the names of GlassFish log users in`(realm: String, module: String) async throws {
        let service = try await PAMService(realmClass: realm, moduleClass: module)
        let right = try await service.authcheck(password: PAMService.password)
        #expect(right.status == 0, "\(right)")
        #expect(right.output.hasPrefix("accepted: daemon in realm system"), "\(right)")
        #expect(try await service.authcheck(password: "wrong").status == 1)
    }

    // The script sends the request back.
    @Test(arguments: ["/bin/true", "/bin/cat", "/bin/sh", "FOLDER/echo.sh"])
    func `a helper that is another program is unavailable, and the log names the cause`(helper: String) async throws {
        let service = try await PAMService()
        let folder = service.folder.url.resolvingSymlinksInPath().path
        let script = try service.folder.write("#!/bin/sh\nexec cat <&3 >&3\n", to: "echo.sh")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: script.path)
        let helper = helper.replacing("FOLDER", with: folder)
        let file = service.folder.url.appendingPathComponent("realms.conf")
        let text = try String(contentsOf: file, encoding: .utf8)
        try service.folder.write(
            text.replacing("timeout 60s;", with: "helper \(helper); timeout 2s;"),
            to: "realms.conf"
        )
        let finished = try await service.authcheck(password: PAMService.password)
        #expect(finished.status == 4, "\(finished)")
        #expect((finished.output + finished.errors).contains("the helper for PAM"), "\(finished)")
        #expect(!(finished.output + finished.errors).contains(PAMService.password))
    }

    @Test func `a program without its helper, and a helper that cannot be started, are errors at load`() async throws {
        let service = try await PAMService()
        let elsewhere = service.folder.url.appendingPathComponent("authcheck")
        try FileManager.default.copyItem(at: Program.built("authcheck"), to: elsewhere)
        let arguments = ["--password-stdin", "system", PAMService.user]
        func message() async throws -> String {
            let finished = try await Program.run(elsewhere, arguments, input: "x\n", in: service.folder.url)
            #expect(finished.status == 3, "\(finished)")
            return finished.output + finished.errors
        }
        #expect(try await message().contains("gatehouse-pam-helper is not installed beside this program"))
        // A file without the right to execute it is no helper.
        let helper = service.folder.url.appendingPathComponent("gatehouse-pam-helper")
        try service.folder.write("", to: "gatehouse-pam-helper")
        #expect(try await message().contains("is not installed beside this program"))
        // A helper that others may write to is not started.
        try FileManager.default.removeItem(at: helper)
        try FileManager.default.copyItem(at: Program.built("gatehouse-pam-helper"), to: helper)
        try FileManager.default.setAttributes([.posixPermissions: 0o775], ofItemAtPath: helper.path)
        #expect(try await message().contains("chmod g-w"))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: helper.path)
        let right = try await Program.run(
            elsewhere,
            arguments,
            input: PAMService.password + "\n",
            in: service.folder.url
        )
        #expect(right.status == 0, "\(right)")
    }

    @Test func `a folder of services to which every user may write is an error`() async throws {
        let service = try await PAMService()
        let folder = service.folder.url
        #expect(try await Program.run(Program.built("gatehouse"), ["check"], in: folder).status == 0)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
        let checked = try await Program.run(Program.built("gatehouse"), ["check"], in: folder)
        #expect(checked.status != 0, "\(checked)")
        #expect(checked.errors.contains("realms.conf:3:40: error: "), "\(checked)")
        #expect(checked.errors.contains("every user of this machine may replace it"), "\(checked)")
    }
}
