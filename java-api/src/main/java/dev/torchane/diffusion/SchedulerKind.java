package dev.torchane.diffusion;

/** The schedulers that are supported. */
public enum SchedulerKind {
    /** DPM-Solver++ as a multistep method (Lu et al., 2022): good pictures in 15 to 25 steps. */
    DPM_SOLVER_MULTISTEP("DPMSolverMultistepScheduler"),
    /** Euler's method over the sigmas of Karras et al. (2022). */
    EULER("EulerDiscreteScheduler"),
    /** Pseudo numerical methods (Liu et al., 2022), with one call more than steps or, with its Runge-Kutta steps, nine. */
    PNDM("PNDMScheduler"),
    /** Denoising diffusion implicit models (Song et al., 2020), deterministic. */
    DDIM("DDIMScheduler");

    private final String className;

    SchedulerKind(String className) {
        this.className = className;
    }

    /** The name of the class in diffusers, as {@code scheduler_config.json} has it. */
    public String className() {
        return className;
    }
}
