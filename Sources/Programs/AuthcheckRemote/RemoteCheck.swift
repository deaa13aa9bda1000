// SPDX-License-Identifier: Apache-2.0

public import AuthcheckCommand
internal import CommandSupport
internal import Files
internal import GatehouseClient
internal import Glibc
internal import HTTPSClient
internal import LoginConf
internal import OpenSSLKit
internal import RealmConfiguration
internal import RealmKit

extension RemoteAuthcheck {
    /// Asks servers over HTTPS; a request takes at most one minute.
    public static let https = RemoteAuthcheck { (request, trust) throws(HTTPSClientError) in
        var configuration = HTTPSClientConfiguration(trust: trust)
        configuration.userAgent = "authcheck"
        configuration.connectTimeout = .seconds(10)
        configuration.timeout = .seconds(60)
        let client = try HTTPSClient(configuration)
        defer { client.close() }
        return try await client.response(to: request)
    }

    init(send: @escaping RemoteCheck.Send) {
        self.init { options, standardInput in
            let server = options.remote.server ?? ""
            guard let url = ServerURL(server) else {
                let message = "authcheck: --server takes a URL such as https://auth.example.com:8443, not \(server)"
                Output.write(Printable.line(message), to: STDERR_FILENO)
                return .usage
            }
            var check = RemoteCheck(options, url: url, standardInput: standardInput, send: send)
            return await check.run()
        }
    }
}

/// `authcheck --server`: a server with a realm API checks the credentials.
struct RemoteCheck {
    /// Sends a request to a server that is trusted; any status is an answer.
    typealias Send = @Sendable (HTTPSRequest, TLSTrust) async throws(HTTPSClientError) -> HTTPSResponse

    /// The end of a run.
    struct Ended: Error {
        let status: ExitStatus
        let message: String

        init(_ status: ExitStatus, _ message: String) { (self.status, self.message) = (status, message) }
    }

    let options: AuthcheckOptions
    let url: ServerURL
    let send: Send
    /// The descriptor for `--password-stdin`; nil to prompt on the terminal.
    private let input: Int32?
    private var token: Secret?
    /// The file of known servers; nil if it was not read.
    private(set) var known: KnownServers?
    /// The entry that `--remember` writes.
    var server: KnownServer

    init(_ options: AuthcheckOptions, url: ServerURL, standardInput: Int32, send: @escaping Send) {
        self.options = options
        self.url = url
        self.send = send
        input = options.passwordStdin ? standardInput : nil
        server = KnownServer(url: url.description)
    }

    mutating func run() async -> ExitStatus {
        do throws(Ended) {
            try readKnownServers()
            if let tokenFile = options.remote.tokenFile { server.tokenFile = Self.absolute(tokenFile) }
            token = try server.tokenFile.map(token)
            let (realms, trust) = try await realms()
            guard !options.remote.list else {
                try remember()
                return list(realms)
            }
            return try await check(among: realms.map(\.name), trust: trust)
        } catch {
            if options.json, error.status == .undecided {
                var report = report(.refused(.unavailable))
                report.error = Printable.line(error.message)
                write(report.json)
            } else {
                Output.write("authcheck: \(Printable.text(error.message))", to: STDERR_FILENO)
            }
            return error.status
        }
    }

    // MARK: Files

    private mutating func readKnownServers() throws(Ended) {
        guard let path = KnownServers.standardPath else {
            if options.remote.remember {
                throw Ended(.configuration, "--remember needs the variable HOME or XDG_CONFIG_HOME")
            }
            return
        }
        let servers = try Result { () throws(KnownServers.Fault) in try KnownServers(file: path) }
            .mapError { Ended(.configuration, "\(path) cannot be used: \($0.reason)") }.get()
        if !options.quiet {
            for line in servers.badLines {
                Output.write("authcheck: \(path):\(line.number): \(line.reason); ignored", to: STDERR_FILENO)
            }
        }
        known = servers
        if let entry = servers.entry(of: url.description) { server = entry.server }
    }

    private func remember() throws(Ended) {
        guard options.remote.remember, let known else { return }
        try Result { () throws(KnownServers.Fault) in try KnownServers.remember(server, in: known.path) }
            .mapError { Ended(.configuration, "\(known.path) cannot be written: \($0.reason)") }.get()
    }

