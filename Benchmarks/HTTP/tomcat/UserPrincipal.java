// SPDX-License-Identifier: Apache-2.0

/** The signed-in user. */
public record UserPrincipal(String name) implements java.security.Principal {
    @Override
    public String getName() {
        return name;
    }
}
