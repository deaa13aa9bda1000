// SPDX-License-Identifier: Apache-2.0
// Gatehouse

// client FOLDER LOGINS THREADS: pam_start, pam_authenticate, pam_acct_mgmt and pam_end in a loop, as pamtester does, with the service
// "gatehouse" of a folder.
#include <pthread.h>
#include <security/pam_appl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *folder;
static int logins;

static int converse(int count, const struct pam_message **messages, struct pam_response **answers, void *context) {
    (void)messages, (void)context;
    *answers = calloc((size_t)count, sizeof **answers);
    for (int i = 0; i < count; i++) (*answers)[i].resp = strdup("lilac");
    return PAM_SUCCESS;
}

static void *work(void *unused) {
    for (int i = 0; i < logins; i++) {
        struct pam_conv conversation = {converse, NULL};
        pam_handle_t *handle;
        int status = pam_start_confdir("gatehouse", "ann", &conversation, folder, &handle);
        if (status == PAM_SUCCESS) status = pam_set_item(handle, PAM_TTY, "gatehouse");
        if (status == PAM_SUCCESS) status = pam_authenticate(handle, PAM_DISALLOW_NULL_AUTHTOK);
        if (status == PAM_SUCCESS) status = pam_acct_mgmt(handle, PAM_DISALLOW_NULL_AUTHTOK);
        if (status != PAM_SUCCESS) exit(1);
        pam_end(handle, status);
    }
    return unused;
}

int main(int count, char **arguments) {
    if (count != 4) return 2;
    folder = arguments[1];
    int threads = atoi(arguments[3]);
    logins = atoi(arguments[2]) / threads;
    struct timespec begin, end;
    pthread_t all[64];
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < threads; i++) pthread_create(&all[i], NULL, work, NULL);
    for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%f\n", (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
}
