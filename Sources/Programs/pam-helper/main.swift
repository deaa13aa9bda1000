// SPDX-License-Identifier: Apache-2.0

// The program in which libpam and its modules run. The server starts it, sends requests on descriptor 3, and replaces it
// when it crashes, hangs or has answered enough requests.

internal import GatehouseVersion
internal import Glibc

#if PAM
internal import CPAM
#endif

if Array(CommandLine.arguments.dropFirst()) == ["--version"] {
    print(BuildVersion.line("gatehouse-pam-helper"))
    exit(0)
}

#if PAM
gatehouse_pam_protect()
do throws(ChannelFault) {
    let channel = try HelperChannel()
    while let request = try channel.receive() {
        HelperState.reset()
        try HelperRequest(request, channel: channel).answer()
        HelperState.exitIfChanged()
    }
} catch {
    exit(error.report())
}
#else
exit(ChannelFault.usage("this helper is built without PAM; build it with the trait PAM").report())
#endif
