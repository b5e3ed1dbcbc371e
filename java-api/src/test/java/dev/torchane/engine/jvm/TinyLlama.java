package dev.torchane.engine.jvm;

import dev.torchane.engine.EngineOptions;
import dev.torchane.engine.LoadedProgram;
import dev.torchane.engine.Tensor;
import dev.torchane.program.DType;
import dev.torchane.program.Function;
import dev.torchane.program.FunctionBuilder;
import dev.torchane.program.Program;
import dev.torchane.program.ProgramBuilder;
import dev.torchane.program.TensorType;
import dev.torchane.program.Value;
import dev.torchane.testing.LlamaFunctions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** A small random language model: as a program in the form of docs/architecture.md, and as formulas in fp64. */
final class TinyLlama {

    static final int LAYERS = 2;
    static final int HIDDEN = 48;
    static final int HEADS = 4;
    static final int KV = 2;
    static final int DIM = 16;
    static final int MLP = 80;
    static final int VOCAB = 70;
    static final int M = 40;
    static final double EPSILON = 1e-5;

    static final Map<String, Integer> ROW_AXES = Map.of("emb", 1, "cos", 1, "sin", 1, "mask", 2, "pick", 1);

    private final TestWeights weights = new TestWeights();
    private final Map<String, float[]> matrices = new HashMap<>();
    private final Program program;

    TinyLlama(DType stateType) {
        Random random = new Random(7);
        for (int layer = 0; layer < LAYERS; layer++) {
            random(random, layer + "q", HEADS * DIM * HIDDEN, 0.3);
            random(random, layer + "k", KV * DIM * HIDDEN, 0.3);
            random(random, layer + "v", KV * DIM * HIDDEN, 0.3);
            random(random, layer + "o", HIDDEN * HEADS * DIM, 0.2);
            random(random, layer + "gate", MLP * HIDDEN, 0.2);
            random(random, layer + "up", MLP * HIDDEN, 0.2);
            random(random, layer + "down", HIDDEN * MLP, 0.2);
            random(random, layer + "n1", HIDDEN, 1);
            random(random, layer + "n2", HIDDEN, 1);
            random(random, layer + "bias", KV * DIM, 1);
        }
        random(random, "norm", HIDDEN, 1);
        random(random, "head", VOCAB * HIDDEN, 0.3);
        LlamaFunctions functions = functions(stateType);
        ProgramBuilder builder = ProgramBuilder.create();
        functions.window(builder, "prefill", 16, M);
        functions.window(builder, "decode", 8, M);
        program = builder.build();
    }

    private void random(Random random, String name, int size, double spread) {
        float[] values = new float[size];
        for (int i = 0; i < size; i++) {
            values[i] = (float) (random.nextGaussian() * spread);
        }
        matrices.put(name, values);
    }

    Program program() {
        return program;
    }

    LoadedProgram load(EngineOptions options) {
        return JvmEngine.load(program, ROW_AXES, weights, options);
    }

    /** The function of windows whose rows belong to streams of their own. */
    static Function batchFunction() {
        ProgramBuilder builder = ProgramBuilder.create();
        new TinyLlama(DType.FP32).functions(DType.FP32).batch(builder, "batch", 8, M);
        return builder.build().function("batch");
    }

    private LlamaFunctions functions(DType stateType) {
        return new LlamaFunctions(LAYERS, HIDDEN, HEADS, KV, DIM, MLP, VOCAB, EPSILON, stateType, this::weight);
    }

    private Value weight(FunctionBuilder f, String name, int... shape) {
        float[] values = matrices.get(name);
        return switch (name.substring(Character.isDigit(name.charAt(0)) ? 1 : 0)) {
            case "q", "o", "gate", "up", "down", "head" -> weights.int8(f, "w" + name, values, shape[0], shape[1]);
            case "k" -> weights.fp16(f, "w" + name, values, shape[0], shape[1]);
            default -> weights.fp32(f, "w" + name, values, shape);
        };
    }

    /** Inputs for tokens of a sequence at positions {@code [start, start + rows)}; the logits of {@code pick} are wanted. */
    static Map<String, Tensor> inputs(float[][] tokens, int start, int rows, int pick) {
        Tensor emb = Tensor.allocate(TensorType.of(DType.FP32, 1, rows, HIDDEN));
        Tensor cos = Tensor.allocate(TensorType.of(DType.FP32, 1, rows, DIM));
        Tensor sin = Tensor.allocate(TensorType.of(DType.FP32, 1, rows, DIM));
        Tensor mask = Tensor.allocate(TensorType.of(DType.FP32, 1, 1, rows, M));
        Tensor one = Tensor.allocate(TensorType.of(DType.FP32, 1, rows));
        for (int row = 0; row < rows; row++) {
            int position = start + row;
            for (int i = 0; i < HIDDEN && position < tokens.length; i++) {
                emb.set(row * HIDDEN + i, tokens[position][i]);
            }
            for (int i = 0; i < DIM; i++) {
                cos.set(row * DIM + i, (float) Math.cos(angle(position, i)));
                sin.set(row * DIM + i, (float) Math.sin(angle(position, i)));
            }
            for (int c = 0; c < M; c++) {
                mask.set(row * M + c, c <= position ? 0 : -40000);
            }
        }
        one.set(pick, 1);
        Map<String, Tensor> inputs = new HashMap<>();
        inputs.put("emb", emb);
        inputs.put("cos", cos);
        inputs.put("sin", sin);
        inputs.put("mask", mask);
        inputs.put("pick", one);
        inputs.put("step", Tensor.of(TensorType.of(DType.INT32, 1), start));
        return inputs;
    }