    /// Returns the absolute form of a path, so that a remembered path does not depend on the folder.
    static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = FilePath.current else { return path }
        return "\(folder)/\(path)"
    }

    /// Reads a file, after warnings about what other users of the machine could do to it.
    func bytes(of what: String, _ path: String, as use: FileTrust.Use) throws(Ended) -> [UInt8] {
        if !options.quiet {
            for finding in FileTrust.findings(path, as: use) {
                Output.write("authcheck: warning: \(Printable.line(finding.text))", to: STDERR_FILENO)
            }
        }
        return try ConfigurationFiles.system.read(path)
            .mapError { Ended(.configuration, "\(what) \(path) cannot be read: \($0.reason)") }.get()
    }

    private func token(in path: String) throws(Ended) -> Secret {
        var bytes = try bytes(of: "the token file", path, as: .secret)[...]
        while let last = bytes.last, last == 0x0A || last == 0x0D { bytes.removeLast() }
        guard (1...512).contains(bytes.count), bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Ended(.configuration, "the token file \(path) is not one line of visible ASCII characters")
        }
        return Secret(bytes)
    }

    // MARK: Requests

    /// Sends a request with the token: GET, or POST with a JSON body.
    func response(
        of address: String,
        trust: TLSTrust,
        body: Secret? = nil
    ) async throws(HTTPSClientError) -> HTTPSResponse {
        let request = try RealmAPIRequest.make(address, token: token, body: body)
        return try await send(request, trust)
    }

    func unreachable(_ cause: String) -> Ended {
        Ended(.undecided, "\(url) cannot be asked: \(Printable.line(cause))")
    }

    /// The hint after an answer that is not one of the realm API.
    static let realmAPIHint = "\n    hint: does its configuration have a realm-api block?"

    /// Reads the answer in a response.
    func read<Value>(
        _ response: HTTPSResponse,
        hint: String = "",
        _ read: (RealmAPIResponse) throws(RealmAPIResponse.Fault) -> Value
    ) throws(Ended) -> Value {
        guard response.status == 200 else { throw unexpected(response) }
        do throws(RealmAPIResponse.Fault) {
            return try read(try RealmAPIResponse(response))
        } catch {
            throw Ended(.undecided, "the answer of \(url) cannot be used: \(Printable.line(error.reason))\(hint)")
        }
    }

    private func unexpected(_ response: HTTPSResponse) -> Ended {
        // A line feed of the server must not begin a line that looks like one of this command.
        let reason = RealmAPIResponse.error(in: response).map { ": \(Printable.line($0))" } ?? ""
        switch response.status {
        case 401:
            let hint = server.tokenFile == nil ? "name a token with --token-file FILE" : "the token is wrong"
            return Ended(.configuration, "\(url) does not know this program; \(hint)")
        case 403: return Ended(.configuration, "\(url) does not allow this program to do this\(reason)")
        case 503: return Ended(.undecided, "\(url) cannot decide now\(reason)")
        case let status:
            return Ended(.undecided, "\(url) has answered with status \(status)\(reason)\(Self.realmAPIHint)")
        }
    }

    // MARK: The check

    private mutating func check(among realms: [String], trust: TLSTrust) async throws(Ended) -> ExitStatus {
        guard let realm = options.realm else { throw Ended(.usage, "a realm is missing; --list lists the realms") }
        guard let name = options.user ?? server.user else { throw Ended(.usage, "a user is missing") }
        guard realms.contains(where: { $0.utf8.elementsEqual(realm.utf8) }) else {
            let nearest = NearestName.suggest(realm, among: realms)
            let hint = nearest.map { "\n    hint: did you mean \(Printable.line($0))?" } ?? ""
            throw Ended(.configuration, "\(url) has no realm \(Printable.line(realm)) for this program\(hint)")
        }
        let username = try Result { () throws(BadUsername) in try Username(name) }
            .mapError { Ended(.usage, "\($0)") }.get()
        server.user = name
        try remember()
        guard let (password, codes) = try await secrets(of: username) else {
            return print(report(.refused(.missingCredential)))
        }
        guard
            let body = RealmAPIRequest.body(
                username: username,
                password: password,
                codes: codes,
                service: options.service
            )
        else { return print(report(.refused(.unusableCredential))) }
        let response: HTTPSResponse
        do throws(HTTPSClientError) {
            response = try await self.response(of: url.check(realm), trust: trust, body: body)
        } catch {
            throw unreachable(error.cause)
        }
        return print(try report(of: response))
    }

    /// Returns the result of a check, if the response is a complete answer.
    func report(of response: HTTPSResponse) throws(Ended) -> RemoteReport {
        report(try read(response) { answer throws(RealmAPIResponse.Fault) in try answer.outcome() })
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
