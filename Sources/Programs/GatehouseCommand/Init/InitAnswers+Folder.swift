// SPDX-License-Identifier: Apache-2.0

internal import CommandSupport
internal import Glibc
internal import RealmKit

extension InitAnswers {
    /// Checks that no file of the configuration exists, and that the state folder can be used.
    ///
    /// - Throws: ``CommandError`` with status `failed`.
    func checkFolder() throws(CommandError) {
        do throws(NewFiles.Fault) {
            try NewFiles.check(InitFiles(answers: self).all.map(\.path))
        } catch {
            throw CommandError(.failed, advice(error))
        }
        guard state == nil, NewFiles.exists(stateFolder), !NewFiles.isFolder(stateFolder) else { return }
        throw CommandError(.failed, "\(stateFolder) is not a folder; nothing was written")
    }

    /// Returns a fault of the files with advice.
    func advice(_ fault: NewFiles.Fault) -> String {
        let elsewhere = "or name another folder"
        switch fault {
        case .exists(configurationFile):
            let command = "gatehouse user add NAME --config \(ShellWord.quoted(configurationFile))"
            return """
                \(configurationFile) exists already; nothing was written: add users with \(command), applications with \
                gatehouse init --add, \(elsewhere)
                """
        case .exists(let path): return "\(path) exists already; nothing was written: move it away, \(elsewhere)"
        case .other(let text): return "\(text); nothing was written"
        }
    }

    /// Returns the error for a first user who is in the state folder already.
    func existingUser(_ name: Username) -> CommandError {
        let user = Printable.line(name.text)
        let configuration = ShellWord.quoted(configurationFile)
        return CommandError(
            .failed,
            """
            \(user) is a user already, in \(stateFolder) of an earlier configuration; nothing was written: use another name, or \
            no name and then gatehouse user set-password \(ShellWord.quoted(user)) --config \(configuration)
            """
        )
    }
}
