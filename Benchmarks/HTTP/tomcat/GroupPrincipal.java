// SPDX-License-Identifier: Apache-2.0

/** A group of the user, which Tomcat uses as a role. */
public record GroupPrincipal(String name) implements java.security.Principal {
    @Override
    public String getName() {
        return name;
    }
}
