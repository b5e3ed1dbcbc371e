package dev.torchane.engine.coreai;

import dev.torchane.program.DType;
import java.util.List;
import java.util.Map;

/** Products of matrices. */
final class LinearEmitters {

    private LinearEmitters() {}

    static void register(Map<String, Emitter> table) {
        table.put("linear", one(LinearEmitters::linear));
        table.put("matmul", one(LinearEmitters::matmul));
        table.put("einsum", one(LinearEmitters::einsum));
        table.put("scaled_dot_product_attention", one(LinearEmitters::attention));
    }

    private static Emitter one(Emitter.One emitter) {
        return emitter;
    }

    private static Ref linear(OperationCall call) {
        Ir ir = call.ir();
        Ref x = call.in("x");
        Ref rows = x.rank() == 1 ? ir.reshape(x, List.of(1, x.type().axis(0))) : x;
        Ref product = ir.matmul(rows, ir.swapped(call.in("weight")));
        Ref result = ir.reshape(product, call.type().shape());
        return call.has("bias") ? ir.add(result, call.in("bias")) : result;
    }

    private static Ref matmul(OperationCall call) {
        Ir ir = call.ir();
        Ref x = call.in("x");
        Ref y = call.in("y");
        Ref left = x.rank() == 1
                ? ir.reshape(x, List.of(1, x.type().axis(0)))
                : call.flag("transpose_x") ? ir.swapped(x) : x;
        Ref right = y.rank() == 1
                ? ir.reshape(y, List.of(y.type().axis(0), 1))
                : call.flag("transpose_y") ? ir.swapped(y) : y;
        return ir.reshape(ir.matmul(left, right), call.type().shape());
    }

    /** {@code nchw,nwhu->nchu} and {@code chw,whr->chr}, each as a product for each h. */
    private static Ref einsum(OperationCall call) {
        Ir ir = call.ir();
        Ref x = call.all("values").getFirst();
        Ref y = call.all("values").getLast();
        List<Integer> byHeight = x.rank() == 4 ? List.of(0, 2, 1, 3) : List.of(1, 0, 2);
        return ir.transpose(ir.matmul(ir.transpose(x, byHeight), ir.transpose(y, byHeight)), byHeight);
    }

    private static Ref attention(OperationCall call) {
        Ir ir = call.ir();
        Ref query = call.in("query");
        double scale = 1 / Math.sqrt(query.type().axis(-1));
        Ref scores = ir.matmul(ir.binary("mul", query, scale), ir.swapped(call.in("key")));
        if (call.has("attn_mask")) {
            Ref mask = call.in("attn_mask");
            if (mask.dtype() == DType.BOOL) {
                mask = ir.where(mask, ir.scalar(query.dtype(), 0), ir.scalar(query.dtype(), Double.NEGATIVE_INFINITY));
            }
            scores = ir.add(scores, mask);
        }
        Ref weights = ir.op("softmax", scores.type(), scores, ir.scalar(DType.INT32, scores.rank() - 1));
        return ir.matmul(weights, call.in("value"));
    }
}
