/**
 * Owns the GraalPy environment: what is in it (the lock file), where it comes from (the wheelhouse inside this artifact
 * and the package index pip is configured to), and how it gets onto the disk. Plain Java: no Python, compiler or shell
 * takes part.
 *
 * <pre>{@code
 * Venv venv = VenvInstaller.standard().install(cacheRoot, InstallProgress.none());
 * Context.newBuilder("python").option("python.Executable", venv.executable().toString())
 *         .option("python.PythonPath", venv.sitePackages().toString())
 *         .option("python.DontWriteBytecodeFlag", "false") // compiled modules are kept for the next start
 * }</pre>
 *
 * An up-to-date environment is recognised in milliseconds, so {@code install} may be called on every start.
 */
package dev.torchane.venv;
