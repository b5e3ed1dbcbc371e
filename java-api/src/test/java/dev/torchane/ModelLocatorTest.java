package dev.torchane;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModelLocatorTest {

    @TempDir
    Path home;

    private Path snapshot(String repository, String commit) throws IOException {
        return Files.createDirectories(home.resolve(".cache/huggingface/hub/" + repository + "/snapshots/" + commit));
    }

    @Test
    void a_path_is_itself() throws IOException {
        Path file = Files.createFile(home.resolve("model.gguf"));
        assertEquals(file, new ModelLocator(Map.of(), home).locate(file.toString()));
    }

    @Test
    void an_id_is_the_snapshot_that_refs_main_names() throws IOException {
        snapshot("models--org--name", "aaa");
        Path second = snapshot("models--org--name", "bbb");
        Path refs = Files.createDirectories(home.resolve(".cache/huggingface/hub/models--org--name/refs"));
        Files.writeString(refs.resolve("main"), "bbb\n");
        assertEquals(second, new ModelLocator(Map.of(), home).locate("org/name"));
    }

    @Test
    void the_only_snapshot_needs_no_ref() throws IOException {
        Path only = snapshot("models--gpt2", "ccc");
        assertEquals(only, new ModelLocator(Map.of(), home).locate("gpt2"));
    }

    @Test
    void the_variables_of_hugging_face_move_the_cache() throws IOException {
        Path elsewhere = Files.createDirectories(home.resolve("elsewhere/hub/models--a--b/snapshots/x"));
        String hfHome = home.resolve("elsewhere").toString();
        assertEquals(elsewhere, new ModelLocator(Map.of("HF_HOME", hfHome), home).locate("a/b"));
        assertEquals(elsewhere, new ModelLocator(Map.of("HF_HUB_CACHE", hfHome + "/hub"), home).locate("a/b"));
    }

    @Test
    void what_is_neither_is_refused_with_both_places() {
        String message = assertThrows(
                        TorchAneException.class, () -> new ModelLocator(Map.of(), home).locate("org/missing"))
                .getMessage();
        assertTrue(message.contains("'org/missing'") && message.contains("models--org--missing"), message);
    }
}
