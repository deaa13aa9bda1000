// SPDX-License-Identifier: Apache-2.0

internal import CommandSupport
internal import Files
internal import Glibc
internal import LoginConf
internal import RealmConfiguration
internal import RealmKit

struct RemoteCheck {
    /// The end of a run.
    struct Ended: Error {
        let status: ExitStatus
        let message: String

        init(_ status: ExitStatus, _ message: String) { (self.status, self.message) = (status, message) }
    }

    let options: AuthcheckOptions
    let url: ServerURL
    let transport: RemoteTransport
    /// The descriptor for `--password-stdin`; nil to prompt on the terminal.
    let input: Int32?
    /// The file of known servers; nil if it was not read.
    private(set) var known: KnownServers?
    /// The entry that `--remember` writes.
    var server: KnownServer

    init(_ options: AuthcheckOptions, url: ServerURL, transport: RemoteTransport, standardInput: Int32) {
        self.options = options
        self.url = url
        self.transport = transport
        input = options.passwordStdin ? standardInput : nil
        server = KnownServer(url: url.description)
    }

    mutating func run() async -> ExitStatus {
        do throws(Ended) {
            try readKnownServers()
            if let tokenFile = options.remote.tokenFile { server.tokenFile = Self.absolute(tokenFile) }
            let token = try server.tokenFile.map { path throws(Ended) in try self.token(in: path) }
            let (realms, trust) = try await realms(token: token)
            guard !options.remote.list else {
                try remember()
                return list(realms)
            }
            return try await check(among: realms, token: token, trust: trust)
        } catch {
            if options.json, error.status == .undecided {
                var (report, _) = refused(.unavailable)
                report.error = Printable.line(error.message)
                write(report.json)
            } else {
                Output.write("authcheck: \(Printable.text(error.message))", to: STDERR_FILENO)
            }
            return error.status
        }
    }

    // MARK: Known servers

    private mutating func readKnownServers() throws(Ended) {
        guard let path = KnownServersFile.path else {
            if options.remote.remember {
                throw Ended(.configuration, "--remember needs the variable HOME or XDG_CONFIG_HOME")
            }
            return
        }
        let servers = try Result { () throws(KnownServersFile.Fault) in try KnownServersFile.read(path) }
            .mapError { Ended(.configuration, "\(path) cannot be used: \($0.reason)") }.get()
        if !options.quiet {
            for line in servers.badLines {
                Output.write("authcheck: \(path):\(line.number): \(line.reason); ignored", to: STDERR_FILENO)
            }
        }
        known = servers
        if let entry = servers.entry(of: url.description) { server = entry.server }
    }

    private mutating func remember() throws(Ended) {
        guard options.remote.remember, let known else { return }
        try Result { () throws(KnownServersFile.Fault) in try KnownServersFile.remember(server, in: known.path) }
            .mapError { Ended(.configuration, "\(known.path) cannot be written: \($0.reason)") }.get()
    }

