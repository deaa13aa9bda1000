// SPDX-License-Identifier: Apache-2.0
#pragma once
#if !__has_include(<crypt.h>)
#error "Gatehouse needs libxcrypt: apt-get install libcrypt-dev"
#endif
#include <crypt.h>

/* Swift leaves out the larger arrays of the struct, and with them its size. */
static const int gatehouse_crypt_data_size = (int)sizeof(struct crypt_data);
/* Without the NUL at its end. */
static const int gatehouse_crypt_max_passphrase = CRYPT_MAX_PASSPHRASE_SIZE - 1;
