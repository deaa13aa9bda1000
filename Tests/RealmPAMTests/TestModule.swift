// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestTools

/// A PAM module of the tests, in C; its first argument says what it does.
enum TestModule {
    /// The reason why the tests cannot run; nil if they can.
    static let obstacle: String? = {
        guard FileManager.default.fileExists(atPath: "/usr/include/security/pam_modules.h") else {
            return "needs libpam0g-dev"
        }
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/cc") else { return "needs cc" }
        guard FileManager.default.isExecutableFile(atPath: helper) else { return "needs \(helper)" }
        return nil
    }()

    /// The helper program that was built with the tests.
    static let helper: String = {
        // The tests run in a program of the toolchain; its argument is the path of the built tests.
        let built = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        return URL(fileURLWithPath: built).deletingLastPathComponent().appending(path: "gatehouse-pam-helper").path
    }()

    /// Compiles the module.
    static func compile(into folder: ProgramFolder) throws -> String {
        let path = folder.file("pam_test.so")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/cc")
        process.arguments = ["-shared", "-fPIC", "-o", path, try folder.write(source, to: "pam_test.c")]
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.fileWriteUnknown) }
        return path
    }

    private static let source = #"""
        #define _GNU_SOURCE
        #include <grp.h>
        #include <pwd.h>
        #include <security/pam_modules.h>
        #include <security/pam_ext.h>
        #include <signal.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/prctl.h>
        #include <sys/resource.h>
        #include <sys/socket.h>
        #include <unistd.h>

        static int is(const char *mode, const char *name) { return strcmp(mode, name) == 0; }

        static const char *mode_of(int argc, const char **argv) { return argc > 0 ? argv[0] : ""; }

        static int ask(pam_handle_t *handle, int style, const char *text, char **answer) {
            const struct pam_conv *conv;
            if (pam_get_item(handle, PAM_CONV, (const void **)&conv) != PAM_SUCCESS) return PAM_CONV_ERR;
            struct pam_message message = {style, text};
            const struct pam_message *messages[1] = {&message};
            struct pam_response *response = NULL;
            int status = conv->conv(1, messages, &response, conv->appdata_ptr);
            if (status == PAM_SUCCESS && answer) *answer = response->resp;
            return status;
        }

        static int check(pam_handle_t *handle) {
            const char *user, *password;
            if (pam_get_user(handle, &user, NULL) != PAM_SUCCESS) return PAM_USER_UNKNOWN;
            if (pam_get_authtok(handle, PAM_AUTHTOK, &password, NULL) != PAM_SUCCESS) return PAM_AUTH_ERR;
            if (is(user, "ann")) return is(password, "lilac") ? PAM_SUCCESS : PAM_AUTH_ERR;
            if (is(user, "bob")) return is(password, "basil") ? PAM_SUCCESS : PAM_AUTH_ERR;
            return PAM_USER_UNKNOWN;
        }

        // Sends bytes on each socket of the process, so also to the server.
        static void send_all(const void *bytes, size_t count) {
            for (int i = 3; i < 200; i++) send(i, bytes, count, MSG_NOSIGNAL);
        }

        // A message with the result that root is accepted, for request 0.
        static const char accepted[] = "\36\0\0\0\22\0\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\0\4\0\0\0root\0\0\0\0";

        PAM_EXTERN int pam_sm_authenticate(pam_handle_t *handle, int flags, int argc, const char **argv) {
            const char *mode = mode_of(argc, argv);
            const char *user = "";
            pam_get_user(handle, &user, NULL);
            if (is(mode, "kit")) {
                // The second argument is a folder; a file in it is the fault, and further arguments are users.
                static char file[4096];
                snprintf(file, sizeof file, "%s/fault", argv[1]);
                FILE *fault = fopen(file, "r");
                if (!fault) {
                    char pair[1024];
                    const char *password = NULL;
                    if (pam_get_authtok(handle, PAM_AUTHTOK, &password, NULL) != PAM_SUCCESS) return PAM_AUTH_ERR;
                    snprintf(pair, sizeof pair, "%s=%s", user, password);
                    for (int i = 2; i < argc; i++) {
                        if (is(argv[i], pair)) return PAM_SUCCESS;
                        if (strncmp(argv[i], pair, strlen(user) + 1) == 0) return PAM_AUTH_ERR;
                    }
                    return PAM_USER_UNKNOWN;
                }
                static char name[64];
                if (fscanf(fault, "%63s", name) != 1) abort();
                fclose(fault);
                mode = name;
                snprintf(file, sizeof file, "%s/open/%d", argv[1], (int)getpid());
                if (is(mode, "hang") && (fault = fopen(file, "w"))) fclose(fault);
            }
            if (is(mode, "protected")) {
                struct rlimit core;
                if (getrlimit(RLIMIT_CORE, &core) != 0) return PAM_SYSTEM_ERR;
                printf("%d core %d %d\n", (int)getpid(), (int)core.rlim_cur, (int)core.rlim_max);
                printf("%d dumpable %d\n", (int)getpid(), prctl(PR_GET_DUMPABLE, 0, 0, 0, 0));
                fflush(stdout);
                return PAM_SUCCESS;
            }
            if (is(mode, "crash-some")) mode = strncmp(user, "crash", 5) == 0 ? "crash" : "permit";
            if (is(mode, "permit")) return PAM_SUCCESS;
            if (is(mode, "crash")) { *(volatile int *)8 = 1; }
            if (is(mode, "abort")) abort();
            if (is(mode, "exit")) exit(0);
            if (is(mode, "exit-child")) { if (fork() == 0) return PAM_SUCCESS; exit(0); }
            if (is(mode, "hang")) for (;;) pause();
            if (is(mode, "hang-with-child")) { if (fork() == 0) { prctl(PR_SET_PDEATHSIG, 0); for (;;) pause(); } for (;;) pause(); }
            if (is(mode, "spin")) for (;;) {}
            if (is(mode, "stop")) { raise(SIGSTOP); return PAM_SUCCESS; }
            if (is(mode, "output")) { printf("hello\033 out\n"); fflush(stdout); fprintf(stderr, "hello err\n"); return check(handle); }
            if (is(mode, "print-password")) {
                int status = check(handle);
                const char *password;
                pam_get_item(handle, PAM_AUTHTOK, (const void **)&password);
                printf("the password is %s\n", password);
                fflush(stdout);
                return status;
            }
            if (is(mode, "output-endless")) for (;;) puts("hello");
            if (is(mode, "close")) { for (int i = 3; i < 256; i++) close(i); return PAM_SUCCESS; }
            if (is(mode, "garbage")) { for (int i = 3; i < 256; i++) if (write(i, "\377\377\377\377garbage", 11)) {} return PAM_SUCCESS; }
            if (is(mode, "late-result")) {
                // The child of ann's login sends a result during bob's login, which wakes it by descriptor 200.
                if (is(user, "ann")) {
                    int pipes[2];
                    char byte;
                    if (pipe(pipes) != 0) return PAM_SYSTEM_ERR;
                    if (fork() == 0) {
                        if (read(pipes[0], &byte, 1) == 1) send_all(accepted, sizeof accepted - 1);
                        _exit(0);
                    }
                    return dup2(pipes[1], 200) == 200 ? PAM_SUCCESS : PAM_SYSTEM_ERR;
                }
                if (write(200, "x", 1) != 1) return PAM_SUCCESS;
                sleep(30);
                return PAM_AUTH_ERR;
            }
            if (is(mode, "late-bytes")) {
                FILE *file = fopen(argv[1], "w");
                if (!file) return PAM_SYSTEM_ERR;
                fprintf(file, "%d", (int)getpid());
                fclose(file);
                if (fork() == 0) { usleep(300000); send_all("x", 1); _exit(0); }
                return PAM_SUCCESS;
            }
            if (is(mode, "leak")) { for (;;) { char *block = malloc(1 << 20); if (!block) abort(); memset(block, 1, 1 << 20); } }
            if (is(mode, "signals")) {
                for (int i = 1; i < 65; i++) signal(i, SIG_IGN);
                return check(handle);
            }
            if (is(mode, "signals-seen")) {
                for (int i = 1; i < 32; i++) {
                    struct sigaction action;
                    if (i != SIGKILL && i != SIGSTOP && sigaction(i, NULL, &action) == 0 && action.sa_handler != SIG_DFL) return PAM_SYSTEM_ERR;
                }
                return PAM_SUCCESS;
            }
            if (is(mode, "rename")) { pam_set_item(handle, PAM_USER, argv[1]); return PAM_SUCCESS; }
            if (is(mode, "rename-not-utf8")) { pam_set_item(handle, PAM_USER, "adm\377"); return PAM_SUCCESS; }
            if (is(mode, "rename-long")) {
                char name[9001];
                memset(name, 'a', 9000);
                name[9000] = 0;
                pam_set_item(handle, PAM_USER, name);
                return PAM_SUCCESS;
            }
            if (is(mode, "code")) return atoi(argv[1]);
            if (is(mode, "ask")) {
                for (int i = 0; i < atoi(argv[1]); i++) {
                    char *answer = NULL;
                    int status = ask(handle, PAM_PROMPT_ECHO_ON, "again: ", &answer);
                    if (status != PAM_SUCCESS) return status;
                    free(answer);
                }
                return PAM_SUCCESS;
            }
            if (is(mode, "one-time-code")) {
                int status = check(handle);
                if (status != PAM_SUCCESS) return status;
                char *answer = NULL;
                ask(handle, PAM_TEXT_INFO, "A code was sent.", NULL);
                status = ask(handle, PAM_PROMPT_ECHO_ON, "Verification code: ", &answer);
                if (status != PAM_SUCCESS) return status;
                status = is(answer, "123456") ? PAM_SUCCESS : PAM_AUTH_ERR;
                printf("the code is %s\n", answer);
                fflush(stdout);
                free(answer);
                return status;
            }
            if (is(mode, "seen")) {
                const char *host = NULL, *terminal = NULL, *service = NULL;
                pam_get_item(handle, PAM_RHOST, (const void **)&host);
                pam_get_item(handle, PAM_TTY, (const void **)&terminal);
                pam_get_item(handle, PAM_SERVICE, (const void **)&service);
                printf("seen %s %s %s %s\n", service, user, host ? host : "-", terminal);
                fflush(stdout);
                return PAM_SUCCESS;
            }
            return check(handle);
        }

        PAM_EXTERN int pam_sm_setcred(pam_handle_t *handle, int flags, int argc, const char **argv) { return PAM_SUCCESS; }

        PAM_EXTERN int pam_sm_acct_mgmt(pam_handle_t *handle, int flags, int argc, const char **argv) {
            const char *mode = mode_of(argc, argv);
            if (is(mode, "code")) return atoi(argv[1]);
            if (is(mode, "crash")) abort();
            if (is(mode, "expired")) {
                const char *user = "";
                pam_get_user(handle, &user, NULL);
                return is(user, argv[1]) ? PAM_NEW_AUTHTOK_REQD : PAM_SUCCESS;
            }
            return PAM_SUCCESS;
        }

        PAM_EXTERN int pam_sm_chauthtok(pam_handle_t *handle, int flags, int argc, const char **argv) {
            const char *mode = mode_of(argc, argv);
            if (is(mode, "code")) return atoi(argv[1]);
            if (is(mode, "crash")) abort();
            if (flags & PAM_PRELIM_CHECK) {
                const char *old = NULL;
                if (pam_get_authtok(handle, PAM_OLDAUTHTOK, &old, NULL) != PAM_SUCCESS) return PAM_AUTHTOK_RECOVERY_ERR;
                return is(old, "lilac") ? PAM_SUCCESS : PAM_AUTH_ERR;
            }
            const char *new = NULL;
            // Asks twice.
            int status = pam_get_authtok(handle, PAM_AUTHTOK, &new, NULL);
            if (status != PAM_SUCCESS) return PAM_AUTHTOK_ERR;
            FILE *file = fopen(argv[0], "w");
            if (!file) return PAM_AUTHTOK_ERR;
            fprintf(file, "%s", new);
            fclose(file);
            return PAM_SUCCESS;
        }
        """#
}
