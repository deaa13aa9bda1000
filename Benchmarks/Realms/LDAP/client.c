// SPDX-License-Identifier: Apache-2.0
//
// Signs users in with libldap as an LDAPRealm does, and prints the seconds that it took.
// Arguments: URL CA-FILE USERS GROUPS LOGINS AT-ONCE. GROUPS is 1 to search for the groups, 0 otherwise. Each thread has a connection
// for searches and one for the binds of users, which are kept open.
#include <ldap.h>

#include "../threads.h"

static const char *url, *authorities;
static int with_groups;

static void check(int status, const char *step) {
    if (status == LDAP_SUCCESS) return;
    fprintf(stderr, "%s: %s\n", step, ldap_err2string(status));
    exit(1);
}

static LDAP *open_connection(void) {
    LDAP *connection;
    int version = LDAP_VERSION3, demand = LDAP_OPT_X_TLS_HARD, client = 0;
    check(ldap_initialize(&connection, url), "initialize");
    ldap_set_option(connection, LDAP_OPT_PROTOCOL_VERSION, &version);
    ldap_set_option(connection, LDAP_OPT_REFERRALS, LDAP_OPT_OFF);
    ldap_set_option(connection, LDAP_OPT_X_TLS_CACERTFILE, authorities);
    ldap_set_option(connection, LDAP_OPT_X_TLS_REQUIRE_CERT, &demand);
    check(ldap_set_option(connection, LDAP_OPT_X_TLS_NEWCTX, &client), "TLS");
    return connection;
}

static int bind_as(LDAP *connection, const char *name, const char *password) {
    struct berval value = {.bv_len = strlen(password), .bv_val = (char *)password};
    return ldap_sasl_bind_s(connection, name, LDAP_SASL_SIMPLE, &value, NULL, NULL, NULL);
}

static LDAPMessage *search(LDAP *connection, const char *base, const char *filter, char **attributes) {
    LDAPMessage *result;
    int status = ldap_search_ext_s(connection, base, LDAP_SCOPE_SUBTREE, filter, attributes, 0, NULL, NULL, NULL, 0, &result);
    check(status, filter);
    return result;
}

// Reads the values of an attribute as a program would that uses them.
static size_t read_values(LDAP *connection, LDAPMessage *entry, const char *attribute) {
    size_t length = 0;
    struct berval **values = ldap_get_values_len(connection, entry, attribute);
    for (int index = 0; values && values[index]; index++) length += values[index]->bv_len;
    ldap_value_free_len(values);
    return length;
}

static void login(LDAP *service, LDAP *user, const char *name) {
    char *attributes[] = {"uid", "mail", "displayName", NULL}, *group_attributes[] = {"cn", NULL};
    char filter[256];
    snprintf(filter, sizeof filter, "(uid=%s)", name);
    LDAPMessage *result = search(service, "ou=people,dc=example,dc=org", filter, attributes);
    LDAPMessage *entry = ldap_first_entry(service, result);
    if (!entry || ldap_count_entries(service, result) != 1) check(LDAP_NO_SUCH_OBJECT, name);
    for (int index = 0; attributes[index]; index++) read_values(service, entry, attributes[index]);
    char *dn = ldap_get_dn(service, entry);
    ldap_msgfree(result);
    check(bind_as(user, dn, "lilac"), "bind");
    if (with_groups) {
        size_t length = 0;
        snprintf(filter, sizeof filter, "(member=%s)", dn);
        result = search(service, "ou=groups,dc=example,dc=org", filter, group_attributes);
        for (entry = ldap_first_entry(service, result); entry; entry = ldap_next_entry(service, entry))
            length += read_values(service, entry, "cn");
        if (!length) check(LDAP_NO_SUCH_OBJECT, filter);
        ldap_msgfree(result);
    }
    ldap_memfree(dn);
}

static void *run(void *number) {
    LDAP *service = open_connection(), *user = open_connection();
    char name[32];
    check(bind_as(service, "cn=service,dc=example,dc=org", "service"), "bind of the service");
    check(bind_as(user, "uid=ann,ou=people,dc=example,dc=org", "lilac"), "first bind");
    pthread_barrier_wait(&all_are_open);
    for (int count = 0; count < logins_per_thread; count++) {
        user_name(name, number, count);
        login(service, user, name);
    }
    ldap_unbind_ext_s(service, NULL, NULL);
    ldap_unbind_ext_s(user, NULL, NULL);
    return NULL;
}

int main(int count, char **arguments) {
    if (count != 7) return 2;
    url = arguments[1];
    authorities = arguments[2];
    users = atoi(arguments[3]);
    with_groups = atoi(arguments[4]);
    int at_once = atoi(arguments[6]);
    logins_per_thread = atoi(arguments[5]) / at_once;
    time_threads(at_once, run);
    return 0;
}
