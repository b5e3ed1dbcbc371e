package dev.torchane.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.CausalLM;
import dev.torchane.CausalLMOptions;
import dev.torchane.testing.TinyModel;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** A process that generates for long needs no more memory, and writes what a fresh one writes. */
@Tag("full")
@EnabledOnOs(value = OS.LINUX, disabledReason = "reads the process's memory from /proc")
class SoakTest {

    private static final int ENOUGH = 200_000;
    private static final long GROWTH_KILOBYTES = 16 << 10;

    @Test
    void twoHundredThousandTokensInOneProcess(@TempDir Path folder) throws Exception {
        Path model = TinyModel.of(TinyModel.Architecture.LLAMA, 5).writeHuggingFace(folder.resolve("checkpoint"));
        Path bundle = CausalLM.build(
                model, CausalLMOptions.builder().cache(folder.resolve("cache")).build());

        Map<String, String> longRun = soak(bundle, ENOUGH);
        assertTrue(Long.parseLong(longRun.get("tokens")) >= ENOUGH, longRun.toString());
        long grown = Long.parseLong(longRun.get("resident")) - Long.parseLong(longRun.get("settled"));
        assertTrue(grown < GROWTH_KILOBYTES, "grew by " + grown + " kB: " + longRun);
        assertEquals(soak(bundle, 1).get("ids"), longRun.get("ids"));
    }

    private static Map<String, String> soak(Path bundle, int tokens) throws Exception {
        // a heap that does not resize itself, so that growth of the process is growth of what it holds
        List<String> flags = List.of("-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch");
        JavaProcess run = JavaProcess.run(
                JavaProcess.classPath(entry -> true), flags, Soak.class.getName(), bundle.toString(), "" + tokens);
        assertEquals(0, run.exitCode(), run.err());
        return run.out()
                .lines()
                .map(line -> line.split(" ", 2))
                .collect(Collectors.toMap(words -> words[0], words -> words[1]));
    }
}
