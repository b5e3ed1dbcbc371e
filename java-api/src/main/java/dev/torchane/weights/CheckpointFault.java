package dev.torchane.weights;

import java.nio.file.Path;
import java.util.List;

/** Everything that can be wrong with a checkpoint. Each case says what is wrong with the file, not with the reader. */
public sealed interface CheckpointFault {

    /** For people: the file, what was found, what was expected, what to do. */
    String message();

    /** The path holds no checkpoint. */
    record NotACheckpoint(Path path, String found) implements CheckpointFault {
        @Override
        public String message() {
            return path + " is not a checkpoint: " + found
                    + "; expected a Hugging Face directory (config.json and *.safetensors), a .safetensors file or a .gguf file";
        }
    }

    /** A file of the checkpoint cannot be read. */
    record Unreadable(Path file, String reason) implements CheckpointFault {
        @Override
        public String message() {
            return file + " cannot be read: " + reason;
        }
    }

    /** A file is of another kind than its name or place says. */
    record WrongFormat(Path file, String expected, String found) implements CheckpointFault {
        @Override
        public String message() {
            return file + " is not a " + expected + " file: " + found;
        }
    }

    /** A version or variant of a format that is not read. */
    record UnsupportedVariant(Path file, String found, String remedy) implements CheckpointFault {
        @Override
        public String message() {
            return file + " is " + found + ", which is not supported: " + remedy;
        }
    }

    /** A header that is longer than its file. */
    record HeaderBeyondFile(Path file, String headerBytes, long fileBytes) implements CheckpointFault {
        @Override
        public String message() {
            return file + " is cut short: the header says " + headerBytes + " bytes, the file has " + fileBytes
                    + "; incomplete download?";
        }
    }

    /** A header above the limit. */
    record HeaderTooLarge(Path file, long headerBytes, long limit) implements CheckpointFault {
        @Override
        public String message() {
            return file + " has a header of " + headerBytes + " bytes; the limit is " + limit;
        }
    }

    /** The file ends before what its header describes. */
    record Truncated(Path file, String what, long expectedBytes, long fileBytes) implements CheckpointFault {
        @Override
        public String message() {
            return file + " is cut short: " + what + " needs " + expectedBytes + " bytes, the file has " + fileBytes
                    + "; incomplete download?";
        }
    }

    /** Bytes that no tensor covers. */
    record Uncovered(Path file, String where, long bytes) implements CheckpointFault {
        @Override
        public String message() {
            return file + " has " + bytes + " bytes that belong to no tensor, " + where;
        }
    }

    /** A header that breaks its format's rules. */
    record BadHeader(Path file, String reason) implements CheckpointFault {
        @Override
        public String message() {
            return file + " has a malformed header: " + reason;
        }
    }

    /** One tensor's description is impossible. */
    record BadTensor(Path file, String tensor, String reason) implements CheckpointFault {
        @Override
        public String message() {
            return file + ": tensor '" + tensor + "' " + reason;
        }
    }

    /** A tensor of a type whose values cannot be read. */
    record UnsupportedType(Path file, String tensor, String type, String remedy) implements CheckpointFault {
        @Override
        public String message() {
            return file + ": tensor '" + tensor + "' has type " + type + ", which is not supported: " + remedy;
        }
    }

    /** The index names files that are not there. */
    record MissingShards(Path index, List<String> missing, int total) implements CheckpointFault {
        public MissingShards {
            missing = List.copyOf(missing);
        }

        @Override
        public String message() {
            return index + " names " + total + " files, of which " + missing.size() + " are missing: "
                    + String.join(", ", missing) + "; incomplete download?";
        }
    }

    /** A tensor that the model needs is not in the checkpoint. */
    record MissingTensor(Path path, String tensor, String reason) implements CheckpointFault {
        @Override
        public String message() {
            return path + " has no tensor '" + tensor + "': " + reason;
        }
    }

    /** The checkpoint holds no tensors at all. */
    record NoWeights(Path path) implements CheckpointFault {
        @Override
        public String message() {
            return path + ": checkpoint has no weights";
        }
    }

    /** The configuration, or the metadata it would be made from, is missing or contradicts itself. */
    record BadConfig(Path file, String key, String reason) implements CheckpointFault {
        @Override
        public String message() {
            return file + ": '" + key + "' " + reason;
        }
    }

    /** The exception that carries this fault. */
    default CheckpointException exception() {
        return new CheckpointException(this);
    }

    /** The exception that carries this fault, with what was caught. */
    default CheckpointException exception(Throwable cause) {
        return new CheckpointException(this, cause);
    }
}
