package dev.torchane.host;

import dev.torchane.TorchAneException;
import dev.torchane.venv.VenvInstaller;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import java.util.SortedMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Versions that are known without starting Python. */
final class Versions {

    private static final String OWN = "versions.properties";
    private static final String PASSES_FILE = "torch_ane/passes/__init__.py";
    private static final Pattern PASSES =
            Pattern.compile("(?m)^PASSES_VERSION\\s*(?::\\s*\\w+\\s*)?=\\s*[\"']?([\\w.+-]+)");

    private Versions() {}

    /** Everything that shapes an export besides its options, by name; on sources under work, their content too. */
    static Map<String, String> all() {
        Map<String, String> versions = new LinkedHashMap<>();
        Properties own = own();
        SortedMap<String, String> installed = VenvInstaller.standard().versions();
        versions.put("torch-ane", own.getProperty("torch-ane"));
        versions.put("passes", passes());
        versions.put("torch", installed.getOrDefault("torch", "unknown"));
        versions.put("transformers", installed.getOrDefault("transformers", "unknown"));
        versions.put("graalpy", own.getProperty("graalpy"));
        PythonSources.override().ifPresent(directory -> versions.put("sources", PythonSources.digest(directory)));
        return versions;
    }

    /** {@code PASSES_VERSION}, as the Python source states it. */
    static String passes() {
        byte[] source = PythonSources.files().get(PASSES_FILE);
        if (source == null) {
            throw new TorchAneException("the Python sources lack " + PASSES_FILE);
        }
        Matcher matcher = PASSES.matcher(new String(source, StandardCharsets.UTF_8));
        if (!matcher.find()) {
            throw new TorchAneException(PASSES_FILE + " states no PASSES_VERSION");
        }
        return matcher.group(1);
    }

    private static Properties own() {
        Properties properties = new Properties();
        try (InputStream stream = Versions.class.getResourceAsStream(OWN)) {
            if (stream == null) {
                throw new TorchAneException("the artifact torch-ane-polyglot-host lacks its resource " + OWN);
            }
            properties.load(stream);
            return properties;
        } catch (IOException e) {
            throw new TorchAneException("the resource " + OWN + " cannot be read: " + e.getMessage(), e);
        }
    }
}
