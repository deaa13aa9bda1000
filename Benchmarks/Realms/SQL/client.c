// SPDX-License-Identifier: Apache-2.0
//
// Signs users in with libpq as an SQLRealm does, and prints the seconds that it took: a prepared statement for the hash, a comparison,
// and a prepared statement for the groups. Arguments: CONNECTION USERS LOGINS AT-ONCE. Each thread has a connection that is kept open.
#include <libpq-fe.h>
#include <openssl/evp.h>

#include "../threads.h"

static const char *connection_string;

static void fail(PGconn *connection, const char *step) {
    fprintf(stderr, "%s: %s\n", step, PQerrorMessage(connection));
    exit(1);
}

static PGresult *run_prepared(PGconn *connection, const char *statement, const char *name) {
    PGresult *result = PQexecPrepared(connection, statement, 1, &name, NULL, NULL, 0);
    if (PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) < 1) fail(connection, statement);
    return result;
}

// Checks {SSHA}: base64 of 20 bytes of SHA-1 and 8 bytes of salt.
static void check_password(const char *hash, const char *password) {
    unsigned char stored[64], digest[EVP_MAX_MD_SIZE], text[128];
    size_t length = strlen(password);
    if (strncmp(hash, "{SSHA}", 6) || EVP_DecodeBlock(stored, (const unsigned char *)hash + 6, (int)strlen(hash + 6)) < 28) exit(1);
    memcpy(text, password, length);
    memcpy(text + length, stored + 20, 8);
    if (!EVP_Digest(text, length + 8, digest, NULL, EVP_sha1(), NULL) || memcmp(digest, stored, 20)) {
        fprintf(stderr, "wrong password\n");
        exit(1);
    }
}

static void login(PGconn *connection, const char *name) {
    PGresult *result = run_prepared(connection, "user", name);
    if (PQntuples(result) != 1 || strcmp(PQgetvalue(result, 0, 0), name)) fail(connection, name);
    check_password(PQgetvalue(result, 0, 1), "lilac");
    PQclear(result);
    PQclear(run_prepared(connection, "groups", name));
}

static void *run(void *number) {
    PGconn *connection = PQconnectdb(connection_string);
    if (PQstatus(connection) != CONNECTION_OK) fail(connection, "connect");
    PQclear(PQprepare(connection, "user", "SELECT name, password FROM users WHERE name = $1", 1, NULL));
    PQclear(PQprepare(connection, "groups", "SELECT grp FROM memberships WHERE name = $1", 1, NULL));
    login(connection, "ann");
    pthread_barrier_wait(&all_are_open);
    char name[32];
    for (int count = 0; count < logins_per_thread; count++) {
        user_name(name, number, count);
        login(connection, name);
    }
    PQfinish(connection);
    return NULL;
}

int main(int count, char **arguments) {
    if (count != 5) return 2;
    connection_string = arguments[1];
    users = atoi(arguments[2]);
    int at_once = atoi(arguments[4]);
    logins_per_thread = atoi(arguments[3]) / at_once;
    time_threads(at_once, run);
    return 0;
}
