// SPDX-License-Identifier: Apache-2.0
//
// Threads that sign users in at the same time, and the time that they take.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int users, logins_per_thread;
// The time begins when all connections are open.
static pthread_barrier_t all_are_open;

// Writes the name of the user of a login: the threads begin at different users.
static void user_name(char name[32], void *thread, int login) {
    int place = ((int)(size_t)thread * logins_per_thread + login) % users;
    if (place == 0) strcpy(name, "ann");
    else snprintf(name, 32, "user%d", place);
}

// Runs threads, each with its number, and prints the seconds from the moment at which all connections are open to the end.
static void time_threads(int at_once, void *(*run)(void *)) {
    pthread_t *threads = calloc((size_t)at_once, sizeof *threads);
    struct timespec begin, end;
    pthread_barrier_init(&all_are_open, NULL, (unsigned)at_once + 1);
    for (int number = 0; number < at_once; number++)
        pthread_create(&threads[number], NULL, run, (void *)(size_t)number);
    pthread_barrier_wait(&all_are_open);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int number = 0; number < at_once; number++) pthread_join(threads[number], NULL);
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.6f\n", (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
}
