// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <argon2.h>
#include <crypt.h>
#include <openssl/evp.h>
#include <stdlib.h>

/* As a C program would do it: one buffer for the process, never wiped. */
static inline struct crypt_data *gatehouse_crypt_data(void) {
    static struct crypt_data *data;
    if (data == NULL) data = calloc(1, sizeof *data);
    return data;
}
