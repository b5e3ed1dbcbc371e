package dev.torchane.build;

import java.util.Locale;

/** How the linear layers' weights are stored in a bundle. */
public enum WeightEncoding {
    /** As the checkpoint's values in fp32. */
    FP32,
    /** Rounded to fp16. */
    FP16,
    /** int8 with one fp32 scale per output channel, symmetric. */
    INT8;

    /** Lower-case name, as in manifests and on the command line. */
    public String id() {
        return name().toLowerCase(Locale.ROOT);
    }
}
