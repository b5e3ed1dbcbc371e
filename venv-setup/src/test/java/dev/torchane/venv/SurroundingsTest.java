package dev.torchane.venv;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What the machine is, and through which proxy it speaks. */
class SurroundingsTest {

    private static final URI SECURE = URI.create("https://index.example/simple/");

    @Test
    void platformsAreNamedAsWheelsNameThem() {
        assertEquals("linux_x86_64", Platform.of("Linux", "amd64").tag());
        assertEquals("linux_aarch64", Platform.of("Linux", "aarch64").tag());
        assertEquals("macosx_arm64", Platform.of("Mac OS X", "aarch64").tag());
        assertEquals(
                "macosx_arm64",
                Platform.ofWheel("a-1-graalpy312-graalpy250_312_native-macosx_14_0_arm64.whl")
                        .tag());
        assertEquals(
                "linux_x86_64",
                Platform.ofWheel("a-1-graalpy312-graalpy250_312_native-linux_x86_64.whl")
                        .tag());
    }

    @Test
    void theProxyOfTheEnvironmentIsUsed() {
        assertEquals("proxy.example:3128", proxy(Map.of("HTTPS_PROXY", "http://proxy.example:3128")));
        assertEquals("proxy.example:3128", proxy(Map.of("https_proxy", "proxy.example:3128")));
        assertEquals("proxy.example:80", proxy(Map.of("ALL_PROXY", "http://proxy.example")));
        assertEquals("direct", proxy(Map.of("HTTP_PROXY", "http://proxy.example:1")));
    }

    @Test
    void exemptHostsAreSpokenToDirectly() {
        String proxy = "http://proxy.example:3128";

        assertEquals("direct", proxy(Map.of("HTTPS_PROXY", proxy, "NO_PROXY", "localhost,.example")));
        assertEquals("direct", proxy(Map.of("HTTPS_PROXY", proxy, "no_proxy", "index.example:443")));
        assertEquals("proxy.example:3128", proxy(Map.of("HTTPS_PROXY", proxy, "NO_PROXY", "dex.example")));
    }

    @Test
    void aProxyThatAsksForAPasswordGetsTheOneOfItsAddress() throws IOException {
        var proxy = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        String expected = "Basic " + Base64.getEncoder().encodeToString("user:secret".getBytes(StandardCharsets.UTF_8));
        proxy.createContext("/", exchange -> {
            boolean known = expected.equals(exchange.getRequestHeaders().getFirst("Proxy-Authorization"));
            exchange.getResponseHeaders().set("Proxy-Authenticate", "Basic realm=\"x\"");
            exchange.sendResponseHeaders(known ? 200 : 407, -1);
            exchange.close();
        });
        proxy.start();
        String address = "http://user:secret@127.0.0.1:" + proxy.getAddress().getPort();
        var here = here("Linux", Map.of("HTTP_PROXY", address, "PIP_CONFIG_FILE", "/dev/null"));
        try (var http = Http.of(here, PipConfig.of(here), Patience.USUAL);
                var reply = http.get(URI.create("http://index.example/simple/"), "*/*")) {
            assertEquals(200, reply.status());
        } finally {
            proxy.stop(0);
        }
    }

    private static String proxy(Map<String, String> environment) {
        var proxies = new Proxies(here("Linux", environment), Optional.empty(), ProxySelector.of(null));
        Proxy chosen = proxies.select(SECURE).getFirst();
        return chosen.address() instanceof InetSocketAddress a ? a.getHostString() + ":" + a.getPort() : "direct";
    }

    private static Surroundings here(String os, Map<String, String> environment) {
        return new Surroundings(environment, Path.of("/home/a"), Platform.of(os, "aarch64"));
    }
}
