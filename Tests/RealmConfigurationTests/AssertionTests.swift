// SPDX-License-Identifier: Apache-2.0

import Testing

/// `assert` statements.
struct AssertionTests {
    private static let realm = """
        login strict { ScriptedLoginModule requisite; DenyLoginModule optional; }
        login loose { ScriptedLoginModule sufficient; PermitLoginModule required; }
        realm strict { class StackRealm; jaas-context strict; }
        realm loose { class StackRealm; jaas-context loose; }
        protect /a { realm strict; require any; }
        protect /a/open { open; networks 10.0.0.0/8; }
        protect app.example.com/b { realm loose; require group admins; methods POST; }

        """

    @Test(
        arguments: [
            ("assert never /a/b without ScriptedLoginModule;", nil),
            ("assert never / without ScriptedLoginModule;", "GET / is allowed without a sign-in"),
            ("assert never /a without ScriptedLoginModule;", "/a/open is allowed without a sign-in"),
            (
                "assert never app.example.com/b without ScriptedLoginModule;",
                "POST https://app.example.com/b is allowed for users of realm loose, if ScriptedLoginModule=wrong"
            ),
            ("assert never app.example.com/b without PermitLoginModule;", "if ScriptedLoginModule=success"),
            ("assert always realm loose while ScriptedLoginModule unavailable;", nil),
            (
                "assert always realm strict while ScriptedLoginModule unavailable;",
                "realm strict refuses every login while ScriptedLoginModule is unavailable"
            ),
            ("assert always realm strict while DenyLoginModule unavailable;", nil),
            ("assert always realm strict while PermitLoginModule unavailable;", "realm strict has no module"),
            ("assert never /a without ScriptedLoginModul;", "did you mean ScriptedLoginModule?"),
            ("assert never /a;", "this is no assertion"),
            ("assert always realm nobody while DenyLoginModule unavailable;", "there is no realm nobody"),
            ("assert never a*b/ without DenyLoginModule;", "is not a host that can be protected"),
        ] as [(String, String?)]
    )
    func `an assertion that does not hold is an error with an example`(text: String, message: String?) {
        let errors = MemoryFolder(Self.realm + text).diagnostics().filter { $0.contains(" error: ") }
        if let message {
            #expect(errors.count == 1 && errors[0].contains(message), "\(errors)")
            #expect(errors.first?.hasPrefix("etc/realms.conf:8:") ?? false, "\(errors)")
        } else {
            #expect(errors == [])
        }
    }

    @Test func `a configuration with another error has no error about an assertion`() {
        let text = Self.realm + "assert never / without ScriptedLoginModule;\nprotect /c { realm none; }"
        #expect(!MemoryFolder(text).diagnostics().contains { $0.contains("assertion") })
    }
}
