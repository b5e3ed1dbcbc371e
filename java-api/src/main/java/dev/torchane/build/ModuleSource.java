package dev.torchane.build;

import dev.torchane.TorchAneException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Where a module comes from. */
public sealed interface ModuleSource {

    /**
     * The files that decide what the module computes, in an order that does not change: for its digest.
     *
     * @throws TorchAneException when one is missing
     */
    List<Path> files();

    /** What else decides it, by name: for keys and manifests. */
    SortedMap<String, String> asText();

    /** A short name for people. */
    String title();

    /**
     * A callable that answers a {@code torch.nn.Module}, importable from a folder of the user's. <b>Building it runs that
     * code</b>, in this process and without a sandbox.
     *
     * @param folder put in front of Python's path while the module is made
     * @param callable {@code package.module:callable}
     * @param arguments keyword arguments: strings, numbers, truth values, and lists of them
     * @param weights a state dict that is loaded into the module: a safetensors file, or a {@code .bin} or {@code .pt} file that
     *     is read without running what it pickles
     * @param method of the module that is compiled: {@code forward}
     */
    record Factory(Path folder, String callable, Map<String, Object> arguments, Optional<Path> weights, String method)
            implements ModuleSource {

        public Factory {
            arguments = ordered(arguments);
            if (!callable.matches("[A-Za-z_][\\w.]*:[A-Za-z_][\\w.]*")) {
                throw new IllegalArgumentException(
                        "a factory is named package.module:callable, found '" + callable + "'");
            }
        }

        /** The same with keyword arguments. */
        public Factory withArguments(Map<String, Object> others) {
            return new Factory(folder, callable, others, weights, method);
        }

        /** The same with a state dict. */
        public Factory withWeights(Path file) {
            return new Factory(folder, callable, arguments, Optional.of(file), method);
        }

        /** The same module, another of its methods. */
        public Factory withMethod(String name) {
            return new Factory(folder, callable, arguments, weights, name);
        }

        @Override
        public List<Path> files() {
            List<Path> files = new ArrayList<>(below(folder, ".py"));
            weights.map(ModuleSource::existing).ifPresent(files::add);
            return files;
        }

        @Override
        public SortedMap<String, String> asText() {
            return text(Map.of("factory", callable, "arguments", arguments, "method", method));
        }

        @Override
        public String title() {
            return callable;
        }
    }

    /**
     * A program that {@code torch.export.save} wrote, on any machine. It is parsed, never unpickled.
     *
     * @param file such as {@code model.pt2}
     */
    record ExportedProgram(Path file) implements ModuleSource {

        @Override
        public List<Path> files() {
            return List.of(existing(file));
        }

        @Override
        public SortedMap<String, String> asText() {
            return new TreeMap<>();
        }

        @Override
        public String title() {
            return file.getFileName().toString();
        }
    }

    /**
     * A class of transformers or diffusers with a directory that {@code save_pretrained} wrote; its own code is never run.
     *
     * @param library {@code transformers} or {@code diffusers}
     * @param className such as {@code CLIPTextModel} or {@code UNet2DConditionModel}
     * @param directory with {@code config.json} and weights
     * @param method of the module that is compiled: {@code forward}, or such as {@code decode} of {@code AutoencoderKL}
     * @param arguments fixed keyword arguments of the method: strings, numbers, truth values, and lists of them
     */
    record Pretrained(String library, String className, Path directory, String method, Map<String, Object> arguments)
            implements ModuleSource {

        public Pretrained {
            arguments = ordered(arguments);
            if (!library.equals("transformers") && !library.equals("diffusers")) {
                throw new IllegalArgumentException(
                        "a class comes from transformers or diffusers, not from '" + library + "'");
            }
            if (!className.matches("[A-Za-z_]\\w*")) {
                throw new IllegalArgumentException("'" + className + "' is no name of a class");
            }
        }

        /** The same module, another of its methods. */
        public Pretrained withMethod(String name) {
            return new Pretrained(library, className, directory, name, arguments);
        }

        /** The same with fixed arguments of its method. */
        public Pretrained withArguments(Map<String, Object> others) {
            return new Pretrained(library, className, directory, method, others);
        }

        @Override
        public List<Path> files() {
            List<Path> files = new ArrayList<>(List.of(existing(directory.resolve("config.json"))));
            files.addAll(below(directory, ".safetensors", ".bin"));
            return files;
        }

        @Override
        public SortedMap<String, String> asText() {
            return text(Map.of("class", library + "." + className, "method", method, "arguments", arguments));
        }

        @Override
        public String title() {
            return className + " of " + directory.getFileName();
        }
    }

    /** {@code package.module:callable} from a folder; building runs that code. */
    static Factory factory(Path folder, String callable) {
        return new Factory(folder, callable, Map.of(), Optional.empty(), "forward");
    }

    /** A file of {@code torch.export.save}. */
    static ExportedProgram exported(Path file) {
        return new ExportedProgram(file);
    }

    /** A class of transformers with a directory. */
    static Pretrained transformers(String className, Path directory) {
        return new Pretrained("transformers", className, directory, "forward", Map.of());
    }

    /** A class of diffusers with a directory. */
    static Pretrained diffusers(String className, Path directory) {
        return new Pretrained("diffusers", className, directory, "forward", Map.of());
    }

    private static SortedMap<String, String> text(Map<String, Object> values) {
        SortedMap<String, String> text = new TreeMap<>();
        values.forEach((key, value) -> text.put(key, value.toString()));
        return text;
    }

    private static Map<String, Object> ordered(Map<String, Object> arguments) {
        arguments.forEach(ModuleSource::requirePlain);
        return Collections.unmodifiableMap(new LinkedHashMap<>(new TreeMap<>(arguments)));
    }

    private static void requirePlain(String name, Object value) {
        switch (value) {
            case String _, Number _, Boolean _ -> {}
            case List<?> list -> list.forEach(each -> requirePlain(name, each));
            case null, default ->
                throw new IllegalArgumentException("argument '" + name
                        + "' must be a string, a number, a truth value or a list of these, found " + value);
        }
    }

    private static Path existing(Path file) {
        if (!Files.isRegularFile(file)) {
            throw new TorchAneException("there is no file " + file);
        }
        return file;
    }

    private static List<Path> below(Path folder, String... endings) {
        if (!Files.isDirectory(folder)) {
            throw new TorchAneException("there is no directory " + folder);
        }
        try (Stream<Path> tree = Files.walk(folder)) {
            return tree.filter(file -> Stream.of(endings).anyMatch(file.toString()::endsWith))
                    .filter(Files::isRegularFile)
                    .sorted()
                    .toList();
        } catch (IOException failure) {
            throw new TorchAneException("cannot read " + folder + ": " + failure, failure);
        }
    }
}
