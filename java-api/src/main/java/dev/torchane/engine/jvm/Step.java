package dev.torchane.engine.jvm;

/** One step of a plan. Immutable: what changes is in the {@link Call}. */
interface Step {
    void run(Call call);
}
