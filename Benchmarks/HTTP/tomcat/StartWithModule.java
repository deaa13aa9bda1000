// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.util.Map;
import javax.security.auth.Subject;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.CallbackHandler;
import javax.security.auth.callback.NameCallback;
import javax.security.auth.callback.UnsupportedCallbackException;
import javax.security.auth.login.FailedLoginException;
import javax.security.auth.login.LoginException;
import javax.security.auth.spi.LoginModule;

/** The counterpart of StartWithLoginModule for JAAS: accepts users whose name starts with a string, in the group User. */
public final class StartWithModule implements LoginModule {
    private Subject subject;
    private CallbackHandler handler;
    private String start;
    private UserPrincipal user;
    private final GroupPrincipal group = new GroupPrincipal("User");

    @Override
    public void initialize(Subject subject, CallbackHandler handler, Map<String, ?> shared, Map<String, ?> options) {
        this.subject = subject;
        this.handler = handler;
        this.start = (String) options.get("startWith");
    }

    @Override
    public boolean login() throws LoginException {
        NameCallback name = new NameCallback("user name");
        try {
            handler.handle(new Callback[] {name});
        } catch (IOException | UnsupportedCallbackException e) {
            throw new LoginException(e.toString());
        }
        if (name.getName() == null || !name.getName().startsWith(start)) {
            throw new FailedLoginException();
        }
        user = new UserPrincipal(name.getName());
        return true;
    }

    @Override
    public boolean commit() {
        if (user == null) {
            return false;
        }
        subject.getPrincipals().add(user);
        subject.getPrincipals().add(group);
        return true;
    }

    @Override
    public boolean abort() {
        boolean was = user != null;
        user = null;
        return was;
    }

    @Override
    public boolean logout() {
        subject.getPrincipals().remove(user);
        subject.getPrincipals().remove(group);
        user = null;
        return true;
    }
}
