// SPDX-License-Identifier: Apache-2.0

// A helper program that accepts every user: it answers once, or by lines.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int count, char **arguments) {
    char buffer[8192];
    if (strcmp(arguments[count - 1], "lines") != 0) {
        while (read(3, buffer, sizeof buffer) > 0) {}
        return write(3, "authorize\n", 10) == 10 ? 0 : 1;
    }
    for (ssize_t size; (size = read(3, buffer, sizeof buffer - 1)) > 0;) {
        buffer[size] = 0;
        char answer[128];
        int number = (int)strcspn(buffer, " ");
        int length = snprintf(answer, sizeof answer, "%.*s authorize\n%.*s done\n", number, buffer, number, buffer);
        if (write(3, answer, (size_t)length) != length) return 1;
    }
}
