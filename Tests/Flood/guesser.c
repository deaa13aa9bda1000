// SPDX-License-Identifier: Apache-2.0
//
// The client of `make flood`: one thread that guesses passwords over many TLS connections at once.
//
//   guesser PORT CONNECTIONS SOURCES KNOWN
//
// Opens the connections, each from one of SOURCES addresses (127.0.0.2 and up), prints "ready" and reads commands:
//
//   flood SECONDS   guesses for this time, on each connection as soon as the last guess is answered; then prints the answers
//                   and the number of guesses without an answer
//   drain SECONDS   waits for the missing answers and prints the same
//
// An unknown command, or the end of the input, ends the program. Results are lines of JSON. One third of the guesses is for KNOWN existing
// accounts (known0 and up), one third for names that do not exist, new each time, and one third for 50 other names that do not exist. No
// password is used twice, because the server computes identical checks once.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_BYTES = 16384, STATUSES = 600, PATIENCE_SECONDS = 30, BINS = 70000 };

enum phase { CONNECTING, SHAKING, IDLE, ANSWERING, GONE };

struct slot {
    enum phase phase;
    int descriptor;
    SSL *ssl;
    double asked;
    size_t received;
    char answer[ANSWER_BYTES];
};

static struct {
    SSL_CTX *context;
    struct sockaddr_in server;
    int poll, known, sources;
    struct slot *slots;
    long count, begun, ready, asking, guesses;
    double until;
    // Counters since the last result.
    long status[STATUSES], with_retry, without_retry, broken, lost, bins[BINS];
    char why[128];
} run;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void die(const char *what) {
    fprintf(stderr, "guesser: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void lose(struct slot *slot, const char *what) {
    unsigned long error = ERR_get_error();
    const char *reason = error ? ERR_reason_error_string(error) : strerror(errno);
    if (run.lost++ == 0) snprintf(run.why, sizeof run.why, "%s: %s", what, reason ? reason : "closed");
    ERR_clear_error();
    if (slot->phase == ANSWERING) run.asking--;
    if (slot->ssl) SSL_free(slot->ssl);
    close(slot->descriptor);
    slot->ssl = NULL;
    slot->phase = GONE;
}

static void connect_slot(struct slot *slot) {
    slot->descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (slot->descriptor < 0) die("socket");
    int one = 1;
    setsockopt(slot->descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct sockaddr_in from = {.sin_family = AF_INET};
    from.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 + (in_addr_t)((slot - run.slots) % run.sources));
    if (bind(slot->descriptor, (struct sockaddr *)&from, sizeof from) != 0) die("bind");
    slot->phase = CONNECTING;
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = slot};
    if (epoll_ctl(run.poll, EPOLL_CTL_ADD, slot->descriptor, &event) != 0) die("epoll_ctl");
    if (connect(slot->descriptor, (struct sockaddr *)&run.server, sizeof run.server) != 0 && errno != EINPROGRESS)
        die("connect");
}

static void guess(struct slot *slot) {
    long number = run.guesses++;
    char name[64], credentials[160], encoded[256], request[512];
    switch (number % 3) {
    case 0: snprintf(name, sizeof name, "known%ld", number / 3 % run.known); break;
    case 1: snprintf(name, sizeof name, "nobody-%d-%ld", getpid(), number); break;
    default: snprintf(name, sizeof name, "unknown%ld", number / 3 % 50); break;
    }
    int length = snprintf(credentials, sizeof credentials, "%s:wrong-%d-%ld", name, getpid(), number);
    EVP_EncodeBlock((unsigned char *)encoded, (unsigned char *)credentials, length);
    length = snprintf(request, sizeof request,
                      "GET /welcome HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic %s\r\n\r\n", encoded);
    // The buffers are empty and longer than a request, so one write sends it completely.
    if (SSL_write(slot->ssl, request, length) != length) return lose(slot, "request");
    slot->phase = ANSWERING;
    slot->received = 0;
    slot->asked = now();
    run.asking++;
}

// Counts an answer if it is complete.
static bool is_answered(struct slot *slot) {
    slot->answer[slot->received] = 0;
    char *end = strstr(slot->answer, "\r\n\r\n");
    if (end == NULL) return false;
    char *length = strcasestr(slot->answer, "\r\ncontent-length:");
    size_t body = length != NULL && length < end ? strtoul(length + 17, NULL, 10) : 0;
    if (slot->received < (size_t)(end + 4 - slot->answer) + body) return false;
    long status = strncmp(slot->answer, "HTTP/1.1 ", 9) == 0 ? strtol(slot->answer + 9, NULL, 10) : 0;
    if (status < 100 || status >= STATUSES) run.broken++;
    else run.status[status]++;
    char *retry = strcasestr(slot->answer, "\r\nretry-after:");
    if (status == 503) {
        if (retry != NULL && retry < end && strtol(retry + 14, NULL, 10) > 0) run.with_retry++;
        else run.without_retry++;
    }
    long milliseconds = (long)((now() - slot->asked) * 1000);
    run.bins[milliseconds < BINS ? milliseconds : BINS - 1]++;
    return true;
}

