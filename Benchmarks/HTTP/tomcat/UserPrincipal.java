// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/** Who has signed in. */
public record UserPrincipal(String name) implements java.security.Principal {
    @Override
    public String getName() {
        return name;
    }
}
