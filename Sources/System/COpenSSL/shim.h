// SPDX-License-Identifier: Apache-2.0
#pragma once
#if !__has_include(<openssl/ssl.h>)
#error "Gatehouse needs OpenSSL 3: apt-get install libssl-dev"
#endif
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#if OPENSSL_VERSION_NUMBER < 0x30000000L
#error "Gatehouse needs OpenSSL 3.0 or newer"
#endif

/* Swift sees functions and plain constants only: the macros and variadic functions that it needs follow. */

/* RFC 2253 with UTF-8 as it is instead of escapes; control characters and separators stay escaped. */
static const unsigned long gatehouse_name_flags = XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB;

/* RFC 9325 3.5 and 3.3: no renegotiation, no compression. */
static inline void gatehouse_SSL_CTX_set_options(SSL_CTX *context) {
    SSL_CTX_clear_options(context, SSL_OP_LEGACY_SERVER_CONNECT | SSL_OP_IGNORE_UNEXPECTED_EOF
                                       | SSL_OP_ALLOW_UNSAFE_LEGACY_RENEGOTIATION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_SSLv3
                                     | SSL_OP_CLEANSE_PLAINTEXT);
}

/* A reason of our own in the error queue. ERR_raise_data is a macro with a variadic function. */
static inline void gatehouse_ERR_raise(const char *text) {
    ERR_raise_data(ERR_LIB_USER, ERR_R_PASSED_INVALID_ARGUMENT, "%s", text);
}

/* The write buffer may move because a write that waited is tried again from another ByteBuffer. Not
   SSL_MODE_RELEASE_BUFFERS: it frees, and with SSL_OP_CLEANSE_PLAINTEXT wipes, 17 KiB after every record. */
static inline void gatehouse_SSL_CTX_set_mode(SSL_CTX *context) {
    /* The chain is what the certificate file holds: without NO_AUTO_CHAIN, OpenSSL looks for one in every handshake. */
    SSL_CTX_set_mode(context, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_AUTO_RETRY | SSL_MODE_NO_AUTO_CHAIN);
}

static inline int gatehouse_SSL_CTX_set_min_proto_version(SSL_CTX *context, int version) {
    return (int)SSL_CTX_set_min_proto_version(context, version);
}

static inline int gatehouse_SSL_CTX_set_max_proto_version(SSL_CTX *context, int version) {
    return (int)SSL_CTX_set_max_proto_version(context, version);
}

static inline int gatehouse_SSL_CTX_set1_groups_list(SSL_CTX *context, const char *groups) {
    return (int)SSL_CTX_set1_groups_list(context, (char *)groups);
}

static inline void gatehouse_SSL_CTX_session_cache_off(SSL_CTX *context) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

/* TLS 1.3 sends tickets unless it is told to send none, and would keep their sessions here without this option. */
static inline void gatehouse_SSL_CTX_tickets_off(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(context, 0);
}

static inline void gatehouse_SSL_CTX_set_status_callback(SSL_CTX *context, int (*callback)(SSL *, void *), void *data) {
    SSL_CTX_set_tlsext_status_cb(context, callback);
    SSL_CTX_set_tlsext_status_arg(context, data);
}

/* The SSL takes over a copy, which it frees by OPENSSL_free. */
static inline int gatehouse_SSL_set_status_response(SSL *ssl, const unsigned char *response, size_t count) {
    unsigned char *copy = OPENSSL_memdup(response, count);
    if (copy == NULL) return 0;
    return (int)SSL_set_tlsext_status_ocsp_resp(ssl, copy, (long)count);
}

