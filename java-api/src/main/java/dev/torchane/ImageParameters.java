package dev.torchane;

import dev.torchane.diffusion.SchedulerKind;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/** What a picture was made with as text: the prompt, the negative prompt, and a line of names and values. */
final class ImageParameters {

    private ImageParameters() {}

    static String text(
            String prompt, ImageOptions options, SchedulerKind scheduler, long seed, ImageSize size, String model) {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("Steps", options.steps());
        values.put("Sampler", scheduler.className());
        if (options.scheduler().karrasSigmas()) {
            values.put("Schedule type", "Karras");
        }
        values.put("CFG scale", options.guidance());
        values.put("Seed", seed);
        values.put("Size", size);
        options.start().ifPresent(start -> values.put("Denoising strength", start.strength()));
        values.put("Model", model);
        String negative = options.negativePrompt().isEmpty() ? "" : "\nNegative prompt: " + options.negativePrompt();
        return prompt + negative + "\n"
                + values.entrySet().stream()
                        .map(value -> value.getKey() + ": " + value.getValue())
                        .collect(Collectors.joining(", "));
    }
}
