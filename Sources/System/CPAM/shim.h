// SPDX-License-Identifier: Apache-2.0

#pragma once
#if !__has_include(<security/pam_appl.h>)
#error "Gatehouse needs libpam: apt-get install libpam0g-dev, or build without it: swift build --disable-default-traits"
#endif
#include <grp.h>
#include <pwd.h>
#include <security/pam_appl.h>
#include <signal.h>
#include <sys/prctl.h>

static inline void gatehouse_pam_no_delay(int status, unsigned microseconds, void *context) {
    (void)status, (void)microseconds, (void)context;
}

// A failed login does not hold up the helper: the server delays and counts failures itself.
static inline int gatehouse_pam_set_no_delay(pam_handle_t *handle) {
    return pam_set_item(handle, PAM_FAIL_DELAY, (const void *)gatehouse_pam_no_delay);
}

// Other processes of the user cannot attach to this one, nor read its memory. The process dies with the server, also if
// it is setgid, for which the kernel has forgotten it. Swift cannot call functions with any number of arguments.
static inline void gatehouse_pam_protect(void) {
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}
