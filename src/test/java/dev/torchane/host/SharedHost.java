package dev.torchane.host;

import dev.torchane.build.Progress;

/** The process's host, for every test of this module: GraalPy starts once. */
final class SharedHost {

    private SharedHost() {}

    static PythonHost get() {
        return PythonHost.start(PythonSettings.locate(Progress.none()));
    }
}
