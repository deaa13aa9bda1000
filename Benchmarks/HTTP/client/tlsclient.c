// SPDX-License-Identifier: Apache-2.0
//
// The client of `make bench-http`: one thread that makes many TLS 1.3 connections at once.
//
//   tlsclient handshakes PORT SECONDS CONNECTIONS full|resumed
//     Connects, does the handshake, closes, and begins again. A handshake counts when the server has closed the connection
//     after our close: then it has done all its work. "resumed" uses the newest ticket of the same slot. Each slot gets its
//     first ticket before the measurement.
//   tlsclient hold PORT NUMBER CONNECTIONS request|handshake [PATH AUTHORIZATION]
//     Opens NUMBER connections, CONNECTIONS at a time, and keeps them open.
//
// "handshakes" prints "ready" and waits for a line before it begins. "hold" prints how many connections it has opened, waits for
// a line, and prints how many are still open. Results are lines of JSON.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/objects.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MILLISECONDS = 10000, ANSWER_BYTES = 16384 };

enum phase { IDLE, CONNECTING, SHAKING, CLOSING, ASKING, ANSWERING };

struct slot {
    enum phase phase;
    int descriptor;
    SSL *ssl;
    SSL_SESSION *session;
    double begun;
    size_t sent, received;
    char answer[ANSWER_BYTES];
};

static struct {
    SSL_CTX *context;
    struct sockaddr_in address;
    int poll;
    bool resume, hold, ask;
    char request[1024];
    long done, failed, reused;
    int *held;
    char cipher[64], group[64], signature[64], why[256];
} run;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void die(const char *what) {
    fprintf(stderr, "tlsclient: %s: %s\n", what, strerror(errno));
    exit(1);
}

static int keep_session(SSL *ssl, SSL_SESSION *session) {
    struct slot *slot = SSL_get_app_data(ssl);
    SSL_SESSION_free(slot->session);
    slot->session = session;
    return 1;
}

