// SPDX-License-Identifier: Apache-2.0

import java.io.File;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.security.Principal;
import java.security.URIParameter;
import java.util.Arrays;
import java.util.Map;
import javax.security.auth.Subject;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.CallbackHandler;
import javax.security.auth.callback.NameCallback;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.AppConfigurationEntry.LoginModuleControlFlag;
import javax.security.auth.login.Configuration;
import javax.security.auth.login.FailedLoginException;
import javax.security.auth.login.LoginContext;
import javax.security.auth.login.LoginException;
import javax.security.auth.spi.LoginModule;

/** Measures the JDK's login contexts and parser with the work of the Swift benchmark: processor time of this thread, after a warm-up. */
public class LoginBenchmark {
    record Name(String getName) implements Principal {}

    /** Accepts a name that starts with "z", as a user in the group "User". */
    public static class StartWith implements LoginModule {
        private Subject subject;
        private CallbackHandler handler;
        private String user;

        public void initialize(Subject subject, CallbackHandler handler, Map<String, ?> shared, Map<String, ?> options) {
            this.subject = subject;
            this.handler = handler;
        }

        public boolean login() throws LoginException {
            NameCallback name = new NameCallback("user");
            try {
                handler.handle(new Callback[] {name});
            } catch (Exception e) {
                throw new LoginException(e.toString());
            }
            if (!name.getName().startsWith("z")) throw new FailedLoginException("Invalid credentials.");
            user = name.getName();
            return true;
        }

        public boolean commit() {
            if (user == null) return false;
            subject.getPrincipals().add(new Name(user));
            subject.getPrincipals().add(new Name("User"));
            return true;
        }

        public boolean abort() { return user != null; }

        public boolean logout() { return true; }
    }

    static Configuration stack(int count) {
        AppConfigurationEntry[] entries = new AppConfigurationEntry[count];
        Arrays.fill(entries, new AppConfigurationEntry(StartWith.class.getName(), LoginModuleControlFlag.REQUIRED, Map.of()));
        return new Configuration() {
            @Override public AppConfigurationEntry[] getAppConfigurationEntry(String name) { return entries; }
        };
    }

    interface Work { void run() throws Exception; }

    static double perSecond(int count, Work work) throws Exception {
        var threads = ManagementFactory.getThreadMXBean();
        long warm = System.nanoTime();
        while (System.nanoTime() - warm < 1_500_000_000L) work.run();
        long begin = threads.getCurrentThreadCpuTime();
        for (int i = 0; i < count; i++) work.run();
        return count / ((threads.getCurrentThreadCpuTime() - begin) / 1e9);
    }

    static Work login(Configuration configuration, String user, boolean expected) {
        CallbackHandler handler = callbacks -> {
            for (Callback callback : callbacks) ((NameCallback) callback).setName(user);
        };
        return () -> {
            boolean accepted = true;
            LoginContext context = new LoginContext("x", new Subject(), handler, configuration);
            try {
                context.login();
            } catch (LoginException e) {
                accepted = false;
            }
            if (accepted != expected) throw new IllegalStateException();
        };
    }

    public static void main(String[] arguments) throws Exception {
        File file = new File(arguments[0]);
        long size = Files.size(file.toPath());
        URIParameter parameter = new URIParameter(file.toURI());
        System.out.println("login, 1 module=" + perSecond(300_000, login(stack(1), "zed", true)) / 1e6);
        System.out.println("login, 4 modules=" + perSecond(100_000, login(stack(4), "zed", true)) / 1e6);
        System.out.println("login, 1 module, refused=" + perSecond(100_000, login(stack(1), "bob", false)) / 1e6);
        System.out.println("parse login.conf=" + size
            * perSecond(3_000, () -> Configuration.getInstance("JavaLoginConfig", parameter)) / 1e6);
    }
}
