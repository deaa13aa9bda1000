// SPDX-License-Identifier: Apache-2.0

#pragma once
#if !__has_include(<ldap.h>)
#error "Gatehouse needs libldap: apt-get install libldap-dev, or build without it: swift build --disable-default-traits"
#endif
#include <ldap.h>
#include <malloc.h>
#include <netdb.h>
#include <openldap.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

static inline void *gatehouse_ldap_malloc(ber_len_t size, void *context) {
    (void)context;
    return malloc(size);
}

static inline void *gatehouse_ldap_calloc(ber_len_t count, ber_len_t size, void *context) {
    (void)context;
    return calloc(count, size);
}

// Buffers hold passwords, so they are wiped before they are given back.
static inline void gatehouse_ldap_free(void *memory, void *context) {
    (void)context;
    if (!memory) return;
    explicit_bzero(memory, malloc_usable_size(memory));
    free(memory);
}

static inline void *gatehouse_ldap_realloc(void *memory, ber_len_t size, void *context) {
    if (!memory) return malloc(size);
    size_t old = malloc_usable_size(memory);
    if (size <= old) return memory;
    void *grown = malloc(size);
    if (!grown) return NULL;
    memcpy(grown, memory, old);
    gatehouse_ldap_free(memory, context);
    return grown;
}

// Before any other call: liblber then wipes what it frees, and libldap has read its files.
static inline int gatehouse_ldap_prepare(void) {
    static BerMemoryFunctions functions = {
        gatehouse_ldap_malloc, gatehouse_ldap_calloc, gatehouse_ldap_realloc, gatehouse_ldap_free,
    };
    if (ber_set_option(NULL, LBER_OPT_MEMORY_FNS, &functions) != LBER_OPT_SUCCESS) return 0;
    int version = 0;
    return ldap_get_option(NULL, LDAP_OPT_PROTOCOL_VERSION, &version) == LDAP_OPT_SUCCESS;
}

static inline int gatehouse_ldap_set_number(LDAP *handle, int option, int value) {
    return ldap_set_option(handle, option, &value);
}

static inline int gatehouse_ldap_set_text(LDAP *handle, int option, const char *value) {
    return ldap_set_option(handle, option, value);
}

// Sets all options that libldap might have read from files or from the environment. The time limits are those of the
// caller: with one of its own, libldap waits for TLS without sleeping. A longer message of the server ends the connection.
static inline int gatehouse_ldap_set_options(LDAP *handle, ber_len_t maximum_message) {
    const int version = LDAP_VERSION3, aliases = LDAP_DEREF_NEVER, none = 0;
    const struct timeval unlimited = {.tv_sec = -1};
    Sockbuf *buffer = NULL;
    return ldap_set_option(handle, LDAP_OPT_PROTOCOL_VERSION, &version) == LDAP_OPT_SUCCESS
        && ldap_set_option(handle, LDAP_OPT_DEREF, &aliases) == LDAP_OPT_SUCCESS
        && ldap_set_option(handle, LDAP_OPT_SIZELIMIT, &none) == LDAP_OPT_SUCCESS
        && ldap_set_option(handle, LDAP_OPT_TIMELIMIT, &none) == LDAP_OPT_SUCCESS
        && ldap_set_option(handle, LDAP_OPT_REFERRALS, LDAP_OPT_OFF) == LDAP_OPT_SUCCESS
        && ldap_set_option(handle, LDAP_OPT_NETWORK_TIMEOUT, &unlimited) == LDAP_OPT_SUCCESS
        && ldap_set_option(handle, LDAP_OPT_TIMEOUT, &unlimited) == LDAP_OPT_SUCCESS
        && ldap_get_option(handle, LDAP_OPT_SOCKBUF, &buffer) == LDAP_OPT_SUCCESS && buffer
        && ber_sockbuf_ctrl(buffer, LBER_SB_OPT_SET_MAX_INCOMING, &maximum_message) > 0;
}

// Replaces one value of an attribute by another one, in one operation.
static inline int gatehouse_ldap_replace(
    LDAP *handle, const char *name, const char *attribute, struct berval *old_value, struct berval *new_value, int *number
) {
    struct berval *old_values[] = {old_value, NULL}, *new_values[] = {new_value, NULL};
    LDAPMod removal = {
        .mod_op = LDAP_MOD_DELETE | LDAP_MOD_BVALUES, .mod_type = (char *)attribute, .mod_vals.modv_bvals = old_values,
    };
    LDAPMod addition = {
        .mod_op = LDAP_MOD_ADD | LDAP_MOD_BVALUES, .mod_type = (char *)attribute, .mod_vals.modv_bvals = new_values,
    };
    LDAPMod *changes[] = {&removal, &addition, NULL};
    return ldap_modify_ext(handle, name, changes, NULL, NULL, number);
}

static inline int gatehouse_ldap_error(LDAP *handle) {
    int code = LDAP_OTHER;
    ldap_get_option(handle, LDAP_OPT_RESULT_CODE, &code);
    return code;
}

// The text belongs to the caller, who frees it with ldap_memfree.
static inline char *gatehouse_ldap_diagnostic(LDAP *handle) {
    char *text = NULL;
    ldap_get_option(handle, LDAP_OPT_DIAGNOSTIC_MESSAGE, &text);
    return text;
}
