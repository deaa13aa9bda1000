// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/** A group the user is in; a role to Tomcat. */
public record GroupPrincipal(String name) implements java.security.Principal {
    @Override
    public String getName() {
        return name;
    }
}
