// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

extension ConformanceRun {
    func hostileInput() async -> [String] {
        var trials: [LoginTrial] = []
        for text in HostileInput.texts + HostileInput.longNames { trials += hostileName(text) }
        for user in test.users.prefix(1) {
            for text in HostileInput.texts {
                // With a wrong password there is little to find here, and the number of logins would be twice as large.
                for name in [user.username + text, text + user.username] { trials += hostileName(name).suffix(1) }
            }
        }
        for user in test.users.prefix(2) {
            for spelling in HostileInput.spellings(of: user.username) { trials += otherSpelling(spelling, of: user) }
            trials += hostileSecrets(user)
        }
        trials += swappedPasswords() + hostileCertificates()
        return await violations(of: trials)
    }

    func randomInput() async -> [String] {
        var random = RandomNumbers(seed: test.seed)
        let trials = (0..<max(0, test.rounds)).flatMap { _ in randomTrials(&random) }
        return await violations(of: trials).map { "with the seed \(test.seed): \($0)" }
    }

    // MARK: Names

    /// Returns trials of a name that is probably of no user, with wrong and right passwords of users.
    private func hostileName(_ text: String) -> [LoginTrial] {
        guard let name = username(text) else { return [] }
        let isKnown = isUser(name)
        guard !(isKnown && test.isPasswordless) else { return [] }
        // With the right password of a user, a name that the realm takes for this user would be accepted.
        let right = isKnown ? nil : test.users.first?.password
        return [wrongPassword(), right].compactMap(\.self).map { password in
            LoginTrial(label: "of the name \(Self.quoted(text))", username: name, password: password)
        }
    }

    private func otherSpelling(_ text: String, of user: RealmBackEndConformance.User) -> [LoginTrial] {
        guard let name = username(text), !isUser(name) else { return [] }
        let label = "of \(Self.quoted(text)), another spelling of \(user.username), with"
        var right = LoginTrial(
            label: "\(label) the right credentials",
            username: name,
            password: user.password,
            certificate: user.certificate
        )
        if test.acceptsOtherSpellings { right.expected = .spelling(user) }
        return [right, LoginTrial(label: "\(label) a wrong password", username: name, password: wrongPassword())]
    }

    private func isUser(_ name: Username) -> Bool {
        if let isUser = test.isUser { return isUser(name) }
        return (test.users + test.rejectedUsers).contains { $0.username.utf8.elementsEqual(name.text.utf8) }
    }

    /// Returns a text for a violation, with at most 60 characters.
    private static func quoted(_ text: String) -> String {
        guard text.count > 60 else { return text.debugDescription }
        return "\(String(text.prefix(60)).debugDescription)... of \(text.utf8.count) bytes"
    }

    // MARK: Secrets

    private func hostileSecrets(_ user: RealmBackEndConformance.User) -> [LoginTrial] {
        guard let right = user.password else { return [] }
        var secrets: [(label: String, secret: [UInt8])] = [("an empty password", [])]
        secrets += HostileInput.bytes.map { ("the bytes \($0.prefix(8))", $0) }
        secrets += HostileInput.bytes.map { ("the bytes \($0.prefix(8)) in a password", Array("a".utf8) + $0 + [0x62]) }
        secrets += HostileInput.texts.map { ("the password \($0.debugDescription)", Array($0.utf8)) }
        for length in HostileInput.lengths {
            secrets.append(("a password of \(length) bytes", Array(repeating: 0x61, count: length)))
        }
        if !right.isEmpty {
            secrets += HostileInput.near(right).map { ("the right password with \($0.label)", $0.secret) }
            for length in [72, 256, 65536] {
                let padding = [UInt8](repeating: 0x61, count: length)
                secrets.append(("the right password and \(length) letters", right + padding))
            }
        }
        return secrets.filter { $0.secret != right }.compactMap { label, secret in
            wrong(user, password: secret, what: label)
        }
    }

    private func swappedPasswords() -> [LoginTrial] {
        let pairs = zip(test.users, test.users.dropFirst() + test.users.prefix(1))
        return pairs.compactMap { user, other in
            guard let password = other.password, password != user.password, user.password != nil else { return nil }
            return wrong(user, password: password, what: "the password of \(other.username)")
        }
    }

    private func hostileCertificates() -> [LoginTrial] {
        var trials: [LoginTrial] = []
        for user in test.users.prefix(2) {
            guard let right = user.certificate, let trial = self.right(user) else { continue }
            var random = RandomNumbers(seed: test.seed)
            let table: [(label: String, certificate: [UInt8])] = [
                ("an empty certificate", []), ("half of the certificate", Array(right.prefix(right.count / 2))),
                ("the certificate without its last byte", Array(right.dropLast())),
                ("a certificate of zero bytes", [UInt8](repeating: 0, count: right.count)),
                ("a certificate of random bytes", random.bytes(right.count)),
                ("a certificate of 64 KiB", [0x30, 0x83, 0, 0xFF, 0xFC] + [UInt8](repeating: 0x30, count: 65532)),
            ]
            for (label, certificate) in table {
                var changed = trial
                changed.label = "of \(user.username) with \(label)"
                (changed.expected, changed.certificate) = (.refused, certificate)
                trials.append(changed)
            }
        }
        return trials
    }

    // MARK: Random trials

    private func randomTrials(_ random: inout RandomNumbers) -> [LoginTrial] {
        guard let user = test.users.randomElement(using: &random) else { return [] }
        if Bool.random(using: &random) {
            var text = random.text(from: HostileInput.texts)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: text = user.username + text
            case 1: text += user.username
            case 2:
                var letters = Array(user.username.unicodeScalars)
                letters.insert(contentsOf: text.unicodeScalars, at: Int.random(in: 0...letters.count, using: &random))
                text = String(String.UnicodeScalarView(letters))
            default: break
            }
            return hostileName(text)
        }
        guard let right = user.password else { return [] }
        let secret = random.secret(near: right)
        guard secret != right else { return [] }
        return [wrong(user, password: secret, what: "the bytes \(secret.prefix(80))")].compactMap(\.self)
    }
}
