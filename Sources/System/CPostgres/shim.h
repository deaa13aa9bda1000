// SPDX-License-Identifier: Apache-2.0

#pragma once
#if !__has_include(<libpq-fe.h>)
#error "Gatehouse needs libpq: apt-get install libpq-dev, or build without it: swift build --disable-default-traits"
#endif
#include <libpq-fe.h>

static inline void gatehouse_postgres_ignore(void *context, const PGresult *result) {
    (void)context, (void)result;
}

// libpq would write the notices of a server to the standard error.
static inline void gatehouse_postgres_ignore_notices(PGconn *connection) {
    PQsetNoticeReceiver(connection, gatehouse_postgres_ignore, 0);
}

static inline const char *gatehouse_postgres_sqlstate(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_SQLSTATE);
}

static inline const char *gatehouse_postgres_primary_message(const PGresult *result) {
    return PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
}