    /// Returns the absolute form of a path, so that a remembered path does not depend on the folder.
    static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/") else { return path }
        guard let folder = FilePath.current else { return path }
        return "\(folder)/\(path)"
    }

    /// Warns about what other users of the machine could do to a file.
    func warn(about path: String, as use: FileTrust.Use) {
        guard !options.quiet else { return }
        for finding in FileTrust.findings(path, as: use) {
            Output.write("authcheck: warning: \(Printable.line(finding.text))", to: STDERR_FILENO)
        }
    }

    private func token(in path: String) throws(Ended) -> Secret {
        warn(about: path, as: .secret)
        let contents = try ConfigurationFiles.system.read(path)
            .mapError { Ended(.configuration, "the token file \(path) cannot be read: \($0.reason)") }.get()
        var bytes = contents.bytes[...]
        while let last = bytes.last, last == 0x0A || last == 0x0D { bytes.removeLast() }
        guard (1...512).contains(bytes.count), bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Ended(.configuration, "the token file \(path) is not one line of visible ASCII characters")
        }
        return Secret(bytes)
    }

    // MARK: Requests

    func send(
        _ url: String,
        trust: RemoteTransport.Trust,
        token: Secret?,
        body: Secret? = nil
    ) async throws(Ended) -> RemoteTransport.Response {
        do throws(RemoteTransport.Fault) {
            return try await transport.send(RemoteTransport.Request(url: url, trust: trust, token: token, body: body))
        } catch {
            throw unreachable(error)
        }
    }

    func unreachable(_ fault: RemoteTransport.Fault) -> Ended {
        Ended(.undecided, "\(url) cannot be asked: \(Printable.line(fault.cause))")
    }

    func unusable(_ fault: RealmAPIAnswer.Fault) -> Ended {
        Ended(.undecided, "the answer of \(url) cannot be used: \(Printable.line(fault.reason))")
    }

    /// The hint after an answer that is not one of the realm API.
    static let realmAPIHint = "    hint: does its configuration have a realm-api block?"

    func unexpected(_ response: RemoteTransport.Response) -> Ended {
        let failure = RealmAPIAnswer.Failure(response)
        let texts = failure.map { [$0.error, $0.reason].compactMap(\.self).joined(separator: ", ") }
        // A line feed of the server must not begin a line that looks like one of this command.
        let reason = texts.map { ": \(Printable.line($0))" } ?? ""
        switch response.status {
        case 401:
            let hint = server.tokenFile == nil ? "name a token with --token-file FILE" : "the token is wrong"
            return Ended(.configuration, "\(url) does not know this program; \(hint)")
        case 403:
            return Ended(.configuration, "\(url) does not allow this program to do this\(reason)")
        case 503: return Ended(.undecided, "\(url) cannot decide now\(reason)")
        default:
            return Ended(
                .undecided,
                "\(url) has answered with status \(response.status)\(reason)\n\(Self.realmAPIHint)"
            )
        }
    }

    // MARK: The check

    private mutating func check(
        among realms: RealmAPIAnswer.Realms,
        token: Secret?,
        trust: RemoteTransport.Trust
    ) async throws(Ended) -> ExitStatus {
        guard let realm = options.realm else { throw Ended(.usage, "a realm is missing; --list lists the realms") }
        guard let name = options.user ?? server.user else { throw Ended(.usage, "a user is missing") }
        let names = realms.realms.map(\.name)
        guard names.contains(where: { $0.utf8.elementsEqual(realm.utf8) }) else {
            let nearest =
                NearestName.suggest(realm, among: names).map {
                    "\n    hint: did you mean \(Printable.line($0))?"
                } ?? ""
            throw Ended(.configuration, "\(url) has no realm \(Printable.line(realm)) for this program\(nearest)")
        }
        let username = try Result { () throws(BadUsername) in try Username(name) }
            .mapError { Ended(.usage, "\($0)") }.get()
        server.user = name
        try remember()
        guard let (password, codes) = try await secrets(of: username) else { return print(refused(.missingCredential)) }
        guard
            let body = CheckBody.make(username: username, password: password, codes: codes, service: options.service)
        else { return print(refused(.unusableCredential)) }
        return print(try result(of: try await send(url.check(realm), trust: trust, token: token, body: body)))
    }

    /// Returns the result of a check, if the response is a complete answer.
    func result(of response: RemoteTransport.Response) throws(Ended) -> (RemoteReportJSON, ExitStatus) {
        guard response.status == 200 else { throw unexpected(response) }
        let outcome = try Result { () throws(RealmAPIAnswer.Fault) in try RealmAPIAnswer.Outcome(response) }
            .mapError(unusable).get()
        switch outcome {
        case .accepted(let user, let principals, let attributes):
            var report = report(isAccepted: true)
            report.user = user.text
            report.principals = principals
            report.attributes = attributes
            return (report, .accepted)
        case .refused(let failure): return refused(failure)
        }
    }

    private func refused(_ failure: LoginFailure) -> (RemoteReportJSON, ExitStatus) {
        var report = report(isAccepted: false)
        report.reason = failure.code
        return (report, ExitStatus(failure))
    }

    /// Reads the password and, with `--code` or a second line of standard input, a code; nil without a password.
    private func secrets(of username: Username) async throws(Ended) -> (Secret, [Secret])? {
        let conversation = TerminalConversation(username, input: input)
        do throws(LoginFault) {
            guard case .secret(let password) = try await conversation.answer([.password(prompt: "Password")])[0] else {
                return nil
            }
            guard options.remote.code || input != nil else { return (password, []) }
            guard case .secret(let code) = try await conversation.answer([.oneTimeCode(prompt: "One-time code")])[0]
            else { return (password, []) }
            return (password, [code])
        } catch {
            throw Ended(.undecided, error.log)
        }
    }
}
