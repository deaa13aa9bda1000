// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A private PAM service with a module in C, and a configuration that uses it.
///
/// Its one user is `daemon`, whom every system has. The module has the password in a file, so that it can be changed.
struct PAMService {
    static let user = "daemon", password = "lilac tree", code = "482915"

    /// The reason why the tests cannot run; nil if they can.
    static let obstacle: String? = {
        guard FileManager.default.fileExists(atPath: "/usr/include/security/pam_modules.h") else {
            return "needs libpam0g-dev"
        }
        return Program.system("cc") == nil ? "needs cc" : nil
    }()

    struct DidNotCompile: Error { let errors: String }

    let folder: TemporaryFolder

    /// Compiles the module, and writes the service and the configuration.
    ///
    /// - Parameters:
    ///   - asksCode: True if the service asks for a one-time code after the password.
    ///   - realmClass: The class of the realm.
    ///   - moduleClass: The class of the login module.
    /// - Throws: ``DidNotCompile``, or an error of the file system.
    init(
        asksCode: Bool = false,
        realmClass: String = "PAMRealm",
        moduleClass: String = "PAMLoginModule"
    ) async throws {
        folder = try TemporaryFolder()
        let path = folder.url.resolvingSymlinksInPath().path
        let source = try folder.write(Self.source, to: "pam_daemon.c")
        let compiled = try await Program.run(
            Program.system("cc") ?? URL(fileURLWithPath: "/usr/bin/cc"),
            ["-shared", "-fPIC", "-o", "\(path)/pam_daemon.so", source.path]
        )
        guard compiled.status == 0 else { throw DidNotCompile(errors: compiled.errors) }
        let lines = ["auth", "account", "password"].map { "\($0) required \(path)/pam_daemon.so \(path)" }
        try folder.write(
            (asksCode ? [lines[0] + " code"] + lines[1...] : lines).joined(separator: "\n") + "\n",
            to: "gatehouse"
        )
        try folder.write(Self.password, to: "password")
        // The helper is not named: it is found beside the program.
        try folder.write(
            """
            default-realm system;
            login pamRealm { \(moduleClass) required; }
            realm system { class \(realmClass); confdir \(path); timeout 60s; }
            server { listen 127.0.0.1:0; throttle { failures 0; delay 0s; } }
            protect /welcome { auth form basic; require group daemon; }
            """,
            to: "realms.conf"
        )
    }

    /// Requires a new password at the next login.
    func expirePassword() throws { try folder.write("", to: "expired") }

    /// Sets the time for the user to answer a prompt.
    func setPromptTimeout(_ time: String) throws {
        let text = text("realms.conf").replacing("timeout 60s;", with: "timeout 60s; prompt-timeout \(time);")
        try folder.write(text, to: "realms.conf")
    }

    /// The password that the module accepts.
    var storedPassword: String { text("password") }

    /// The processes in which the module was called.
    var helpers: Set<pid_t> { Set(text("helpers").split(separator: "\n").compactMap { pid_t($0) }) }

    private func text(_ name: String) -> String {
        let contents = FileManager.default.contents(atPath: folder.url.appendingPathComponent(name).path)
        return String(decoding: contents ?? Data(), as: UTF8.self)
    }

    func authcheck(password: String) async throws -> Finished {
        let arguments = ["--password-stdin", "system", Self.user]
        return try await Program.run(Program.built("authcheck"), arguments, input: password + "\n", in: folder.url)
    }

    func terminal() throws -> PseudoTerminal {
        try PseudoTerminal(Program.built("authcheck"), ["system", Self.user], in: folder.url)
    }

    private static let source = #"""
        #include <security/pam_ext.h>
        #include <security/pam_modules.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>

        static char path[4096];

        static const char *file(const char **argv, const char *name) {
            snprintf(path, sizeof path, "%s/%s", argv[0], name);
            return path;
        }

        static int is_current(const char **argv, const char *password) {
            char current[512] = "";
            FILE *stored = fopen(file(argv, "password"), "r");
            if (!stored) return 0;
            size_t count = fread(current, 1, sizeof current - 1, stored);
            fclose(stored);
            return count > 0 && strcmp(password, current) == 0;
        }

        PAM_EXTERN int pam_sm_authenticate(pam_handle_t *handle, int flags, int argc, const char **argv) {
            const char *user, *password;
            FILE *helpers = fopen(file(argv, "helpers"), "a");
            if (!helpers) return PAM_SYSTEM_ERR;
            fprintf(helpers, "%d\n", (int)getpid());
            fclose(helpers);
            if (pam_get_user(handle, &user, NULL) != PAM_SUCCESS || strcmp(user, "daemon") != 0) return PAM_USER_UNKNOWN;
            if (pam_get_authtok(handle, PAM_AUTHTOK, &password, NULL) != PAM_SUCCESS) return PAM_AUTH_ERR;
            if (!is_current(argv, password)) return PAM_AUTH_ERR;
            if (argc < 2) return PAM_SUCCESS;
            pam_info(handle, "A code was sent to your telephone.");
            char *code = NULL;
            int status = pam_prompt(handle, PAM_PROMPT_ECHO_ON, &code, "Verification code: ");
            if (status != PAM_SUCCESS) return status;
            status = code && strcmp(code, "482915") == 0 ? PAM_SUCCESS : PAM_AUTH_ERR;
            free(code);
            return status;
        }

        PAM_EXTERN int pam_sm_setcred(pam_handle_t *handle, int flags, int argc, const char **argv) { return PAM_SUCCESS; }

        PAM_EXTERN int pam_sm_acct_mgmt(pam_handle_t *handle, int flags, int argc, const char **argv) {
            return access(file(argv, "expired"), F_OK) == 0 ? PAM_NEW_AUTHTOK_REQD : PAM_SUCCESS;
        }

        PAM_EXTERN int pam_sm_chauthtok(pam_handle_t *handle, int flags, int argc, const char **argv) {
            const char *old, *new;
            if (pam_get_authtok(handle, PAM_OLDAUTHTOK, &old, NULL) != PAM_SUCCESS) return PAM_AUTHTOK_RECOVERY_ERR;
            if (!is_current(argv, old)) return PAM_AUTH_ERR;
            if (flags & PAM_PRELIM_CHECK) return PAM_SUCCESS;
            if (pam_get_authtok(handle, PAM_AUTHTOK, &new, NULL) != PAM_SUCCESS) return PAM_AUTHTOK_ERR;
            FILE *stored = fopen(file(argv, "password"), "w");
            if (!stored) return PAM_AUTHTOK_ERR;
            fputs(new, stored);
            fclose(stored);
            return unlink(file(argv, "expired")) == 0 ? PAM_SUCCESS : PAM_AUTHTOK_ERR;
        }
        """#
}