    private static double angle(int position, int i) {
        return position * Math.pow(10000, -2.0 * (i % (DIM / 2)) / DIM);
    }

    static float[][] tokens(int count) {
        Random random = new Random(3);
        float[][] tokens = new float[count][HIDDEN];
        for (float[] token : tokens) {
            for (int i = 0; i < HIDDEN; i++) {
                token[i] = (float) random.nextGaussian();
            }
        }
        return tokens;
    }

    /** Logits after the last of some tokens, in fp64. */
    double[] reference(float[][] tokens) {
        int count = tokens.length;
        double[][] x = new double[count][];
        for (int t = 0; t < count; t++) {
            x[t] = new double[HIDDEN];
            for (int i = 0; i < HIDDEN; i++) {
                x[t][i] = tokens[t][i];
            }
        }
        for (int layer = 0; layer < LAYERS; layer++) {
            List<double[]> keys = new ArrayList<>();
            List<double[]> values = new ArrayList<>();
            for (int t = 0; t < count; t++) {
                double[] n = norm(x[t], matrices.get(layer + "n1"));
                double[] q = rotate(product(matrices.get(layer + "q"), n), t);
                double[] k = product(matrices.get(layer + "k"), n);
                for (int i = 0; i < k.length; i++) {
                    k[i] += matrices.get(layer + "bias")[i];
                }
                keys.add(rotate(k, t));
                values.add(product(matrices.get(layer + "v"), n));
                x[t] = sum(x[t], product(matrices.get(layer + "o"), attend(q, keys, values)));
                n = norm(x[t], matrices.get(layer + "n2"));
                double[] gate = product(matrices.get(layer + "gate"), n);
                double[] up = product(matrices.get(layer + "up"), n);
                for (int i = 0; i < MLP; i++) {
                    up[i] *= gate[i] / (1 + Math.exp(-gate[i]));
                }
                x[t] = sum(x[t], product(matrices.get(layer + "down"), up));
            }
        }
        return product(matrices.get("head"), norm(x[count - 1], matrices.get("norm")));
    }

    private static double[] attend(double[] q, List<double[]> keys, List<double[]> values) {
        double[] out = new double[HEADS * DIM];
        for (int head = 0; head < HEADS; head++) {
            int from = head / (HEADS / KV) * DIM;
            double[] scores = new double[keys.size()];
            double total = 0;
            for (int c = 0; c < scores.length; c++) {
                for (int d = 0; d < DIM; d++) {
                    scores[c] += 0.25 * q[head * DIM + d] * keys.get(c)[from + d];
                }
                scores[c] = Math.exp(scores[c]);
                total += scores[c];
            }
            for (int c = 0; c < scores.length; c++) {
                for (int d = 0; d < DIM; d++) {
                    out[head * DIM + d] += scores[c] / total * values.get(c)[from + d];
                }
            }
        }
        return out;
    }

    private static double[] rotate(double[] x, int position) {
        double[] out = new double[x.length];
        for (int i = 0; i < x.length; i++) {
            int d = i % DIM;
            double other = d < DIM / 2 ? -x[i + DIM / 2] : x[i - DIM / 2];
            out[i] = x[i] * Math.cos(angle(position, d)) + other * Math.sin(angle(position, d));
        }
        return out;
    }

    private static double[] norm(double[] x, float[] weight) {
        double sum = 0;
        for (double value : x) {
            sum += value * value;
        }
        double factor = 1 / Math.sqrt(sum / x.length + EPSILON);
        double[] out = new double[x.length];
        for (int i = 0; i < x.length; i++) {
            out[i] = x[i] * factor * weight[i];
        }
        return out;
    }

    private static double[] product(float[] matrix, double[] x) {
        double[] out = new double[matrix.length / x.length];
        for (int n = 0; n < out.length; n++) {
            for (int k = 0; k < x.length; k++) {
                out[n] += matrix[n * x.length + k] * x[k];
            }
        }
        return out;
    }

    private static double[] sum(double[] a, double[] b) {
        double[] out = new double[a.length];
        for (int i = 0; i < a.length; i++) {
            out[i] = a[i] + b[i];
        }
        return out;
    }
}
