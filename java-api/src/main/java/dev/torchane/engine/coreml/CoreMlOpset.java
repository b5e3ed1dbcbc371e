package dev.torchane.engine.coreml;

/** The operation sets that packages are written in: what the systems that load them know. */
public enum CoreMlOpset {
    /** iOS 16 and macOS 13: no states, one function, fp16 inputs. */
    IOS16("CoreML6", 7),
    /** iOS 17 and macOS 14: 8-bit and 16-bit integers inside programs. */
    IOS17("CoreML7", 8),
    /** iOS 18 and macOS 15: states, several functions, palettes in groups, scales in blocks. */
    IOS18("CoreML8", 9);

    private final String id;
    private final int specification;

    CoreMlOpset(String id, int specification) {
        this.id = id;
        this.specification = specification;
    }

    /** Name of the operation set in a program. */
    String id() {
        return id;
    }

    /** Version of the model format that brought it. */
    int specification() {
        return specification;
    }

    boolean atLeast(CoreMlOpset other) {
        return compareTo(other) >= 0;
    }
}
