// SPDX-License-Identifier: Apache-2.0

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.EOFException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.URIParameter;
import java.util.TreeSet;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.Configuration;

/**
 * Reads login.conf texts with the JDK, and writes the contexts that it finds.
 *
 * A string in the input or output is a 32-bit big-endian length and that many bytes of UTF-8.
 *
 * Standard input: for each text, the text as a string, a 32-bit number of context names, and the names as strings.
 *
 * Standard output: for each text, one string. It is "rejected", or "accepted" and one line for each name: NAME, and for
 * each module [CLASS FLAG {KEY=VALUE}]. Names, classes, keys and values are in hexadecimal UTF-16.
 *
 * Arguments: system properties, KEY=VALUE.
 */
public class ConfOracle {
    public static void main(String[] arguments) throws Exception {
        for (String argument : arguments) {
            int split = argument.indexOf('=');
            System.setProperty(argument.substring(0, split), argument.substring(split + 1));
        }
        var input = new DataInputStream(new BufferedInputStream(System.in));
        var output = new DataOutputStream(new BufferedOutputStream(System.out));
        Path file = Files.createTempFile("oracle", ".conf");
        try {
            while (true) {
                byte[] text = read(input);
                if (text == null) break;
                int count = input.readInt();
                String[] names = new String[count];
                for (int i = 0; i < count; i++) names[i] = new String(read(input), StandardCharsets.UTF_8);
                Files.write(file, text);
                byte[] answer = answer(file.toUri(), names).getBytes(StandardCharsets.US_ASCII);
                output.writeInt(answer.length);
                output.write(answer);
            }
            output.flush();
        } finally {
            Files.delete(file);
        }
    }

    private static byte[] read(DataInputStream input) throws Exception {
        int length;
        try {
            length = input.readInt();
        } catch (EOFException end) {
            return null;
        }
        return input.readNBytes(length);
    }

    private static String answer(URI uri, String[] names) {
        Configuration configuration;
        try {
            configuration = Configuration.getInstance("JavaLoginConfig", new URIParameter(uri));
        } catch (Exception rejected) {
            return "rejected";
        }
        StringBuilder answer = new StringBuilder("accepted\n");
        for (String name : names) {
            answer.append(hex(name));
            AppConfigurationEntry[] modules = configuration.getAppConfigurationEntry(name);
            if (modules == null) {
                answer.append(" absent\n");
                continue;
            }
            for (AppConfigurationEntry module : modules) {
                answer.append(" [").append(hex(module.getLoginModuleName())).append(' ').append(flag(module));
                var options = new TreeSet<String>();
                module.getOptions().forEach((key, value) -> options.add(hex(key) + "=" + hex((String) value)));
                for (String option : options) answer.append(' ').append(option);
                answer.append("]");
            }
            answer.append('\n');
        }
        return answer.toString();
    }

    private static String flag(AppConfigurationEntry module) {
        var flag = module.getControlFlag();
        if (flag == AppConfigurationEntry.LoginModuleControlFlag.REQUIRED) return "REQUIRED";
        if (flag == AppConfigurationEntry.LoginModuleControlFlag.REQUISITE) return "REQUISITE";
        if (flag == AppConfigurationEntry.LoginModuleControlFlag.SUFFICIENT) return "SUFFICIENT";
        return "OPTIONAL";
    }

    private static String hex(String text) {
        StringBuilder hex = new StringBuilder("u");
        for (char unit : text.toCharArray()) hex.append(String.format("%04x", (int) unit));
        return hex.toString();
    }
}
