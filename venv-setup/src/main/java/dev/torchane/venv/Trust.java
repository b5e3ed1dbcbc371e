package dev.torchane.venv;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.KeyStoreException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;

/**
 * Whose certificates are believed: those of the JDK, those of the PEM bundles that pip and its surroundings name (a
 * company's proxy signs with one the JDK does not know), and on macOS those of the system's key chain.
 */
final class Trust {

    private static final List<String> VARIABLES = List.of("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE");

    private Trust() {}

    static SSLContext context(Surroundings here, PipConfig pip) {
        try {
            Set<X509Certificate> believed = new LinkedHashSet<>(issuers(null));
            pip.certificates().ifPresent(file -> believed.addAll(bundle(file, "pip's option cert")));
            for (String variable : VARIABLES) {
                here.variable(variable)
                        .map(Path::of)
                        .filter(Files::isRegularFile)
                        .ifPresent(file -> believed.addAll(bundle(file, variable)));
            }
            if (here.isMac()) {
                believed.addAll(keyChain());
            }
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            int number = 0;
            for (X509Certificate certificate : believed) {
                store.setCertificateEntry("ca" + number++, certificate);
            }
            TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            factory.init(store);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, factory.getTrustManagers(), null);
            return context;
        } catch (GeneralSecurityException | IOException e) {
            throw new VenvException("TLS could not be set up: " + e, e);
        }
    }

    private static List<X509Certificate> issuers(KeyStore store) throws GeneralSecurityException {
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        return Arrays.stream(factory.getTrustManagers())
                .filter(X509TrustManager.class::isInstance)
                .flatMap(m -> List.of(((X509TrustManager) m).getAcceptedIssuers()).stream())
                .toList();
    }

    static List<X509Certificate> bundle(Path file, String namedBy) {
        try (InputStream in = Files.newInputStream(file)) {
            return CertificateFactory.getInstance("X.509").generateCertificates(in).stream()
                    .map(X509Certificate.class::cast)
                    .toList();
        } catch (IOException | GeneralSecurityException e) {
            throw new VenvException(
                    "%s names %s, which is no readable bundle of PEM certificates: %s".formatted(namedBy, file, e), e);
        }
    }

    private static List<X509Certificate> keyChain() throws GeneralSecurityException, IOException {
        try {
            KeyStore store = KeyStore.getInstance("KeychainStore-ROOT");
            store.load(null, null);
            var found = new ArrayList<X509Certificate>();
            for (String alias : Collections.list(store.aliases())) {
                if (store.getCertificate(alias) instanceof X509Certificate certificate) {
                    found.add(certificate);
                }
            }
            return found;
        } catch (KeyStoreException e) {
            return List.of();
        }
    }
}