static void release(struct slot *slot, bool close_too) {
    if (slot->ssl != NULL) {
        // OpenSSL does not resume the session of a connection that was not closed by both sides.
        SSL_set_shutdown(slot->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
        SSL_free(slot->ssl);
    }
    slot->ssl = NULL;
    if (slot->descriptor >= 0) {
        if (close_too) close(slot->descriptor);
        else epoll_ctl(run.poll, EPOLL_CTL_DEL, slot->descriptor, NULL);
    }
    slot->descriptor = -1;
    slot->phase = IDLE;
}

static void fail(struct slot *slot, const char *what) {
    unsigned long error = ERR_get_error();
    const char *reason = error ? ERR_reason_error_string(error) : strerror(errno);
    if (run.failed++ == 0) snprintf(run.why, sizeof run.why, "%s: %s", what, reason ? reason : "closed");
    ERR_clear_error();
    release(slot, true);
}

static void begin(struct slot *slot) {
    slot->descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (slot->descriptor < 0) die("socket");
    int one = 1;
    setsockopt(slot->descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    slot->begun = now();
    slot->sent = slot->received = 0;
    slot->phase = CONNECTING;
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = slot};
    if (epoll_ctl(run.poll, EPOLL_CTL_ADD, slot->descriptor, &event) != 0) die("epoll_ctl");
    if (connect(slot->descriptor, (struct sockaddr *)&run.address, sizeof run.address) != 0 && errno != EINPROGRESS)
        fail(slot, "connect");
}

static void note_parameters(SSL *ssl) {
    if (run.cipher[0]) return;
    snprintf(run.cipher, sizeof run.cipher, "%s", SSL_get_cipher_name(ssl));
    const char *group = OBJ_nid2sn((int)SSL_get_negotiated_group(ssl));
    snprintf(run.group, sizeof run.group, "%s", group ? group : "?");
    int kind = 0;
    if (SSL_get_peer_signature_type_nid(ssl, &kind))
        snprintf(run.signature, sizeof run.signature, "%s", OBJ_nid2sn(kind));
}

// Returns whether the answer is complete. `good` is set if its status is 200.
static bool is_complete(struct slot *slot, bool *good) {
    slot->answer[slot->received] = 0;
    char *end = strstr(slot->answer, "\r\n\r\n");
    if (end == NULL) return false;
    char *length = strcasestr(slot->answer, "\r\ncontent-length:");
    size_t body = length != NULL && length < end ? strtoul(length + 17, NULL, 10) : 0;
    *good = strncmp(slot->answer, "HTTP/1.1 200", 12) == 0;
    return slot->received >= (size_t)(end + 4 - slot->answer) + body;
}

// Frees the TLS state of a connection and keeps the socket open. The server does not notice it.
static void keep(struct slot *slot) {
    run.held[run.done++] = slot->descriptor;
    release(slot, false);
}

static void proceed(struct slot *slot) {
    for (;;) {
        ERR_clear_error();
        errno = 0;
        switch (slot->phase) {
        case IDLE: return;
        case CONNECTING: {
            int error = 0;
            socklen_t size = sizeof error;
            getsockopt(slot->descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
            if (error != 0) {
                errno = error;
                return fail(slot, "connect");
            }
            struct sockaddr_in peer;
            size = sizeof peer;
            if (getpeername(slot->descriptor, (struct sockaddr *)&peer, &size) != 0) return;
            slot->ssl = SSL_new(run.context);
            if (slot->ssl == NULL || SSL_set_fd(slot->ssl, slot->descriptor) != 1) die("SSL_new");
            SSL_set_app_data(slot->ssl, slot);
            if (run.resume && slot->session != NULL) SSL_set_session(slot->ssl, slot->session);
            SSL_set_connect_state(slot->ssl);
            slot->phase = SHAKING;
            break;
        }
        case SHAKING: {
            int result = SSL_do_handshake(slot->ssl);
            if (result != 1) {
                int error = SSL_get_error(slot->ssl, result);
                if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return;
                return fail(slot, "handshake");
            }
            note_parameters(slot->ssl);
            if (run.hold) {
                if (!run.ask) return keep(slot);
                slot->phase = ASKING;
                break;
            }
            if (SSL_session_reused(slot->ssl)) run.reused++;
            SSL_shutdown(slot->ssl);
            shutdown(slot->descriptor, SHUT_WR);
            slot->phase = CLOSING;
            break;
        }
        case CLOSING: {
            // Also reads the tickets that the server sends after the handshake.
            char bytes[256];
            int result = SSL_read(slot->ssl, bytes, sizeof bytes);
            if (result > 0) break;
            int error = SSL_get_error(slot->ssl, result);
            if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return;
            if (error == SSL_ERROR_SYSCALL && errno != 0) return fail(slot, "close");
            // Many servers close the connection without an alert. Any other error is a failure.
            if (error == SSL_ERROR_SSL && ERR_GET_REASON(ERR_peek_error()) != SSL_R_UNEXPECTED_EOF_WHILE_READING)
                return fail(slot, "close");
            run.done++;
            return release(slot, true);
        }
        case ASKING: {
            int result = SSL_write(slot->ssl, run.request, (int)strlen(run.request));
            if (result <= 0) {
                int error = SSL_get_error(slot->ssl, result);
                if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return;
                return fail(slot, "request");
            }
            slot->phase = ANSWERING;
            break;
        }
        case ANSWERING: {
            size_t left = ANSWER_BYTES - 1 - slot->received;
            int result = left == 0 ? 0 : SSL_read(slot->ssl, slot->answer + slot->received, (int)left);
            if (result <= 0) {
                int error = left == 0 ? SSL_ERROR_SSL : SSL_get_error(slot->ssl, result);
                if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return;
                return fail(slot, "answer");
            }
            slot->received += (size_t)result;
            bool good = false;
            if (!is_complete(slot, &good)) break;
            if (!good) return fail(slot, "answer is not 200");
            return keep(slot);
        }
        }
    }
}

static long busy(struct slot *slots, long count) {
    long number = 0;
    double time = now();
    for (long i = 0; i < count; i++) {
        if (slots[i].phase != IDLE && (time - slots[i].begun) * 1000 > PATIENCE_MILLISECONDS) {
            errno = ETIMEDOUT;
            fail(&slots[i], "too late");
        }
        if (slots[i].phase != IDLE) number++;
    }
    return number;
}

// Starts a connection in each idle slot until the time or the number is reached, then waits for the open connections.
static void work(struct slot *slots, long count, long limit, double end) {
    long begun = 0;
    for (;;) {
        for (long i = 0; i < count; i++)
            while (slots[i].phase == IDLE && begun < limit && run.failed <= 64 && (end == 0 || now() < end)) {
                begun++;
                begin(&slots[i]);
            }
        // One failure makes the sample useless, so stop here.
        if (run.failed > 64) return;
        if (busy(slots, count) == 0 && (begun >= limit || (end != 0 && now() >= end))) return;
        struct epoll_event events[256];
        int number = epoll_wait(run.poll, events, 256, 100);
        for (int i = 0; i < number; i++) proceed(events[i].data.ptr);
    }
}

static void wait_for_line(void) {
    char line[16];
    fflush(stdout);
    if (fgets(line, sizeof line, stdin) == NULL) exit(0);
}

static struct slot *make_slots(long count) {
    struct slot *slots = calloc((size_t)count, sizeof *slots);
    if (slots == NULL) die("calloc");
    for (long i = 0; i < count; i++) slots[i].descriptor = -1;
    return slots;
}

static void say_failures(void) {
    for (char *c = run.why; *c; c++)
        if (*c == '"' || *c == '\\') *c = ' ';
    printf("\"failed\": %ld, \"why\": \"%s\", \"cipher\": \"%s\", \"group\": \"%s\", \"signature\": \"%s\"}\n",
           run.failed, run.why, run.cipher, run.group, run.signature);
}

static void handshakes(double seconds, long count) {
    struct slot *slots = make_slots(count);
    if (run.resume) {
        work(slots, count, count, 0);
        for (long i = 0; i < count; i++)
            if (slots[i].session == NULL) {
                snprintf(run.why, sizeof run.why, "no ticket came with the first handshake");
                run.failed++;
                break;
            }
    }
    printf("ready\n");
    wait_for_line();
    run.done = run.reused = 0;
    double start = now();
    work(slots, count, 1L << 60, start + seconds);
    printf("{\"done\": %ld, \"resumed\": %ld, \"seconds\": %.6f, ", run.done, run.reused, now() - start);
    say_failures();
}

static void hold(long number, long count) {
    run.held = calloc((size_t)number, sizeof *run.held);
    if (run.held == NULL) die("calloc");
    double start = now();
    work(make_slots(count), count, number, 0);
    printf("{\"open\": %ld, \"seconds\": %.6f, ", run.done, now() - start);
    say_failures();
    wait_for_line();
    long open = 0;
    for (long i = 0; i < run.done; i++) {
        struct pollfd state = {.fd = run.held[i], .events = POLLRDHUP};
        if (poll(&state, 1, 0) == 0) open++;
    }
    printf("{\"still\": %ld}\n", open);
}

int main(int count, char **words) {
    if (count < 6) {
        fprintf(stderr, "tlsclient handshakes PORT SECONDS CONNECTIONS full|resumed\n"
                        "tlsclient hold PORT NUMBER CONNECTIONS request|handshake [PATH AUTHORIZATION]\n");
        return 2;
    }
    run.hold = strcmp(words[1], "hold") == 0;
    run.resume = strcmp(words[5], "resumed") == 0;
    run.ask = strcmp(words[5], "request") == 0;
    if (run.ask && count == 8)
        snprintf(run.request, sizeof run.request,
                 "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: %s\r\n\r\n", words[6], words[7]);
    run.address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((in_port_t)atoi(words[2]))};
    run.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    run.poll = epoll_create1(EPOLL_CLOEXEC);
    if (run.poll < 0) die("epoll_create1");
    run.context = SSL_CTX_new(TLS_client_method());
    if (run.context == NULL || !SSL_CTX_set_min_proto_version(run.context, TLS1_3_VERSION)) die("SSL_CTX_new");
    SSL_CTX_set_verify(run.context, SSL_VERIFY_NONE, NULL);
    SSL_CTX_set_mode(run.context, SSL_MODE_RELEASE_BUFFERS);
    if (run.resume) {
        SSL_CTX_set_session_cache_mode(run.context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
        SSL_CTX_sess_set_new_cb(run.context, keep_session);
    }
    long slots = atol(words[4]);
    if (slots < 1) return 2;
    if (run.hold) hold(atol(words[3]), slots);
    else handshakes(atof(words[3]), slots);
    return 0;
}
