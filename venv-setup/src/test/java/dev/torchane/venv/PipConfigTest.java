package dev.torchane.venv;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What pip's configuration says, file by file and variable by variable. */
class PipConfigTest {

    @TempDir
    Path home;

    private final Map<String, String> environment = new HashMap<>(Map.of("XDG_CONFIG_DIRS", "/nowhere"));

    @Test
    void withoutConfigurationTheDefaultOfPipCounts() {
        environment.put("PIP_CONFIG_FILE", "/dev/null");

        assertEquals(List.of("http://default/simple/"), config().indexes(() -> "http://default/simple/"));
        assertEquals(List.of(), config().findLinks());
        assertEquals(Optional.empty(), config().certificates());
    }

    @Test
    void theUsersFileIsRead() throws IOException {
        write(".config/pip/pip.conf", "[global]", "index-url = http://mine/simple");

        assertEquals(List.of("http://mine/simple/"), config().indexes(() -> "http://default/"));
    }

    @Test
    void theFileOfXdgConfigHomeIsRead() throws IOException {
        environment.put("XDG_CONFIG_HOME", home.resolve("xdg").toString());
        write("xdg/pip/pip.conf", "[global]", "index_url: http://mine/simple/");

        assertEquals(List.of("http://mine/simple/"), config().indexes(() -> "http://default/"));
    }

    @Test
    void theNamedFileWinsOverTheUsersAndVariablesWinOverBoth() throws IOException {
        write(".config/pip/pip.conf", "[global]", "index-url = http://user/", "find-links = /user");
        write("named.conf", "[global]", "index-url = http://named/", "proxy = http://proxy:1");
        environment.put("PIP_CONFIG_FILE", home.resolve("named.conf").toString());
        environment.put("PIP_INDEX_URL", "http://variable/");

        assertEquals(List.of("http://variable/"), config().indexes(() -> ""));
        assertEquals(List.of("/user"), config().findLinks());
        assertEquals(Optional.of("http://proxy:1"), config().proxy());
        environment.remove("PIP_INDEX_URL");
        assertEquals(List.of("http://named/"), config().indexes(() -> ""));
    }

    @Test
    void theInstallSectionWinsOverGlobalAndOthersDoNotCount() throws IOException {
        write(
                ".config/pip/pip.conf",
                "[install]",
                "index-url = http://install/",
                "[global]",
                "index-url = http://global/",
                "[freeze]",
                "find-links = /freeze");

        assertEquals(List.of("http://install/"), config().indexes(() -> ""));
        assertEquals(List.of(), config().findLinks());
    }

    @Test
    void severalExtraIndexesMayStandOnLinesOfTheirOwn() throws IOException {
        write(
                ".config/pip/pip.conf",
                "# a comment",
                "[global]",
                "extra-index-url =",
                "    http://one/simple",
                "    http://two/simple/",
                "; another",
                "cert = /some/bundle.pem");

        assertEquals(
                List.of("http://default/", "http://one/simple/", "http://two/simple/"),
                config().indexes(() -> "http://default/"));
        assertEquals(Optional.of(Path.of("/some/bundle.pem")), config().certificates());
    }

    @Test
    void noIndexMeansNone() {
        environment.put("PIP_CONFIG_FILE", "/dev/null");
        environment.put("PIP_NO_INDEX", "true");

        assertEquals(List.of(), config().indexes(() -> "http://default/"));
    }

    @Test
    void anEmptyVariableIsNoVariable() {
        environment.put("PIP_CONFIG_FILE", "/dev/null");
        environment.put("PIP_INDEX_URL", "");

        assertEquals(List.of("http://default/"), config().indexes(() -> "http://default/"));
    }

    @Test
    void aLineThatIsNoSettingIsNamed() throws IOException {
        write(".config/pip/pip.conf", "[global]", "nonsense");

        var e = assertThrows(VenvException.class, this::config);

        assertTrue(e.getMessage().contains("pip.conf, line 2"), e.getMessage());
        assertTrue(e.getMessage().contains("nonsense"), e.getMessage());
    }

    private PipConfig config() {
        return PipConfig.of(new Surroundings(environment, home, new Platform("linux_x86_64")));
    }

    private void write(String file, String... lines) throws IOException {
        Path path = home.resolve(file);
        Files.createDirectories(path.getParent());
        Files.write(path, List.of(lines));
    }
}
