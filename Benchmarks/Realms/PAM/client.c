// SPDX-License-Identifier: Apache-2.0

// client FOLDER LOGINS PROCESSES: pam_start, pam_authenticate, pam_acct_mgmt and pam_end in a loop, as pamtester does, with the service
// "gatehouse" of a folder. It also finds the user's groups, as id(1) does, because a realm must return them. Processes and not threads,
// because modules need not support threads; a program with threads would also load a module only once.
#define _GNU_SOURCE
#include <grp.h>
#include <pwd.h>
#include <security/pam_appl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *folder;
static int logins;

static int converse(int count, const struct pam_message **messages, struct pam_response **answers, void *context) {
    (void)messages, (void)context;
    *answers = calloc((size_t)count, sizeof **answers);
    for (int i = 0; i < count; i++) (*answers)[i].resp = strdup("lilac");
    return PAM_SUCCESS;
}

/// Finds the names of the user's groups; returns their number, 0 for a user that the system does not have.
static int find_groups(const char *user) {
    static char buffer[65536];
    struct passwd entry, *found;
    if (getpwnam_r(user, &entry, buffer, sizeof buffer, &found) != 0 || !found) return 0;
    static gid_t numbers[1024];
    int count = 1024, names = 0;
    if (getgrouplist(user, entry.pw_gid, numbers, &count) < 0) exit(1);
    for (int i = 0; i < count; i++) {
        struct group group, *named;
        if (getgrgid_r(numbers[i], &group, buffer, sizeof buffer, &named) == 0 && named) names++;
    }
    return names;
}

static void work(void) {
    for (int i = 0; i < logins; i++) {
        struct pam_conv conversation = {converse, NULL};
        pam_handle_t *handle;
        int status = pam_start_confdir("gatehouse", "ann", &conversation, folder, &handle);
        if (status == PAM_SUCCESS) status = pam_set_item(handle, PAM_TTY, "gatehouse");
        if (status == PAM_SUCCESS) status = pam_authenticate(handle, PAM_DISALLOW_NULL_AUTHTOK);
        if (status == PAM_SUCCESS) status = pam_acct_mgmt(handle, PAM_DISALLOW_NULL_AUTHTOK);
        const void *user;
        if (status == PAM_SUCCESS) status = pam_get_item(handle, PAM_USER, &user);
        if (status != PAM_SUCCESS) exit(1);
        find_groups(user);
        pam_end(handle, status);
    }
}

int main(int count, char **arguments) {
    if (count != 4) return 2;
    folder = arguments[1];
    int processes = atoi(arguments[3]);
    logins = atoi(arguments[2]) / processes;
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < processes; i++) {
        pid_t process = fork();
        if (process < 0) return 1;
        if (process == 0) {
            work();
            _exit(0);
        }
    }
    for (int i = 0, status; i < processes; i++) {
        if (wait(&status) < 0 || status != 0) return 1;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%f\n", (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
}
