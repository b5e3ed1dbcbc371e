package dev.torchane.venv;

import java.util.Locale;

/**
 * An operating system and processor, in the words of wheel tags: {@code linux_x86_64}, {@code linux_aarch64},
 * {@code macosx_arm64}.
 */
record Platform(String tag) {

    static Platform current() {
        return of(System.getProperty("os.name"), System.getProperty("os.arch"));
    }

    static Platform of(String osName, String osArch) {
        String os = osName.toLowerCase(Locale.ROOT);
        boolean mac = os.startsWith("mac");
        String system = mac ? "macosx" : os.startsWith("windows") ? "win" : os.replace(' ', '_');
        String arch = switch (osArch.toLowerCase(Locale.ROOT)) {
            case "amd64", "x86_64" -> "x86_64";
            case "aarch64", "arm64" -> mac ? "arm64" : "aarch64";
            default -> osArch.toLowerCase(Locale.ROOT);
        };
        return new Platform(system + "_" + arch);
    }

    /** The platform a wheel was built for, from its file name: {@code …-linux_x86_64.whl}. */
    static Platform ofWheel(String file) {
        String tag = file.substring(file.lastIndexOf('-') + 1, file.length() - ".whl".length());
        return new Platform(tag.replaceFirst("^macosx_\\d+_\\d+_", "macosx_"));
    }
}
