/**
 * Owns the GraalPy environment: what is in it (the lock file), where it comes from (the wheelhouse inside this artifact
 * and the package index pip is configured to), and how it gets onto the disk. Plain Java: no Python, compiler or shell
 * takes part.
 *
 * <pre>{@code
 * Venv venv = VenvInstaller.standard().install(VenvInstaller.defaultCacheRoot(), InstallProgress.none());
 * Context context = Context.newBuilder("python").options(venv.contextOptions())....build();
 * }</pre>
 *
 * An up-to-date environment is recognised in milliseconds, so {@code install} may be called on every start.
 */
package dev.torchane.venv;
