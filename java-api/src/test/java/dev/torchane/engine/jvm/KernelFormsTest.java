package dev.torchane.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import jdk.incubator.vector.FloatVector;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Scalar kernels and vector kernels of every width give the same bits. */
class KernelFormsTest {

    @ParameterizedTest
    @ValueSource(ints = {128, 256, 512})
    void vectorKernelsGiveTheBitsOfTheirScalarTwins(int width) throws Exception {
        assumeTrue(
                FloatVector.SPECIES_PREFERRED.vectorBitSize() >= width,
                "this processor has no vectors of " + width + " bits");
        assertArrayEquals(KernelProbe.run(false), vector(width));
    }

    /** The width is fixed when the kernels' classes are loaded, so each width gets its own copy of them. */
    private static byte[] vector(int width) throws Exception {
        List<URL> urls = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            urls.add(new File(entry).toURI().toURL());
        }
        String before = System.getProperty(VectorForms.BITS_PROPERTY);
        System.setProperty(VectorForms.BITS_PROPERTY, "" + width);
        try (URLClassLoader loader =
                new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            return (byte[]) loader.loadClass(KernelProbe.class.getName())
                    .getMethod("run", boolean.class)
                    .invoke(null, true);
        } finally {
            if (before == null) {
                System.clearProperty(VectorForms.BITS_PROPERTY);
            } else {
                System.setProperty(VectorForms.BITS_PROPERTY, before);
            }
        }
    }
}
