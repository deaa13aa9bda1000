// SPDX-License-Identifier: Apache-2.0

// Between clone and execve only system calls are made: the child of a program with threads may not use locks, memory
// allocation, or library functions that change all threads.

#define _GNU_SOURCE
#include "helper_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/// The number of signals of the kernel.
#define SIGNALS 64
#define STACK_BYTES (64 * 1024)

struct failure {
    int step;
    int error;
};

struct child {
    const struct gatehouse_spawn_request *request;
    pid_t parent;
    int error_pipe;
    uint64_t open_files;
};

static int limit(int resource, uint64_t value) {
    if (value == 0) return 0;
    struct rlimit current;
    if (getrlimit(resource, &current) != 0) return -1;
    // A limit can only be lowered without rights.
    if (current.rlim_max != RLIM_INFINITY && value > current.rlim_max) value = current.rlim_max;
    struct rlimit wanted = {value, value};
    return setrlimit(resource, &wanted);
}

static int close_on_exec_from(unsigned first, uint64_t open_files) {
    if (syscall(SYS_close_range, first, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return 0;
    // Kernels before 5.11, and sandboxes that do not know the call.
    for (uint64_t number = first; number < open_files; number++) fcntl((int)number, F_SETFD, FD_CLOEXEC);
    return 0;
}

/// Moves the descriptors to their numbers. They are first copied out of the way, as a target may be another's source.
static int place_descriptors(struct child *child) {
    const struct gatehouse_spawn_request *request = child->request;
    int copies[16];
    int count = (int)request->descriptor_count;
    child->error_pipe = fcntl(child->error_pipe, F_DUPFD_CLOEXEC, 32);
    if (child->error_pipe < 0) return -1;
    for (int i = 0; i < count; i++) {
        copies[i] = fcntl(request->descriptors[i], F_DUPFD_CLOEXEC, 32);
        if (copies[i] < 0) return -1;
    }
    for (int i = 0; i < count; i++) {
        if (dup2(copies[i], i) < 0) return -1;
    }
    return close_on_exec_from((unsigned)count, child->open_files);
}

/// Changes the user by plain system calls: the library's functions would change the threads of the parent.
static int change_user(const struct gatehouse_spawn_request *request) {
    if (syscall(SYS_setgroups, request->group_count, request->groups) != 0) return -1;
    if (syscall(SYS_setresgid, request->group, request->group, request->group) != 0) return -1;
    return (int)syscall(SYS_setresuid, request->user, request->user, request->user);
}

static int reset_signals(void) {
    // The kernel's structure of any machine; all zero means SIG_DFL. The library would leave out its own two signals.
    uint64_t action[8] = {0};
    uint64_t none = 0;
    for (int number = 1; number <= SIGNALS; number++) {
        if (number != SIGKILL && number != SIGSTOP) syscall(SYS_rt_sigaction, number, action, NULL, sizeof none);
    }
    return (int)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none);
}

static int prepare_child(struct child *child) {
    const struct gatehouse_spawn_request *request = child->request;
    // A limit of 1 byte also keeps the kernel from piping a core to a program; 0 does not, see core(5).
    struct rlimit no_core = {1, 1};
    if (setsid() < 0) return GATEHOUSE_SPAWN_SESSION;
    if (place_descriptors(child) != 0) return GATEHOUSE_SPAWN_DESCRIPTORS;
    if (setrlimit(RLIMIT_CORE, &no_core) != 0) return GATEHOUSE_SPAWN_LIMITS;
    if (limit(RLIMIT_DATA, request->data_bytes) != 0) return GATEHOUSE_SPAWN_LIMITS;
    if (limit(RLIMIT_NOFILE, request->open_files) != 0) return GATEHOUSE_SPAWN_LIMITS;
    if (request->changes_user && change_user(request) != 0) return GATEHOUSE_SPAWN_USER;
    if (request->no_new_privileges && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return GATEHOUSE_SPAWN_PRIVILEGES;
    // After the change of the user, which would reset it.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return GATEHOUSE_SPAWN_PRIVILEGES;
    // The parent has died before the last call: no signal would come.
    if (getppid() != child->parent) _exit(127);
    if (chdir(request->folder) != 0) return GATEHOUSE_SPAWN_FOLDER;
    if (reset_signals() != 0) return GATEHOUSE_SPAWN_PREPARE;
    execve(request->program, (char *const *)request->arguments, (char *const *)request->environment);
    return GATEHOUSE_SPAWN_EXECUTE;
}

static int run_child(void *context) {
    struct child *child = context;
    struct failure failure = {.step = prepare_child(child)};
    failure.error = errno;
    ssize_t written = write(child->error_pipe, &failure, sizeof failure);
    _exit(written == sizeof failure ? 127 : 126);
}

int gatehouse_spawn(const struct gatehouse_spawn_request *request, struct gatehouse_spawn_result *result) {
    result->process = -1;
    result->descriptor = -1;
    result->failed_step = GATEHOUSE_SPAWN_PREPARE;
    if (request->descriptor_count > 16) return EINVAL;
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0) return errno;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
    void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) {
        int error = errno;
        close(ends[0]);
        close(ends[1]);
        return error;
    }
    struct child child = {
        .request = request,
        .parent = getpid(),
        .error_pipe = ends[1],
        .open_files = files.rlim_cur < 65536 ? files.rlim_cur : 65536,
    };
    // The child shares this program's memory until execve, so its page tables need not be copied. A child that changes
    // its user gets a copy: the other user could otherwise reach this program's memory.
    int flags = SIGCHLD | CLONE_PIDFD;
    if (!request->changes_user) flags |= CLONE_VM | CLONE_VFORK;
    // No handler of this program may run in the child.
    uint64_t all = ~0ULL, before = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
    pid_t process = clone(run_child, (char *)stack + STACK_BYTES, flags, &child, &result->descriptor);
    int error = errno;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
    munmap(stack, STACK_BYTES);
    close(ends[1]);
    if (process < 0) {
        close(ends[0]);
        return error;
    }
    struct failure failure;
    ssize_t count;
    do {
        count = read(ends[0], &failure, sizeof failure);
    } while (count < 0 && errno == EINTR);
    close(ends[0]);
    if (count == 0) {
        result->process = process;
        result->failed_step = GATEHOUSE_SPAWN_NONE;
        return 0;
    }
    int code;
    bool signaled;
    gatehouse_reap(result->descriptor, &code, &signaled);
    close(result->descriptor);
    result->descriptor = -1;
    if (count != sizeof failure) return EIO;
    result->failed_step = (enum gatehouse_spawn_step)failure.step;
    return failure.error;
}

int gatehouse_reap(int descriptor, int *code, bool *signaled) {
    siginfo_t info = {0};
    int status;
    do {
        status = waitid(P_PIDFD, (id_t)descriptor, &info, WEXITED);
    } while (status != 0 && errno == EINTR);
    if (status != 0) return errno;
    *code = info.si_status;
    *signaled = info.si_code != CLD_EXITED;
    return 0;
}

int gatehouse_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int gatehouse_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void gatehouse_protect_memory(void) { prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
