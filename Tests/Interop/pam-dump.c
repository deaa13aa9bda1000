/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs services of PAM with the libpam of this machine, and prints which modules it calls, and its results.
 *
 * No module is loaded: functions of this program stand in for dlopen and dlsym, and each module returns the next code of a
 * list. pam-compare.py compares the output with that of `conformance pam-runs`, which has the same input: a line is the
 * path of a service and lists `auth:CODE,...` or `account:CODE,...`, separated by tabs; the last code is repeated. The
 * answer to each list is a line: for each call a record separator (0x1E), the module as libpam opens it, and a unit separator
 * (0x1F) and the text of each argument; at the end a record separator, `=` and the number of the result.
 *
 *     cc -o pam-dump -rdynamic pam-dump.c -lpam
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <security/pam_appl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <fcntl.h>
#include <unistd.h>

/* The paths of the modules; the address of a module's path is its handle. */
static char *modules[256];
static const char *folder;
static char *codes;

static int call(int module, int argc, const char **argv)
{
    printf("\x1e%s", modules[module]);
    for (int i = 0; i < argc; i++)
        printf("\x1f%s", argv[i]);
    char *end;
    long code = strtol(codes, &end, 10);
    if (*end == ',')
        codes = end + 1;
    return code;
}

/* libpam passes a module nothing that names it, so there is a function for each. */
#define F1(n) static int f##n(void *h, int flags, int argc, const char **argv) { return call(0x##n, argc, argv); }
#define F16(n) F1(n##0) F1(n##1) F1(n##2) F1(n##3) F1(n##4) F1(n##5) F1(n##6) F1(n##7) F1(n##8) F1(n##9) F1(n##A) F1(n##B) \
    F1(n##C) F1(n##D) F1(n##E) F1(n##F)
#define N16(n) f##n##0, f##n##1, f##n##2, f##n##3, f##n##4, f##n##5, f##n##6, f##n##7, f##n##8, f##n##9, f##n##A, f##n##B, \
    f##n##C, f##n##D, f##n##E, f##n##F,
F16(0) F16(1) F16(2) F16(3) F16(4) F16(5) F16(6) F16(7) F16(8) F16(9) F16(A) F16(B) F16(C) F16(D) F16(E) F16(F)
static int (*const functions[256])(void *, int, int, const char **) = {
    N16(0) N16(1) N16(2) N16(3) N16(4) N16(5) N16(6) N16(7) N16(8) N16(9) N16(A) N16(B) N16(C) N16(D) N16(E) N16(F)
};

void *dlopen(const char *path, int flags)
{
    if (strstr(path, "pam_missing") || strstr(path, "nonexistent/"))
        return NULL;
    for (int i = 0; i < 256; i++) {
        if (modules[i] == NULL)
            modules[i] = strdup(path);
        if (strcmp(modules[i], path) == 0)
            return &modules[i];
    }
    fprintf(stderr, "pam-dump: more than 256 modules\n");
    _exit(3);
}

void *dlsym(void *handle, const char *name)
{
    char **module = handle;
    if (strstr(*module, "%N%"))
        return NULL;
    return (void *)functions[module - modules];
}

int dlclose(void *handle) { return 0; }
char *dlerror(void) { return "a module that does not exist"; }

/* libpam 1.5.2 of Debian looks for included files in /etc/pam.d, whatever the folder is. */
FILE *fopen(const char *path, const char *mode)
{
    char moved[4096];
    if (strncmp(path, "/etc/pam.d/", 11) == 0) {
        snprintf(moved, sizeof moved, "%s/%s", folder, path + 11);
        path = moved;
    }
    int file = open(path, O_RDONLY | O_CLOEXEC);
    return file < 0 ? NULL : fdopen(file, mode);
}

/* A kernel without audit, and no messages to the system log. */
int audit_open(void) { errno = EPROTONOSUPPORT; return -1; }
void syslog(int priority, const char *format, ...) {}
void vsyslog(int priority, const char *format, va_list arguments) {}
void __syslog_chk(int priority, int flag, const char *format, ...) {}
void __vsyslog_chk(int priority, int flag, const char *format, va_list arguments) {}

static int converse(int count, const struct pam_message **messages, struct pam_response **answers, void *data)
{
    return PAM_CONV_ERR;
}

static void run(const char *service, char *list)
{
    struct pam_conv conversation = { converse, NULL };
    pam_handle_t *handle = NULL;
    codes = strchr(list, ':') + 1;
    int result = pam_start_confdir(service, "u", &conversation, folder, &handle);
    if (result == PAM_SUCCESS)
        result = list[1] == 'u' ? pam_authenticate(handle, 0) : pam_acct_mgmt(handle, 0);
    else
        printf("\x1epam_start_confdir");
    printf("\x1e=%d\n", result);
    pam_end(handle, result);
}

int main(void)
{
    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, stdin) > 0) {
        line[strcspn(line, "\n")] = 0;
        char *lists = strchr(line, '\t');
        if (lists == NULL)
            return 2;
        *lists++ = 0;
        char *slash = strrchr(line, '/');
        *slash = 0;
        folder = line;
        for (char *list; (list = strsep(&lists, "\t")) != NULL;)
            run(slash + 1, list);
        for (int i = 0; i < 256 && modules[i] != NULL; i++) {
            free(modules[i]);
            modules[i] = NULL;
        }
        fflush(stdout);
    }
    return 0;
}
