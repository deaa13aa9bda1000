// SPDX-License-Identifier: Apache-2.0
//
// Sends the requests of a RemoteRealm with libcurl, and prints the seconds that they took.
// Arguments: URL CA-FILE REQUESTS CONNECTIONS. Each connection has a thread, and is kept open.
#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *url, *authorities;
static int requests_per_thread;

static size_t discard(char *bytes, size_t size, size_t count, void *data) {
    (void)bytes;
    (void)data;
    return size * count;
}

static void *run(void *number) {
    CURL *curl = curl_easy_init();
    char password[64];
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_CAINFO, authorities);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, discard);
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(curl, CURLOPT_USERNAME, "ann");
    curl_easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
    for (int request = 0; request < requests_per_thread; request++) {
        long status = 0;
        snprintf(password, sizeof password, "secret %d %d", (int)(size_t)number, request);
        curl_easy_setopt(curl, CURLOPT_PASSWORD, password);
        CURLcode result = curl_easy_perform(curl);
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
        if (result != CURLE_OK || status != 200) {
            fprintf(stderr, "curl: %s, status %ld\n", curl_easy_strerror(result), status);
            exit(1);
        }
    }
    curl_easy_cleanup(curl);
    return NULL;
}

int main(int count, char **arguments) {
    if (count != 5) return 2;
    url = arguments[1];
    authorities = arguments[2];
    int connections = atoi(arguments[4]);
    requests_per_thread = atoi(arguments[3]) / connections;
    pthread_t *threads = calloc((size_t)connections, sizeof *threads);
    struct timespec begin, end;
    curl_global_init(CURL_GLOBAL_ALL);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int number = 0; number < connections; number++)
        pthread_create(&threads[number], NULL, run, (void *)(size_t)number);
    for (int number = 0; number < connections; number++) pthread_join(threads[number], NULL);
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.6f\n", (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
    return 0;
}
