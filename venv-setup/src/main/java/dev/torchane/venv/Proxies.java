package dev.torchane.venv;

import java.io.IOException;
import java.net.Authenticator;
import java.net.InetSocketAddress;
import java.net.PasswordAuthentication;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.SocketAddress;
import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Chooses the proxy as pip does: pip's own option, else {@code HTTPS_PROXY}, {@code HTTP_PROXY}, {@code ALL_PROXY} in
 * either case, except for the hosts of {@code NO_PROXY}; failing all these, the JVM's choice.
 */
final class Proxies extends ProxySelector {

    private static final String DISABLED_SCHEMES = "jdk.http.auth.tunneling.disabledSchemes";

    private final Surroundings here;
    private final Optional<String> pips;
    private final ProxySelector fallback;

    Proxies(Surroundings here, Optional<String> pips, ProxySelector fallback) {
        this.here = here;
        this.pips = pips;
        this.fallback = fallback;
    }

    @Override
    public List<Proxy> select(URI uri) {
        if (isExempt(uri.getHost())) {
            return List.of(Proxy.NO_PROXY);
        }
        return named(uri.getScheme()).map(Proxies::proxy).map(List::of).orElseGet(() -> fallback.select(uri));
    }

    @Override
    public void connectFailed(URI uri, SocketAddress address, IOException failure) {}

    /**
     * Answers a proxy that asks for name and password, if its address names them. The JDK sends them for https only when
     * the system property {@value #DISABLED_SCHEMES} allows it; unless the program has set it, this does.
     */
    Optional<Authenticator> authenticator() {
        var credentials = Stream.of("https", "http")
                .flatMap(scheme -> named(scheme).stream())
                .map(URI::getUserInfo)
                .filter(Objects::nonNull)
                .findFirst();
        return credentials.map(userInfo -> {
            if (System.getProperty(DISABLED_SCHEMES) == null) {
                System.setProperty(DISABLED_SCHEMES, "");
            }
            String[] parts = userInfo.split(":", 2);
            char[] password = parts.length == 2 ? parts[1].toCharArray() : new char[0];
            return new Authenticator() {
                @Override
                protected PasswordAuthentication getPasswordAuthentication() {
                    return getRequestorType() == RequestorType.PROXY
                            ? new PasswordAuthentication(parts[0], password)
                            : null;
                }
            };
        });
    }

    private Optional<URI> named(String scheme) {
        return pips.or(() -> variable(scheme + "_proxy"))
                .or(() -> variable("all_proxy"))
                .map(Proxies::parse);
    }

    private Optional<String> variable(String name) {
        return here.variable(name.toLowerCase(Locale.ROOT)).or(() -> here.variable(name.toUpperCase(Locale.ROOT)));
    }

    private boolean isExempt(String host) {
        for (String entry : variable("no_proxy").orElse("").split("[,\\s]+")) {
            String name = entry.replaceFirst("^\\*?\\.", "").replaceFirst(":\\d+$", "");
            if (entry.equals("*") || (!name.isEmpty() && (host.equals(name) || host.endsWith("." + name)))) {
                return true;
            }
        }
        return false;
    }

    private static URI parse(String written) {
        URI uri = URI.create(written.contains("://") ? written : "http://" + written);
        if (uri.getHost() == null) {
            throw new VenvException("the proxy's address has no host; expected http://HOST:PORT");
        }
        return uri;
    }

    private static Proxy proxy(URI uri) {
        int port = uri.getPort() >= 0 ? uri.getPort() : uri.getScheme().equals("https") ? 443 : 80;
        return new Proxy(Proxy.Type.HTTP, new InetSocketAddress(uri.getHost(), port));
    }
}
