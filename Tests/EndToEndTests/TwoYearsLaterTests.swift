// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Programs that trust a copy of the authority, two years after it was made.
@Suite(.enabled(if: Program.hasCurl && Program.system("cc") != nil, "curl or cc is not installed"))
struct TwoYearsLaterTests {
    private static let configuration = """
        login xtechMyRealm { org.xtech.examples.gfloginmodule.MyLoginModule required; }
        realm xtech { class StartWithRealm; }
        server { listen 127.0.0.1:0; }
        protect / { open; }
        """

    /// A library that moves the clock of a program by two years.
    ///
    /// libfaketime moves the times of timers as well, of which the kernel then refuses some, so that a server hangs.
    private static let library = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <sys/time.h>
        #include <time.h>

        int clock_gettime(clockid_t clock, struct timespec *now) {
            typedef int (*function)(clockid_t, struct timespec *);
            int status = ((function)dlsym(RTLD_NEXT, "clock_gettime"))(clock, now);
            if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) now->tv_sec += 730L * 86400;
            return status;
        }

        int gettimeofday(struct timeval *now, void *zone) {
            struct timespec exact;
            int status = clock_gettime(CLOCK_REALTIME, &exact);
            now->tv_sec = exact.tv_sec;
            now->tv_usec = exact.tv_nsec / 1000;
            return status;
        }

        time_t time(time_t *result) {
            struct timespec now;
            clock_gettime(CLOCK_REALTIME, &now);
            if (result) *result = now.tv_sec;
            return now.tv_sec;
        }

        """

    @Test(arguments: ["development-authority.pem", "development-certificate.pem"])
    func `a copy of the authority is still the right one, and the certificate is a new one`(name: String) async throws {
        let first = try await RunningServer(Self.configuration)
        let folder = first.folder
        let state = folder.url.appendingPathComponent("var")
        let copy = folder.url.appendingPathComponent("copy.pem").path
        try FileManager.default.copyItem(atPath: state.appendingPathComponent(name).path, toPath: copy)
        let certificate = try Data(contentsOf: state.appendingPathComponent("development-certificate.pem"))
        #expect(await first.end() == 0)
        let library = folder.url.appendingPathComponent("later.so").path
        let compiled = try await Program.run(
            try #require(Program.system("cc")),
            ["-shared", "-fPIC", "-o", library, folder.write(Self.library, to: "later.c").path, "-ldl"]
        )
        #expect(compiled.status == 0, "\(compiled)")
        let server = try await RunningServer(in: folder, environment: ["LD_PRELOAD": library])
        #expect(try Data(contentsOf: state.appendingPathComponent("development-certificate.pem")) != certificate)
        let options = ["curl"] + RunningServer.curlOptions + ["--cacert", copy, server.url]
        let env = try #require(Program.system("env"))
        let asked = try await Program.run(env, ["LD_PRELOAD=\(library)"] + options, in: folder.url)
        #expect(asked.status == 0, "\(asked)")
        // Without the library, the new certificate is not valid yet.
        let now = try await Program.run(env, options, in: folder.url)
        #expect(now.status == 60, "\(now)")
        #expect(await server.end() == 0)
    }
}
