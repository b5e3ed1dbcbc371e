package dev.torchane.venv;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.ProxySelector;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.OptionalLong;
import java.util.regex.Pattern;

/** GET, with ranges, redirects, the machine's proxies and certificates, and credentials that stay with their host. */
final class Http implements AutoCloseable {

    private static final int REDIRECTS = 10;

    private final Surroundings here;
    private final PipConfig pip;
    private final Duration silence;
    private HttpClient client;

    private Http(Surroundings here, PipConfig pip, Duration silence) {
        this.here = here;
        this.pip = pip;
        this.silence = silence;
    }

    static Http of(Surroundings here, PipConfig pip, Patience patience) {
        return new Http(here, pip, patience.silence());
    }

    /** Made at the first request: reading certificates takes most of a second, and a filled cache needs no network. */
    private synchronized HttpClient client() {
        if (client == null) {
            var proxies = new Proxies(here, pip.proxy(), ProxySelector.getDefault());
            HttpClient.Builder builder = HttpClient.newBuilder()
                    .followRedirects(HttpClient.Redirect.NEVER)
                    .connectTimeout(Duration.ofSeconds(30))
                    .proxy(proxies)
                    .sslContext(Trust.context(here, pip));
            proxies.authenticator().ifPresent(builder::authenticator);
            client = builder.build();
        }
        return client;
    }

    /** A reply whose body is still to be read. */
    record Reply(URI uri, int status, String contentType, OptionalLong rangeStart, OptionalLong total, InputStream body)
            implements AutoCloseable {

        boolean isOk() {
            return status == 200 || status == 206;
        }

        /** Worth another try: the server is busy or broken, not of another opinion. */
        boolean isTransient() {
            return status == 408 || status == 429 || status >= 500;
        }

        @Override
        public void close() throws IOException {
            body.close();
        }
    }

    Reply get(URI uri, String accept) throws IOException {
        return get(uri, accept, -1, -1);
    }

    /** The bytes from {@code from} to {@code to}, exclusive; a negative {@code to} means the end. */
    Reply getRange(URI uri, long from, long to) throws IOException {
        return get(uri, "*/*", from, to);
    }

    private Reply get(URI uri, String accept, long from, long to) throws IOException {
        URI current = uri;
        String credentials = uri.getRawUserInfo();
        for (int hop = 0; hop <= REDIRECTS; hop++) {
            HttpRequest.Builder request = HttpRequest.newBuilder(withoutUserInfo(current))
                    .timeout(silence)
                    .header("Accept", accept)
                    .header("Accept-Encoding", "identity")
                    .header("User-Agent", "torch-ane-venv");
            if (from >= 0) {
                request.header("Range", "bytes=" + from + "-" + (to < 0 ? "" : to - 1));
            }
            if (credentials != null && sameOrigin(uri, current)) {
                String plain = URLDecoder.decode(credentials.replace("+", "%2B"), StandardCharsets.UTF_8);
                request.header(
                        "Authorization",
                        "Basic " + Base64.getEncoder().encodeToString(plain.getBytes(StandardCharsets.UTF_8)));
            }
            HttpResponse<InputStream> response = send(request.build());
            var location = response.headers().firstValue("Location");
            if (response.statusCode() / 100 == 3 && location.isPresent()) {
                response.body().close();
                current = current.resolve(location.get());
                continue;
            }
            return reply(response);
        }
        throw new IOException(shown(uri) + " redirects more than " + REDIRECTS + " times");
    }

    private Reply reply(HttpResponse<InputStream> response) {
        var range = response.headers().firstValue("Content-Range").orElse("");
        OptionalLong start = OptionalLong.empty();
        OptionalLong total = response.headers().firstValueAsLong("Content-Length");
        var matcher = Pattern.compile("bytes (\\d+)-\\d+/(\\d+)").matcher(range);
        if (matcher.matches()) {
            start = OptionalLong.of(Long.parseLong(matcher.group(1)));
            total = OptionalLong.of(Long.parseLong(matcher.group(2)));
        }
        String type = response.headers().firstValue("Content-Type").orElse("");
        return new Reply(
                response.uri(), response.statusCode(), type, start, total, new GuardedStream(response.body(), silence));
    }

    private HttpResponse<InputStream> send(HttpRequest request) throws IOException {
        try {
            return client().send(request, HttpResponse.BodyHandlers.ofInputStream());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while asking " + request.uri());
        }
    }

    /** An address as it may be shown: without credentials and query. */
    static String shown(URI uri) {
        return uri.getScheme() + "://" + uri.getHost() + (uri.getPort() < 0 ? "" : ":" + uri.getPort()) + uri.getPath();
    }

    private static URI withoutUserInfo(URI uri) {
        String text = uri.toString();
        return uri.getRawUserInfo() == null ? uri : URI.create(text.replace(uri.getRawUserInfo() + "@", ""));
    }

    private static boolean sameOrigin(URI a, URI b) {
        return a.getScheme().equals(b.getScheme()) && a.getHost().equals(b.getHost()) && a.getPort() == b.getPort();
    }

    @Override
    public synchronized void close() {
        if (client != null) {
            client.shutdownNow();
        }
    }
}