static void proceed(struct slot *slot) {
    for (;;) {
        ERR_clear_error();
        errno = 0;
        switch (slot->phase) {
        case GONE: return;
        case CONNECTING: {
            int error = 0;
            socklen_t size = sizeof error;
            getsockopt(slot->descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
            if (error != 0) {
                errno = error;
                return lose(slot, "connect");
            }
            struct sockaddr_in peer;
            size = sizeof peer;
            if (getpeername(slot->descriptor, (struct sockaddr *)&peer, &size) != 0) return;
            slot->ssl = SSL_new(run.context);
            if (slot->ssl == NULL || SSL_set_fd(slot->ssl, slot->descriptor) != 1) die("SSL_new");
            SSL_set_connect_state(slot->ssl);
            slot->phase = SHAKING;
            break;
        }
        case SHAKING: {
            int result = SSL_do_handshake(slot->ssl);
            if (result != 1) {
                int error = SSL_get_error(slot->ssl, result);
                if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return;
                return lose(slot, "handshake");
            }
            slot->phase = IDLE;
            run.ready++;
            break;
        }
        case IDLE:
        case ANSWERING: {
            size_t left = ANSWER_BYTES - 1 - slot->received;
            // Without an open request, only tickets and the end of the connection can arrive.
            int result = left == 0 ? 0 : SSL_read(slot->ssl, slot->answer + slot->received, (int)left);
            if (result <= 0) {
                int error = left == 0 ? SSL_ERROR_SSL : SSL_get_error(slot->ssl, result);
                if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return;
                return lose(slot, slot->phase == IDLE ? "between guesses" : "answer");
            }
            if (slot->phase == IDLE) return lose(slot, "an answer to nothing");
            slot->received += (size_t)result;
            if (!is_answered(slot)) break;
            run.asking--;
            slot->phase = IDLE;
            slot->received = 0;
            if (now() < run.until) guess(slot);
            break;
        }
        }
    }
}

static void step(void) {
    struct epoll_event events[256];
    int number = epoll_wait(run.poll, events, 256, 20);
    for (int i = 0; i < number; i++) proceed(events[i].data.ptr);
}

static double percentile(long total, double part) {
    long seen = 0;
    for (long i = 0; i < BINS; i++) {
        seen += run.bins[i];
        if (seen > 0 && (double)seen >= part * (double)total) return (double)i / 1000;
    }
    return 0;
}

static void tell(double began) {
    long answered = 0;
    printf("{\"statuses\": {");
    for (int i = 0; i < STATUSES; i++) {
        if (run.status[i] == 0) continue;
        printf("%s\"%d\": %ld", answered ? ", " : "", i, run.status[i]);
        answered += run.status[i];
    }
    for (char *c = run.why; *c; c++)
        if (*c == '"' || *c == '\\') *c = ' ';
    printf("}, \"answered\": %ld, \"with_retry\": %ld, \"without_retry\": %ld, \"broken\": %ld, \"lost\": %ld, "
           "\"why\": \"%s\", \"pending\": %ld, \"median\": %.3f, \"p99\": %.3f, \"longest\": %.3f, \"seconds\": %.3f}\n",
           answered, run.with_retry, run.without_retry, run.broken, run.lost, run.why, run.asking,
           percentile(answered, 0.5), percentile(answered, 0.99), percentile(answered, 1), now() - began);
    fflush(stdout);
    memset(run.status, 0, sizeof run.status);
    memset(run.bins, 0, sizeof run.bins);
    run.with_retry = run.without_retry = run.broken = run.lost = 0;
    run.why[0] = 0;
}

static void flood(double seconds) {
    double began = now();
    run.until = began + seconds;
    for (long i = 0; i < run.count; i++)
        if (run.slots[i].phase == IDLE) guess(&run.slots[i]);
    while (now() < run.until) step();
    tell(began);
}

static void drain(double seconds) {
    double began = now();
    run.until = 0;
    while (run.asking > 0 && now() < began + seconds) step();
    tell(began);
}

int main(int count, char **words) {
    if (count != 5) {
        fprintf(stderr, "guesser PORT CONNECTIONS SOURCES KNOWN\n");
        return 2;
    }
    run.count = atol(words[2]);
    run.sources = atoi(words[3]);
    run.known = atoi(words[4]);
    if (run.count < 1 || run.sources < 1 || run.known < 1) return 2;
    run.server = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((in_port_t)atoi(words[1]))};
    run.server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    run.poll = epoll_create1(EPOLL_CLOEXEC);
    if (run.poll < 0) die("epoll_create1");
    signal(SIGPIPE, SIG_IGN);
    run.context = SSL_CTX_new(TLS_client_method());
    if (run.context == NULL) die("SSL_CTX_new");
    SSL_CTX_set_verify(run.context, SSL_VERIFY_NONE, NULL);
    SSL_CTX_set_mode(run.context, SSL_MODE_RELEASE_BUFFERS);
    run.slots = calloc((size_t)run.count, sizeof *run.slots);
    if (run.slots == NULL) die("calloc");
    double began = now();
    // A few handshakes at a time: the server would close connections whose handshakes take too long.
    while (run.ready + run.lost < run.count) {
        while (run.begun < run.count && run.begun - run.ready - run.lost < 16) connect_slot(&run.slots[run.begun++]);
        step();
        if (now() > began + PATIENCE_SECONDS || run.lost > 0) {
            fprintf(stderr, "guesser: %ld of %ld connections were opened: %s\n", run.ready, run.count, run.why);
            return 1;
        }
    }
    printf("ready\n");
    fflush(stdout);
    char line[64];
    double seconds;
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (sscanf(line, "flood %lf", &seconds) == 1) flood(seconds);
        else if (sscanf(line, "drain %lf", &seconds) == 1) drain(seconds);
        else return 2;
    }
    return 0;
}
