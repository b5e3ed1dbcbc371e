package dev.torchane.venv;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** The wheels built for GraalPy. */
interface House {

    InputStream open(Lock.Wheel wheel) throws IOException;

    /**
     * Those among the resources of this artifact, unless {@code TORCH_ANE_WHEELHOUSE} names a directory that has the
     * file (with the hash that the lock file says, all the same).
     */
    static House of(Surroundings here) {
        return wheel -> {
            Path own = Path.of(here.variable("TORCH_ANE_WHEELHOUSE").orElse("")).resolve(wheel.file());
            if (Files.exists(own)) {
                return Files.newInputStream(own);
            }
            InputStream in = House.class.getResourceAsStream("wheelhouse/" + wheel.file());
            if (in == null) {
                throw new VenvException(
                        "this build of torch-ane-venv-setup lacks wheelhouse/%s, which its lock file names: run venv-setup/build-wheels or set TORCH_ANE_WHEELHOUSE to a directory that has it"
                                .formatted(wheel.file()));
            }
            return in;
        };
    }
}
