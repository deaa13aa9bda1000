// SPDX-License-Identifier: Apache-2.0
// Gatehouse
#pragma once
#if !__has_include(<crypt.h>)
#error "Gatehouse needs libxcrypt: apt-get install libcrypt-dev"
#endif
#include <crypt.h>
