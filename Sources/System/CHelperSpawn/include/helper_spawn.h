// SPDX-License-Identifier: Apache-2.0

#ifndef GATEHOUSE_HELPER_SPAWN_H
#define GATEHOUSE_HELPER_SPAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// A program to start. All memory stays the caller's, and is not changed.
struct gatehouse_spawn_request {
    /// The program to run, its arguments with the name first, and its whole environment; both lists end with NULL.
    const char *program;
    const char *const *arguments;
    const char *const *environment;
    /// The working folder.
    const char *folder;
    /// The descriptors of the child: number i is a copy of descriptors[i]. It has no others.
    const int *descriptors;
    size_t descriptor_count;
    /// Limits; 0 leaves a limit as it is. A core file is never written.
    uint64_t data_bytes;
    uint64_t open_files;
    /// True if the child changes to the user, the group and the groups below.
    bool changes_user;
    uid_t user;
    gid_t group;
    const gid_t *groups;
    size_t group_count;
    /// True if the child and its children can gain no rights by setuid and setgid programs.
    bool no_new_privileges;
};

/// The step that failed.
enum gatehouse_spawn_step {
    GATEHOUSE_SPAWN_NONE,
    GATEHOUSE_SPAWN_PREPARE,
    GATEHOUSE_SPAWN_SESSION,
    GATEHOUSE_SPAWN_DESCRIPTORS,
    GATEHOUSE_SPAWN_LIMITS,
    GATEHOUSE_SPAWN_USER,
    GATEHOUSE_SPAWN_PRIVILEGES,
    GATEHOUSE_SPAWN_FOLDER,
    GATEHOUSE_SPAWN_EXECUTE,
};

/// A started program.
struct gatehouse_spawn_result {
    pid_t process;
    /// A pidfd, closed on exec.
    int descriptor;
    enum gatehouse_spawn_step failed_step;
};

/// Starts a program in a session and process group of its own, with default signal handling.
///
/// The child is killed when the calling thread ends. Returns 0, or an errno.
int gatehouse_spawn(const struct gatehouse_spawn_request *request, struct gatehouse_spawn_result *result);

/// Waits for a child and removes its zombie. Returns 0, or an errno; *status is then not set.
/// *code is the exit status, or the number of the signal that killed it; *signaled tells which.
int gatehouse_reap(int descriptor, int *code, bool *signaled);

/// pipe2 with O_CLOEXEC; Swift's Glibc module has neither of the two functions.
int gatehouse_pipe(int ends[2]);

/// eventfd, closed on exec and not blocking.
int gatehouse_eventfd(void);

/// Denies other processes of the user access to the memory of this one, by PR_SET_DUMPABLE, and core files. exec(2) ends it.
void gatehouse_protect_memory(void);

#endif
