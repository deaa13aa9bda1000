// SPDX-License-Identifier: Apache-2.0

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** The page behind the realm. */
public final class WelcomeServlet extends HttpServlet {
    private static final long serialVersionUID = 1;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        byte[] page = ("Welcome " + request.getRemoteUser() + "\n").getBytes(StandardCharsets.UTF_8);
        response.setContentType("text/plain");
        response.setContentLength(page.length);
        response.getOutputStream().write(page);
    }
}
