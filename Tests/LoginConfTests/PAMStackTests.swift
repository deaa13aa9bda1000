// SPDX-License-Identifier: Apache-2.0

import LoginConf
import RealmKit
import Testing

/// Tests how stacks are made of the files of a folder.
@Suite struct PAMStackTests {
    private typealias Fault = Expansion.UnreadableFile

    private func resolver(_ files: [String: String]) -> PAMResolver {
        PAMResolver { name throws(Expansion.UnreadableFile) in
            guard let text = files[name] else { throw Fault("there is no such file", isMissing: true) }
            guard text != "FOLDER" else { throw Fault("it is a directory") }
            return SourceText(name: "pam.d/\(name)", text, names: PAMFile.names)
        }
    }

    private func stack(_ files: [String: String], _ type: PAMType = .auth) throws -> PAMStack {
        var resolver = resolver(files)
        return try resolver.stack(type, of: "svc").get()
    }

    private func errors(_ files: [String: String], _ type: PAMType = .auth) -> [String] {
        var resolver = resolver(files)
        return resolver.stack(type, of: "svc").diagnostics.map { "\($0.file):\(Mistake.summary($0))" }
    }

    private func shown(_ stack: PAMStack) -> [String] {
        stack.entries.map { entry in
            switch entry.line.target {
            case .module(let module, let control): "\(entry.level) \(control.text) \(module.name) \(entry.place)"
            case .substack(let name), .include(let name): "\(entry.level) substack \(name) \(entry.place)"
            }
        }
    }

    @Test
    func `included lines of the type stand at the place of the include, and those of a substack one level deeper`()
        throws
    {
        let stack = try stack([
            "svc":
                "auth required pam_a.so\n@include inc\nauth substack sub\nauth include inc\naccount required pam_x.so",
            "inc": "auth sufficient pam_b.so\naccount required pam_y.so\n",
            "sub": "-auth [default=die] /lib/pam_c.so\nauth substack inc\n",
        ])
        #expect(
            shown(stack) == [
                "0 required pam_a pam.d/svc:1:15",
                "0 sufficient pam_b pam.d/inc:1:17",
                "0 substack sub pam.d/svc:3:15",
                "1 [default=die] pam_c pam.d/sub:1:21",
                "1 substack inc pam.d/sub:2:15",
                "2 sufficient pam_b pam.d/inc:1:17",
                "0 sufficient pam_b pam.d/inc:1:17",
            ]
        )
        #expect(stack.entries.map(\.line.isSilent) == [false, false, false, true, false, false, false])
        #expect(stack.files == ["pam.d/svc", "pam.d/inc", "pam.d/sub"])
    }

    @Test func `other stands for a service that has no lines of the type`() throws {
        let files = ["svc": "auth required pam_a.so", "other": "auth required pam_o.so\naccount required pam_p.so"]
        #expect(try shown(stack(files)) == ["0 required pam_a pam.d/svc:1:15"])
        #expect(try shown(stack(files, .account)) == ["0 required pam_p pam.d/other:2:18"])
        #expect(try stack(files, .account).isOther)
        #expect(try stack(files, .session).entries.isEmpty)
        #expect(try shown(stack(["other": "auth required pam_o.so"])) == ["0 required pam_o pam.d/other:1:15"])
    }

    @Test func `a pam conf has the lines of all services, and includes files of a folder`() throws {
        let conf = SourceText(name: "pam.conf", "svc auth include inc\nother account required pam_deny.so\n")
        var resolver = PAMResolver(conf: conf) { name in SourceText(name: name, "auth required pam_unix.so") }
        let auth = try resolver.stack(.auth, of: "svc").get()
        #expect(shown(auth) == ["0 required pam_unix inc:1:15"])
        let account = try resolver.stack(.account, of: "SVC").get()
        #expect(shown(account) == ["0 required pam_deny pam.conf:2:24"])
    }

    @Test func `files that cannot be read, and loops, have one error with the chain`() {
        #expect(errors([:]) == ["svc:1:1+0 PAM has no service `svc`, and no service `other`"])
        #expect(errors(["svc": "FOLDER"]) == ["svc:1:1+0 the service cannot be read: it is a directory"])
        #expect(
            errors(["svc": "auth include nope\nauth include nope\n"])
                == ["pam.d/svc:1:14+4 `nope` cannot be read: there is no such file"]
        )
        #expect(
            errors(["svc": "auth substack a\n", "a": "auth include b", "b": "@include a\n@include a"]) == [
                "pam.d/b:1:10+1 the files include each other without end"
                    + " | pam.d/svc includes pam.d/a includes pam.d/b includes pam.d/a"
            ]
        )
        #expect(errors(["svc": "auth include a", "a": "account include a\nauth required pam_a.so"]).isEmpty)
        #expect(errors(["svc": "auth required pam_a.so", "other": "x"]).count == 1)
    }

    @Test func `sixteen files may be nested, and a stack has at most a thousand entries`() throws {
        var files = ["svc": "auth include s1"]
        for number in 1...14 { files["s\(number)"] = "auth include s\(number + 1)" }
        files["s15"] = "auth required pam_a.so"
        #expect(try stack(files).entries.count == 1)
        files["s15"] = "auth include s16"
        files["s16"] = "auth required pam_a.so"
        #expect(errors(files).first?.hasPrefix("pam.d/s15:1:14+3 more than 16 files are nested | pam.d/svc") == true)
        for number in 1...14 { files["s\(number)"] = "auth include s\(number + 1)\nauth include s\(number + 1)" }
        for last in ["auth required pam_a.so", "account required pam_a.so"] {
            files["s15"] = last
            let found = errors(files)
            #expect(found.count == 1 && found[0].contains("the stack has more than 1000 entries"))
        }
    }
}
