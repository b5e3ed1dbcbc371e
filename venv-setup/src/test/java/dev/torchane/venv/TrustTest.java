package dev.torchane.venv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server whose certificate the JDK does not know, as a company's proxy shows it. */
class TrustTest {

    private static final char[] PASSWORD = "changeit".toCharArray();

    @TempDir
    static Path directory;

    private static HttpsServer server;
    private static Path certificate;

    @BeforeAll
    static void start() throws Exception {
        Path store = directory.resolve("server.p12");
        certificate = directory.resolve("server.pem");
        keytool(
                "-genkeypair",
                "-alias",
                "s",
                "-keyalg",
                "EC",
                "-dname",
                "CN=localhost",
                "-ext",
                "san=ip:127.0.0.1",
                "-keystore",
                store.toString(),
                "-storepass",
                "changeit");
        keytool(
                "-exportcert",
                "-rfc",
                "-alias",
                "s",
                "-file",
                certificate.toString(),
                "-keystore",
                store.toString(),
                "-storepass",
                "changeit");
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD);
        }
        KeyManagerFactory factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        factory.init(keys, PASSWORD);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(factory.getKeyManagers(), null, null);
        server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(context));
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write("ok".getBytes());
            exchange.close();
        });
        server.start();
    }

    @AfterAll
    static void stop() {
        server.stop(0);
    }

    @Test
    void anUnknownCertificateIsNotBelieved() {
        assertThrows(IOException.class, () -> get(Map.of()));
    }

    @Test
    void theBundleOfPipOrOfTheSystemIsBelieved() throws IOException {
        for (String variable : new String[] {"PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"}) {
            assertArrayEquals("ok".getBytes(), get(Map.of(variable, certificate.toString())), variable);
        }
    }

    @Test
    void aBundleOfPipThatCannotBeReadIsNamed() {
        var e = assertThrows(VenvException.class, () -> get(Map.of("PIP_CERT", "/nowhere.pem")));

        assertTrue(e.getMessage().contains("/nowhere.pem"), e.getMessage());
    }

    private static byte[] get(Map<String, String> variables) throws IOException {
        var environment = new HashMap<>(variables);
        environment.put("PIP_CONFIG_FILE", "/dev/null");
        environment.put("NO_PROXY", "*");
        var here = new Surroundings(environment, directory, new Platform("linux_x86_64"));
        try (var http = Http.of(here, PipConfig.of(here), Patience.USUAL);
                var reply = http.get(
                        URI.create("https://127.0.0.1:" + server.getAddress().getPort() + "/"), "*/*")) {
            return reply.body().readAllBytes();
        }
    }

    private static void keytool(String... arguments) throws Exception {
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(List.of(arguments));
        assertEquals(
                0,
                new ProcessBuilder(command)
                        .inheritIO()
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start()
                        .waitFor());
    }
}
