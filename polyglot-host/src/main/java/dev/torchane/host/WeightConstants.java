package dev.torchane.host;

import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.Value;

/** Puts weights into functions by their names. */
interface WeightConstants {

    /** The name that a weight is known under: another one for a tied head. */
    String resolve(String name);

    /** Adds a weight to a function, as the function's precision sees it. */
    Value emit(String name, FunctionBuilder function);
}
