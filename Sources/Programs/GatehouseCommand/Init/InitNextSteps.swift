// SPDX-License-Identifier: Apache-2.0

/// The next steps after `gatehouse init`: commands for a shell, and notes.
struct InitNextSteps {
    let answers: InitAnswers
    /// True if the applications were added to an earlier configuration.
    var isAddition = false

    var text: String {
        let configuration = ShellWord.quoted(answers.configurationFile)
        var steps: [String] = []
        if case .new = answers.users, answers.user == nil, !isAddition {
            let owner = answers.state == nil ? "" : "      # as the user of the server"
            steps.append("gatehouse user add NAME --config \(configuration)\(owner)")
        }
        steps.append(
            isAddition
                ? "systemctl reload gatehouse      # or send SIGHUP to the server"
                : "gatehouse serve --config \(configuration)"
        )
        var lines = ["", "next: " + steps.joined(separator: "\n      ")]
        if let proxy = answers.proxy {
            let pages = answers.applications.map { "https://\($0.host)\(answers.path)" }
            lines += proxySteps(proxy) + ["then open " + pages.joined(separator: ", ")]
        } else {
            lines.append("then open https://localhost:8443\(answers.path)")
        }
        if let note = InitFiles(answers: answers).otherPaths { lines.append(note) }
        if answers.proxy != nil, !isAddition {
            if answers.signInHost == nil {
                lines.append(
                    "one sign-in for all applications must be chosen now: --sign-in-host NAME, in a new folder"
                )
            }
            let folder = ShellWord.quoted(answers.folder)
            lines.append(
                "a further application: gatehouse init --add --folder \(folder) --host NAME --application ADDRESS"
            )
        }
        return lines.joined(separator: "\n")
    }

    /// The certificates that a proxy needs, the commands that copy its files, and the addresses of the applications.
    ///
    /// The files of a proxy that exist may have other applications, and are not replaced.
    private func proxySteps(_ proxy: ProxyFile.Proxy) -> [String] {
        var commands = InitFiles(answers: answers).proxyFiles.flatMap { path, file in
            let place = ShellWord.quoted(file.place)
            let copy = "[ -e \(place) ] || \(Self.copy(path, to: place))"
            guard isAddition, let first = file.addedLines.split(separator: "\n").first else { return [copy] }
            let lines = file.addedLines.replacing("\n", with: "\\n")
            return [copy, "grep -qxF '\(first)' \(place) || printf '\\n\(lines)' >>\(place)"]
        }
        if !isAddition {
            commands.append(Self.copy("\(answers.stateFolder)/development-authority.pem", to: proxy.authorityFile))
        }
        commands += proxy.reloadCommands
        commands[commands.count - 1] += "      # without systemd: \(proxy.reloadWithoutSystemd)"
        let hosts = answers.applications.map(\.host) + [answers.signInHost].compactMap(\.self)
        return hosts.map { "\(proxy.rawValue) reads the certificate of \($0) from \(proxy.certificateFiles(of: $0))" }
            + ["then, as root (a file that exists is not replaced: add the lines of the new one to it):"]
            + commands.map { "      \($0)" }
            + answers.applications.map { "the application of \($0.host) is expected at \($0.address)" }
    }

    private static func copy(_ path: String, to place: String) -> String {
        "install -D -m 644 \(ShellWord.quoted(path)) \(place)"
    }
}
