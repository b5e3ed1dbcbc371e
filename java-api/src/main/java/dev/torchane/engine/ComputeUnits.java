package dev.torchane.engine;

/** The hardware a program should run on; an engine that has no choice ignores it. */
public enum ComputeUnits {
    ANE,
    GPU,
    CPU,
    ALL;

    /**
     * The hardware where nobody chooses any: {@code -Dtorchane.units} (ane, gpu, cpu, all), or {@link #ALL}.
     *
     * @throws IllegalArgumentException when the property names none of them
     */
    public static ComputeUnits byDefault() {
        String name = System.getProperty("torchane.units", "all");
        for (ComputeUnits units : values()) {
            if (units.name().equalsIgnoreCase(name)) {
                return units;
            }
        }
        throw new IllegalArgumentException("-Dtorchane.units must be ane, gpu, cpu or all, found '" + name + "'");
    }
}
