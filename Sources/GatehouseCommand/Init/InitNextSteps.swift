// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import ProxyFiles

/// The next steps after `gatehouse init`: commands for a shell, and notes.
struct InitNextSteps {
    let answers: InitAnswers

    var text: String {
        let configuration = ShellWord.quoted(answers.configurationFile)
        var steps: [String] = []
        if answers.users == .new, answers.user == nil {
            let owner = answers.state == nil ? "" : "      # as the user of the server"
            steps.append("gatehouse user add NAME --config \(configuration)\(owner)")
        }
        steps.append("gatehouse serve --config \(configuration)")
        var lines = ["", "next: " + steps.joined(separator: "\n      ")]
        if let proxy = answers.proxy {
            lines += proxySteps(proxy) + ["then open https://\(answers.host)\(answers.path)"]
        } else {
            lines.append("then open https://localhost:8443\(answers.path)")
        }
        if let note = InitFiles(answers: answers).otherPaths { lines.append(note) }
        return lines.joined(separator: "\n")
    }

    /// The commands that copy the files of a proxy, the certificates that it needs, and the address of the application.
    ///
    /// The files of a proxy that exist may have other applications, and are not replaced.
    private func proxySteps(_ proxy: ProxyFile.Proxy) -> [String] {
        let files = InitFiles(answers: answers).proxyFiles(of: proxy)
        let authority = "\(answers.stateFolder)/development-authority.pem"
        func copy(_ path: String, to place: String) -> String {
            "install -D -m 644 \(ShellWord.quoted(path)) \(ShellWord.quoted(place))"
        }
        return ["then, as root (a file that exists is not replaced: add the lines of the new one to it):"]
            + files.map { "      [ -e \(ShellWord.quoted($0.place)) ] || \(copy($0.path, to: $0.place))" }
            + ["      \(copy(authority, to: proxy.authorityFile))", "      \(proxy.reloadCommand)"]
            + [
                "\(proxy.rawValue) reads the certificate of \(answers.host) from \(proxy.certificateFiles(of: answers.host))",
                "the application is expected at \(answers.application)",
            ]
    }
}
