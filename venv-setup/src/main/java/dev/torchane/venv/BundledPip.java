package dev.torchane.venv;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/**
 * The pip that GraalPy carries: a wheel among the resources of {@code python-resources}. Only one constant of it is
 * read, the index it asks when nothing is configured.
 */
final class BundledPip {

    /** Lines of {@code resource path = permissions}. */
    private static final String LISTING = "META-INF/resources/libpython.files";

    private static final Pattern WHEEL = Pattern.compile(".*/ensurepip/_bundled/pip-[^/]+\\.whl");
    private static final Pattern INDEX =
            Pattern.compile("^PyPI\\s*=\\s*PackageIndex\\(\\s*\"([^\"]+)\"", Pattern.MULTILINE);

    private BundledPip() {}

    /** The address of the Simple API that pip falls back to. */
    static String defaultIndex(ClassLoader loader) {
        try {
            String wheel = wheel(loader).orElseThrow(() -> noIndex("GraalPy's pip is not on the class path"));
            try (InputStream in = loader.getResourceAsStream(wheel)) {
                if (in == null) {
                    throw noIndex(wheel + " is listed but not on the class path");
                }
                return indexIn(new ZipInputStream(in));
            }
        } catch (IOException e) {
            throw new VenvException("GraalPy's pip could not be read: " + e, e);
        }
    }

    private static Optional<String> wheel(ClassLoader loader) throws IOException {
        try (InputStream in = loader.getResourceAsStream(LISTING)) {
            if (in == null) {
                return Optional.empty();
            }
            return new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))
                    .lines()
                    .map(line -> line.replaceFirst("\\s*=.*", "").strip())
                    .filter(WHEEL.asMatchPredicate())
                    .findFirst();
        }
    }

    private static String indexIn(ZipInputStream wheel) throws IOException {
        for (ZipEntry entry = wheel.getNextEntry(); entry != null; entry = wheel.getNextEntry()) {
            if (entry.getName().equals("pip/_internal/models/index.py")) {
                var matcher = INDEX.matcher(new String(wheel.readAllBytes(), StandardCharsets.UTF_8));
                if (matcher.find()) {
                    String url = matcher.group(1);
                    return url + (url.endsWith("/") ? "" : "/") + "simple/";
                }
            }
        }
        throw noIndex("GraalPy's pip names no default index");
    }

    private static VenvException noIndex(String why) {
        return new VenvException(
                "no package index: pip is not configured (PIP_INDEX_URL or pip.conf with index-url), and " + why);
    }
}
