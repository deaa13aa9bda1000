// SPDX-License-Identifier: Apache-2.0

// client once|lines HELPER LOGINS THREADS: asks the helper program by fork, execve and a socket pair, or by lines.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *helper;
static int logins, by_lines;

static pid_t start(int *channel, char *const *arguments) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) exit(1);
    pid_t process = fork();
    if (process == 0) {
        dup2(ends[1], 3);
        if (ends[1] == 3) fcntl(3, F_SETFD, 0);
        char *environment[] = {NULL};
        execve(helper, arguments, environment);
        _exit(127);
    }
    close(ends[1]);
    *channel = ends[0];
    return process;
}

static void *work(void *unused) {
    char buffer[256];
    if (by_lines) {
        int channel;
        char *arguments[] = {(char *)helper, "-s", "lines", NULL};
        pid_t process = start(&channel, arguments);
        for (int i = 0; i < logins; i++) {
            int length = snprintf(buffer, sizeof buffer, "%d dGVzdHM= YW5u bGlsYWM= - - cGVvcGxl\n", i);
            if (write(channel, buffer, (size_t)length) != length) exit(1);
            ssize_t size = read(channel, buffer, sizeof buffer - 1);
            if (size <= 0) exit(1);
            buffer[size] = 0;
            if (!strstr(buffer, " authorize\n") || !strstr(buffer, " done\n")) exit(1);
        }
        close(channel);
        waitpid(process, NULL, 0);
        return unused;
    }
    for (int i = 0; i < logins; i++) {
        int channel, status;
        char *arguments[] = {(char *)helper, "-s", "response", "--", "ann", NULL};
        pid_t process = start(&channel, arguments);
        if (write(channel, "\0lilac", 7) != 7) exit(1);
        shutdown(channel, SHUT_WR);
        ssize_t size = read(channel, buffer, sizeof buffer - 1);
        waitpid(process, &status, 0);
        close(channel);
        if (size != 10 || status != 0) exit(1);
    }
    return unused;
}

int main(int count, char **arguments) {
    if (count != 5) return 2;
    by_lines = strcmp(arguments[1], "lines") == 0;
    helper = arguments[2];
    int threads = atoi(arguments[4]);
    logins = atoi(arguments[3]) / threads;
    struct timespec begin, end;
    pthread_t all[64];
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < threads; i++) pthread_create(&all[i], NULL, work, NULL);
    for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%f\n", (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
}
