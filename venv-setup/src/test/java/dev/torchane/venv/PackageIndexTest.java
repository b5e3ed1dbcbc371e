package dev.torchane.venv;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The pages of an index, and the index that GraalPy's own pip falls back to. */
class PackageIndexTest {

    private static final URI PAGE = URI.create("http://host/root/simple/some-name/");

    @Test
    void relativeAddressesAreResolvedAgainstThePage() {
        var links = PackageIndex.html("<a href='../../files/a-1.whl#sha256=00'>a-1.whl</a>", PAGE);

        assertEquals(Map.of("a-1.whl", URI.create("http://host/root/files/a-1.whl#sha256=00")), links);
    }

    @Test
    void theBaseOfAPageCounts() {
        var links = PackageIndex.html("<base href=\"http://other/x/\"><a href=\"a-1.whl\">a</a>", PAGE);

        assertEquals(Map.of("a-1.whl", URI.create("http://other/x/a-1.whl")), links);
    }

    @Test
    void attributesAndEscapesOfAnchorsAreUnderstood() {
        var links = PackageIndex.html(
                "<A data-requires-python=\"&gt;=3.9\"\n HREF=\"/f/a-1%2Bcpu.whl?x=1&amp;y=2\">a</A>", PAGE);

        assertEquals(Map.of("a-1+cpu.whl", URI.create("http://host/f/a-1%2Bcpu.whl?x=1&y=2")), links);
    }

    @Test
    void jsonPagesNameTheirFiles() throws IOException {
        var links = PackageIndex.json(
                "{\"files\": [{\"filename\": \"a-1.whl\", \"url\": \"../a/b\", \"hashes\": {}}]}", PAGE);

        assertEquals(Map.of("a-1.whl", URI.create("http://host/root/simple/a/b")), links);
    }

    @Test
    void namesAreNormalized() {
        assertEquals("huggingface-hub", PackageIndex.normalized("Huggingface._Hub"));
    }

    @Test
    void theDefaultIndexIsReadOutOfThePipThatGraalPyCarries() {
        String index = BundledPip.defaultIndex(getClass().getClassLoader());

        assertTrue(index.matches("https://[a-z.]+/simple/"), index);
    }

    @Test
    void requirementsOfExtrasAreNotRequirements() {
        assertEquals(List.of("huggingface-hub", "numpy", "sympy", "typing-extensions"), Relock.requirements("""
                        Name: x
                        Requires-Dist: huggingface_hub<3.0,>=1.31.0
                        Requires-Dist: numpy
                        Requires-Dist: sympy (==1.13.1) ; python_version >= "3.9"
                        Requires-Dist: typing-extensions[more]>=4
                        Requires-Dist: ruff ; extra == 'dev'

                        Requires-Dist: part of the description
                        """));
    }
}