static inline int gatehouse_SSL_CTX_add1_chain_cert(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

static inline int gatehouse_SSL_set_tlsext_host_name(SSL *ssl, const char *name) {
    return (int)SSL_set_tlsext_host_name(ssl, (char *)name);
}

static inline int gatehouse_SSL_set_max_send_fragment(SSL *ssl, long count) {
    return (int)SSL_set_max_send_fragment(ssl, count);
}

static inline EVP_PKEY *gatehouse_EVP_EC_gen_P256(void) {
    return EVP_EC_gen("P-256");
}

/* HMAC-SHA-256 (RFC 2104) from the states of SHA-256 after the padded key. OpenSSL's own EVP_MAC copies and frees several
   contexts for every message, which costs four times as much as the hash; these functions are deprecated and not gone. */
typedef struct {
    SHA256_CTX inner;
    SHA256_CTX outer;
} gatehouse_HMAC_SHA256;

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
/* The key has at most 64 bytes. Answers 1 for success. */
static inline int gatehouse_HMAC_SHA256_init(gatehouse_HMAC_SHA256 *mac, const unsigned char *key, size_t count) {
    unsigned char block[SHA256_CBLOCK];
    int done = count <= sizeof block;
    for (size_t index = 0; index < sizeof block; index++) block[index] = (done && index < count ? key[index] : 0) ^ 0x36;
    done = done && SHA256_Init(&mac->inner) && SHA256_Update(&mac->inner, block, sizeof block);
    for (size_t index = 0; index < sizeof block; index++) block[index] ^= 0x36 ^ 0x5c;
    done = done && SHA256_Init(&mac->outer) && SHA256_Update(&mac->outer, block, sizeof block);
    OPENSSL_cleanse(block, sizeof block);
    return done;
}

static inline int gatehouse_HMAC_SHA256_update(gatehouse_HMAC_SHA256 *mac, const void *bytes, size_t count) {
    return count == 0 || SHA256_Update(&mac->inner, bytes, count);
}

/* Writes 32 bytes; the state is of no more use, and wiped. */
static inline int gatehouse_HMAC_SHA256_final(gatehouse_HMAC_SHA256 *mac, unsigned char *tag) {
    int done = SHA256_Final(tag, &mac->inner) && SHA256_Update(&mac->outer, tag, SHA256_DIGEST_LENGTH)
               && SHA256_Final(tag, &mac->outer);
    OPENSSL_cleanse(mac, sizeof *mac);
    return done;
}
#pragma clang diagnostic pop

static inline int gatehouse_EVP_MAC_CTX_set_SHA256_key(EVP_MAC_CTX *mac, unsigned char *key, size_t count) {
    char digest[] = "SHA256";
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, key, count),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_end(),
    };
    return EVP_MAC_CTX_set_params(mac, parameters);
}

static inline long gatehouse_BIO_get_mem_data(BIO *bio, char **bytes) {
    return BIO_get_mem_data(bio, bytes);
}

static inline void gatehouse_BIO_set_retry_read(BIO *bio) {
    BIO_set_retry_read(bio);
}

static inline void gatehouse_BIO_clear_retry_flags(BIO *bio) {
    BIO_clear_retry_flags(bio);
}

static inline int gatehouse_ERR_GET_REASON(unsigned long code) {
    return ERR_GET_REASON(code);
}

static inline int gatehouse_ERR_GET_LIB(unsigned long code) {
    return ERR_GET_LIB(code);
}

static inline int gatehouse_sk_GENERAL_NAME_num(const GENERAL_NAMES *names) {
    return sk_GENERAL_NAME_num(names);
}

static inline GENERAL_NAME *gatehouse_sk_GENERAL_NAME_value(const GENERAL_NAMES *names, int index) {
    return sk_GENERAL_NAME_value(names, index);
}

static inline int gatehouse_sk_GENERAL_NAME_push(GENERAL_NAMES *names, GENERAL_NAME *name) {
    return sk_GENERAL_NAME_push(names, name);
}

static inline int gatehouse_sk_X509_num(const STACK_OF(X509) *certificates) {
    return sk_X509_num(certificates);
}

static inline X509 *gatehouse_sk_X509_value(const STACK_OF(X509) *certificates, int index) {
    return sk_X509_value(certificates, index);
}

static inline STACK_OF(X509) *gatehouse_sk_X509_new(void) {
    return sk_X509_new_null();
}

static inline int gatehouse_sk_X509_push(STACK_OF(X509) *certificates, X509 *certificate) {
    return sk_X509_push(certificates, certificate);
}

static inline void gatehouse_sk_X509_free_all(STACK_OF(X509) *certificates) {
    sk_X509_pop_free(certificates, X509_free);
}

static inline int gatehouse_sk_SSL_CIPHER_num(const STACK_OF(SSL_CIPHER) *ciphers) {
    return sk_SSL_CIPHER_num(ciphers);
}

static inline const SSL_CIPHER *gatehouse_sk_SSL_CIPHER_value(const STACK_OF(SSL_CIPHER) *ciphers, int index) {
    return sk_SSL_CIPHER_value(ciphers, index);
}

static inline void gatehouse_OPENSSL_free(void *memory) {
    OPENSSL_free(memory);
}

/* The string of a value of type UTF8String; NULL for any other type. */
static inline const ASN1_STRING *gatehouse_ASN1_TYPE_utf8(const ASN1_TYPE *value) {
    return value != NULL && value->type == V_ASN1_UTF8STRING ? value->value.utf8string : NULL;
}
