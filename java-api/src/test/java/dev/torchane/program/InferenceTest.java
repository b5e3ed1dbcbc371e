package dev.torchane.program;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.torchane.TorchAneException;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What every operation gives and refuses, as MIL statements: {@code inputs | results = call}, or
 * {@code inputs | call | part of the refusal}. {@code f[2, 3]} stands for {@code tensor<fp32, [2, 3]>}; h is fp16, i int32,
 * b bool, c int8, u uint8, q uint4, p uint1.
 */
class InferenceTest {

    private static final String ACCEPTED = """
            f[2,3] x, f[3] y | f[2,3] r = add(x = x, y = y)
            f[2,1,3] x, f[4,1] y | f[2,4,3] r = sub(x = x, y = y)
            i[2] x, i[2] y | i[2] r = mul(x = x, y = y)
            h[2] x | h[2] r = real_div(x = x, y = fp16(2))
            i[2] x | i[2] r = floor_div(x = x, y = int32(2))
            i[2] x | i[2] r = mod(x = x, y = int32(2))
            f[2] x | f[2] r = pow(x = x, y = fp32(2))
            f[2] x | f[2] r = maximum(x = x, y = fp32(0))
            f[2] x | f[2] r = minimum(x = x, y = fp32(0))
            f[2,3] x, f[3] y | b[2,3] r = equal(x = x, y = y)
            i[2] x | b[2] r = not_equal(x = x, y = x)
            i[2] x | b[2] r = less(x = x, y = x)
            i[2] x | b[2] r = less_equal(x = x, y = x)
            i[2] x | b[2] r = greater(x = x, y = int32(1))
            i[2] x | b[2] r = greater_equal(x = x, y = x)
            b[2,1] x, b[3] y | b[2,3] r = logical_and(x = x, y = y)
            b[2] x | b[2] r = logical_or(x = x, y = x)
            b[2] x | b[2] r = logical_xor(x = x, y = x)
            b[2] x | b[2] r = logical_not(x = x)
            b[2,1] c, f[3] a | f[2,3] r = select(cond = c, a = a, b = fp32(0))
            f[2] x | h[2] r = cast(x = x, dtype = string("fp16"))
            i[2] x | b[2] r = cast(x = x, dtype = string("bool"))
            i[2,3] x | i[2,3] r = abs(x = x)
            i[2,3] x | i[2,3] r = sign(x = x)
            i[2,3] x | i[2,3] r = square(x = x)
            b[2,3] x | b[2,3] r = identity(x = x)
            f[2] x | f[2] r = ceil(x = x)
            f[2] x | f[2] r = floor(x = x)
            f[2] x | f[2] r = round(x = x)
            f[2] x | f[2] r = acos(x = x)
            f[2] x | f[2] r = asin(x = x)
            f[2] x | f[2] r = atan(x = x)
            f[2] x | f[2] r = atanh(x = x)
            f[2] x | f[2] r = cos(x = x)
            f[2] x | f[2] r = cosh(x = x)
            f[2] x | f[2] r = erf(x = x)
            f[2] x | f[2] r = exp(x = x)
            f[2] x | f[2] r = exp2(x = x)
            f[2] x | f[2] r = relu(x = x)
            f[2] x | f[2] r = relu6(x = x)
            f[2] x | f[2] r = sigmoid(x = x)
            f[2] x | f[2] r = silu(x = x)
            f[2] x | f[2] r = sin(x = x)
            f[2] x | f[2] r = sinh(x = x)
            f[2] x | f[2] r = softplus(x = x)
            f[2] x | f[2] r = softsign(x = x)
            f[2] x | f[2] r = sqrt(x = x)
            f[2] x | f[2] r = tan(x = x)
            f[2] x | f[2] r = tanh(x = x)
            f[2] x | f[2] r = clip(x = x, alpha = fp32(0), beta = fp32(1))
            f[2] x | f[2] r = threshold(x = x, alpha = fp32(0))
            f[2] x | f[2] r = inverse(x = x)
            f[2] x | f[2] r = rsqrt(x = x, epsilon = fp32(1e-5))
            f[2] x | f[2] r = log(x = x)
            f[2] x | f[2] r = leaky_relu(x = x, alpha = fp32(0.1))
            f[2] x | f[2] r = elu(x = x)
            f[2] x | f[2] r = sigmoid_hard(x = x)
            f[2] x | f[2] r = scaled_tanh(x = x)
            f[2] x | f[2] r = linear_activation(x = x)
            f[2] x | f[2] r = gelu(x = x, mode = string("TANH_APPROXIMATION"))
            f[1,2,3] x | f[1,2,3] r = prelu(x = x, alpha = f[2]([0, 1]))
            f[2,3,4] x | f[2,1,4] r = reduce_mean(x = x, axes = i[1]([1]), keep_dims = bool(true))
            f[2,3,4] x | f[3] r = reduce_sum(x = x, axes = i[2]([0, -1]), keep_dims = bool(false))
            f[2,3,4] x | fp32 r = reduce_max(x = x)
            i[2,3] x | i[2] r = reduce_min(x = x, axes = i[1]([-1]))
            f[2,3] x | f[2] r = reduce_prod(x = x, axes = i[1]([-1]))
            f[2,3] x | f[2] r = reduce_sum_square(x = x, axes = i[1]([-1]))
            f[2,3] x | f[2] r = reduce_log_sum_exp(x = x, axes = i[1]([-1]))
            f[2,3] x | f[2] r = reduce_log_sum(x = x, axes = i[1]([-1]))
            f[2,3] x | f[2] r = reduce_l1_norm(x = x, axes = i[1]([-1]))
            f[2,3] x | f[2] r = reduce_l2_norm(x = x, axes = i[1]([-1]))
            f[2,3] x | i[2] r = reduce_argmax(x = x, axis = int32(1))
            f[2,3] x | tensor<uint16, [1,3]> r = reduce_argmin(x = x, axis = int32(0), keep_dims = bool(true), output_dtype = string("uint16"))
            f[2,3] x | f[2,3] r = softmax(x = x, axis = int32(-1))
            f[2,3,4] x | f[2,3,4] r = layer_norm(x = x, axes = i[2]([1, 2]), gamma = f[1,4]([[0,0,0,0]])) ! 'gamma' of type tensor<fp32, [3, 4]>
            f[2,2,2] x | f[2,2,2] r = layer_norm(x = x, axes = i[1]([-1]), gamma = f[2]([1, 2]), beta = f[2]([1, 2]), epsilon = fp32(1e-5))
            f[2,2,3] x | f[2,2,3] r = layer_norm(x = x, axes = i[2]([-1, 1]), gamma = f[2,3]([[1,2,3],[4,5,6]]))
            f[1,2,4] x | f[1,2,4] r = instance_norm(x = x, gamma = f[2]([1, 2]), beta = f[2]([1, 2]))
            f[1,2,4] x | f[1,2,4] r = batch_norm(x = x, mean = f[2]([1, 2]), variance = f[2]([1, 2]))
            f[1,2,4] x | f[1,2,4] r = l2_norm(x = x)
            f[1,2,4] x | f[1,2,4] r = local_response_norm(x = x, size = int32(3))
            f[2,3] x | f[2,3] r = cumsum(x = x, axis = int32(1), reverse = bool(true))
            f[1,8,64] x, f[32,64] w, f[32] b | f[1,8,32] r = linear(x = x, weight = w, bias = b)
            f[2,3] x, f[3,4] y | f[2,4] r = matmul(x = x, y = y)
            f[5,1,2,3] x, f[4,6,3] y | f[5,4,2,6] r = matmul(x = x, y = y, transpose_y = bool(true))
            f[3,2] x, f[3,4] y | f[2,4] r = matmul(x = x, y = y, transpose_x = bool(true))
            f[3] x, f[3,4] y | f[4] r = matmul(x = x, y = y)
            f[2,3] x, f[3] y | f[2] r = matmul(x = x, y = y)
            f[1,2,3,4] x, f[1,4,3,5] y | f[1,2,3,5] r = einsum(values = (x, y), equation = string("nchw,nwhu->nchu"))
            f[2,3,4] x, f[4,3,5] y | f[2,3,5] r = einsum(values = (x, y), equation = string("abc,cbd->abd"))
            f[1,4,8,16] q, f[1,4,32,16] k, f[1,4,32,24] v, f[8,32] m | f[1,4,8,24] r = scaled_dot_product_attention(query = q, key = k, value = v, attn_mask = m)
            f[2,3,4] x | f[6,4] r = reshape(x = x, shape = i[2]([-1, 4]))
            f[2,50] x | f[1,1,2,50] r = reshape(x = x, shape = i[4]([1, 0, -1, 0]))
            f[2,3,4] x | f[4,2,3] r = transpose(x = x, perm = i[3]([-1, 0, 1]))
            f[2,3] x | f[1,2,3,1] r = expand_dims(x = x, axes = i[2]([0, -1]))
            f[1,2,1] x | f[2] r = squeeze(x = x)
            f[1,2,1] x | f[1,2] r = squeeze(x = x, axes = i[1]([-1]))
            f[2,3] x, f[2,4] y | f[2,7] r = concat(values = (x, y), axis = int32(-1), interleave = bool(false))
            f[2,3] x | f[2,2,3] r = stack(values = (x, x), axis = int32(0))
            f[2,6] x | f[2,3] r, f[2,3] s = split(x = x, num_splits = int32(2), axis = int32(1))
            f[2,6] x | f[2,1] r, f[2,5] s = split(x = x, split_sizes = i[2]([1, 5]), axis = int32(-1))
            f[2,3] x | f[4,9] r = tile(x = x, reps = i[2]([2, 3]))
            f[2,3] x | f[2,6] r = pad(x = x, pad = i[2]([1, 2]), mode = string("constant"), constant_val = fp32(0))
            f[1,4,4] x | f[1,6,8] r = pad(x = x, pad = i[4]([1, 1, 2, 2]), mode = string("reflect"))
            f[2,3] x | f[2,3] r = reverse(x = x, axes = i[1]([-1]))
            f[2,3] x | f[2,3] r = band_part(x = x, lower = int32(0))
            f[2,3] x | i[2] r = shape(x = x)
            f[1,8,2,3] x | f[1,2,4,6] r = pixel_shuffle(x = x, upscale_factor = int32(2))
            f[1,2,4,6] x | f[1,8,2,3] r = pixel_unshuffle(x = x, downscale_factor = int32(2))
            f[1,8,2,3] x | f[1,2,4,6] r = depth_to_space(x = x, block_size = int32(2))
            f[1,2,4,6] x | f[1,8,2,3] r = space_to_depth(x = x, block_size = int32(2))
            f[4,8] x | f[2,7] r = slice_by_index(x = x, begin = i[2]([1, 1]), end = i[2]([3, 8]))
            f[4,8] x | f[3,4] r = slice_by_index(x = x, begin = i[2]([-4, 0]), end = i[2]([-1, 8]), stride = i[2]([1, 2]))
            f[4,8] x | f[4,3] r = slice_by_index(x = x, begin = i[2]([0, 7]), end = i[2]([0, 0]), stride = i[2]([-1, -3]), begin_mask = b[2]([true, false]), end_mask = b[2]([true, true]))
            f[4,8] x | f[8] r = slice_by_index(x = x, begin = i[2]([2, 0]), end = i[2]([3, 8]), squeeze_mask = b[2]([true, false]))
            f[4,8] x, i[2] at | f[4] r = slice_by_index(x = x, begin = at, end = at, begin_mask = b[2]([true, false]), end_mask = b[2]([true, false]), squeeze_mask = b[2]([false, true]))
            f[4,8] x, i[2] at | f[2,8] r = slice_by_size(x = x, begin = at, size = i[2]([2, 8]))
            f[4,8] x | f[3,2] r = slice_by_size(x = x, begin = i[2]([1, 2]), size = i[2]([-1, 2]))
            f[4,8] x, f[2,8] y, i[2] at | f[4,8] r = slice_update(x = x, update = y, begin = at, end = at)
            f[4,8] x, f[2,8] y | f[4,8] r = slice_update(x = x, update = y, begin = i[2]([1, 0]), end = i[2]([3, 8]))
            f[4,8] x, i[2,3] at | f[4,2,3] r = gather(x = x, indices = at, axis = int32(1))
            f[4,8] x, int32 at | f[8] r = gather(x = x, indices = at)
            f[2,4,8] x, i[2,3] at | f[2,3,8] r = gather(x = x, indices = at, axis = int32(1), batch_dims = int32(1))
            f[4,8] x, i[4,3] at | f[4,3] r = gather_along_axis(x = x, indices = at, axis = int32(1))
            f[4,8,5] x, i[7,2] at | f[7,5] r = gather_nd(x = x, indices = at)
            f[4,8] x, i[3] at, f[4,3] y | f[4,8] r = scatter(data = x, indices = at, updates = y, axis = int32(1), mode = string("update"))
            f[4,8] x, i[4,3] at, f[4,3] y | f[4,8] r = scatter_along_axis(data = x, indices = at, updates = y, axis = int32(1))
            f[4,8] x, i[3,1] at, f[3,8] y | f[4,8] r = scatter_nd(data = x, indices = at, updates = y)
            f[4,8] x | f[4,3] r, i[4,3] s = topk(x = x, k = int32(3))
            f[4,8] x | f[2,8] r = topk(x = x, k = int32(2), axis = int32(0), return_indices = bool(false))
            f[4,8] x | i[4,8] r = argsort(x = x)
            i[4] x | i[4,10] r = one_hot(indices = x, one_hot_vector_size = int32(10))
            i[4] x | h[10,4] r = one_hot(indices = x, one_hot_vector_size = int32(10), axis = int32(0), on_value = fp16(1), off_value = fp16(0))
            f[1] x | h[2,3] r = fill(shape = i[2]([2, 3]), value = fp16(1))
            f[2,3] x | f[2,3] r = fill_like(ref_tensor = x)
            f[1] x | i[4] r = range_1d(end = int32(10), start = int32(3), step = int32(2))
            f[1,4,8,8] x, f[16,4,3,3] w, f[16] b | f[1,16,4,4] r = conv(x = x, weight = w, bias = b, strides = i[2]([2, 2]), pad_type = string("custom"), pad = i[4]([1, 1, 1, 1]), dilations = i[2]([1, 1]), groups = int32(1))
            f[1,4,8,8] x, f[4,1,3,3] w | f[1,4,8,8] r = conv(x = x, weight = w, pad_type = string("same"), groups = int32(4))
            f[1,4,9] x, f[8,4,3] w | f[1,8,5] r = conv(x = x, weight = w, dilations = i[1]([2]))
            f[1,4,9] x, f[8,4,3] w | f[1,8,5] r = conv(x = x, weight = w, pad_type = string("same"), strides = i[1]([2]))
            f[1,4,8,8] x, f[4,3,4,4] w | f[1,3,16,16] r = conv_transpose(x = x, weight = w, strides = i[2]([2, 2]), pad_type = string("custom"), pad = i[4]([1, 1, 1, 1]))
            f[1,4,8] x, f[4,2,3] w | f[1,4,10] r = conv_transpose(x = x, weight = w, groups = int32(2))
            f[1,4,8] x, f[4,2,3] w | f[1,2,16] r = conv_transpose(x = x, weight = w, strides = i[1]([2]), output_shape = i[3]([1, 2, 16]))
            f[1,4,8,8] x | f[1,4,4,4] r = max_pool(x = x, kernel_sizes = i[2]([2, 2]), strides = i[2]([2, 2]), pad_type = string("valid"))
            f[1,4,7,7] x | f[1,4,4,4] r = avg_pool(x = x, kernel_sizes = i[2]([2, 2]), strides = i[2]([2, 2]), pad_type = string("valid"), ceil_mode = bool(true))
            f[1,4,8] x | f[1,4,8] r = l2_pool(x = x, kernel_sizes = i[1]([3]), pad_type = string("same"))
            f[1,4,8,6] x | f[1,4,16,18] r = upsample_nearest_neighbor(x = x, scale_factor_height = int32(2), scale_factor_width = fp32(3))
            f[1,4,8,6] x | f[1,4,16,9] r = upsample_bilinear(x = x, scale_factor_height = int32(2), scale_factor_width = fp32(1.5), align_corners = bool(false))
            f[1,4,8,6] x | f[1,4,5,7] r = resize_nearest_neighbor(x = x, target_size_height = int32(5), target_size_width = int32(7))
            f[1,4,8,6] x | f[1,4,5,7] r = resize_bilinear(x = x, target_size_height = int32(5), target_size_width = int32(7))
            f[1,4,8,6] x | f[1,4,5,6] r = resize(x = x, shape = i[2]([5, 0]), resized_dims = int32(2))
            state<tensor<fp16, [2]>> x | h[2] r = read_state(input = x)
            state<tensor<fp16, [2]>> x, h[2] y | write_state(input = x, data = y)
            f[1] x | f[2,2] r = constexpr_cast(source_val = h[2,2]([[1,2],[3,4]]), output_dtype = string("fp32"))
            f[1] x | f[2,2] r = constexpr_blockwise_shift_scale(data = c[2,2]([[1,2],[3,4]]), scale = f[2,1]([[1],[2]]))
            f[1] x | h[1,4] r = constexpr_blockwise_shift_scale(data = q[1,4]([[1,2,3,4]]), scale = h[1,2]([[1,2]]), offset = q[1,2]([[8,8]]))
            f[1] x | f[2,2] r = constexpr_affine_dequantize(quantized_data = u[2,2]([[1,2],[3,4]]), zero_point = uint8(3), scale = f[2]([1, 2]), axis = int32(0))
            f[1] x | h[2,2] r = constexpr_lut_to_dense(indices = p[2,2]([[0,1],[1,0]]), lut = h[1,1,2,1]([[[[5],[6]]]]))
            f[1] x | h[2,4] r = constexpr_lut_to_dense(indices = p[2,2]([[0,1],[1,0]]), lut = h[1,1,2,2]([[[[5,6],[7,8]]]]), vector_axis = int32(-1))
            f[1] x | f[2,2] r = constexpr_sparse_to_dense(nonzero_data = f[2]([5, 6]), mask = p[2,2]([[0,1],[1,0]]))
            """;

    private static final String REFUSED = """
            f[2,3] x, f[2] y | f[2,3] r = add(x = x, y = y) | shapes that broadcast, not [2, 3] with [2]
            f[2] x, h[2] y | f[2] r = add(x = x, y = y) | 'y' with the element type of 'x' (fp32), not fp16
            b[2] x | b[2] r = add(x = x, y = x) | numbers, not bool
            i[2] x | i[2] r = exp(x = x) | floating-point elements in 'x', not int32
            f[2] x | f[2] r = logical_not(x = x) | 'x' of bool, not fp32
            f[2] x | f[2] r = cast(x = x, dtype = string("float")) | a MIL element type in 'dtype', not 'float'
            f[2] x | f[2] r = gelu(x = x, mode = string("FAST")) | mode EXACT
            f[2,3] x | f[2] r = reduce_mean(x = x, axes = i[1]([2])) | 'axes' between -2 and 1, not 2
            f[2,3] x | f[2] r = reduce_mean(x = x, axes = i[2]([1, -1])) | each axis once
            f[2,3] x | f[2,3] r = softmax(x = x, axis = int32(5)) | 'axis' between -2 and 1, not 5
            f[2,3] x, f[4,5] w | f[2,4] r = linear(x = x, weight = w) | 'weight' of shape [N, 3]
            f[2,3] x, f[4,3] w, f[3] b | f[2,4] r = linear(x = x, weight = w, bias = b) | 'bias' of type tensor<fp32, [4]>
            f[2,3] x, f[4,5] y | f[2,5] r = matmul(x = x, y = y) | equal inner sizes, not 3 and 4
            f[2,3] x, f[3,4] y | f[2,5] r = matmul(x = x, y = y) | gives [tensor<fp32, [2, 4]>], but the program declares [tensor<fp32, [2, 5]>]
            f[2,3] x | f[2,3] r = einsum(values = (x, x), equation = string("ij,ij->ij")) | the equation
            f[2,3] x | f[5] r = reshape(x = x, shape = i[1]([5])) | a shape of 6 elements, not [5]
            f[2,3] x | f[5] r = reshape(x = x, shape = i[2]([-1, 4])) | a shape of 6 elements
            f[2,3] x | f[5] r = reshape(x = x, shape = i[2]([-1, -1])) | a shape of 6 elements
            f[2,3] x, i[1] s | f[6] r = reshape(x = x, shape = s) | needs a constant as 'shape'
            f[2,3] x | f[3,2] r = transpose(x = x, perm = i[1]([1])) | 'perm' to name all 2 axes
            f[2,3] x | f[2,3] r = squeeze(x = x, axes = i[1]([0])) | axis 0 of size 1, not 2
            f[2,3] x, f[3,3] y | f[2,6] r = concat(values = (x, y), axis = int32(1)) | values like tensor<fp32, [2, 3]> but for axis 1
            f[2,7] x | f[2,3] r, f[2,4] s = split(x = x, num_splits = int32(2), axis = int32(1)) | 'num_splits' that divides 7
            f[2,7] x | f[2,3] r, f[2,3] s = split(x = x, split_sizes = i[2]([3, 3]), axis = int32(1)) | 'split_sizes' that sum to 7
            f[4,8] x, i[2] at | f[2,8] r = slice_by_index(x = x, begin = at, end = at) | use slice_by_size
            f[4,8] x | f[2,8] r = slice_by_index(x = x, begin = i[2]([3, 0]), end = i[2]([3, 8])) | a window that is not empty on axis 0
            f[4,8] x | f[8] r = slice_by_index(x = x, begin = i[2]([4, 0]), end = i[2]([5, 8]), squeeze_mask = b[2]([true, false])) | an index between -4 and 3
            f[4,8] x, f[3,8] y | f[4,8] r = slice_update(x = x, update = y, begin = i[2]([1, 0]), end = i[2]([3, 8])) | 'update' of type tensor<fp32, [2, 8]>
            f[4,8] x, f[5,8] y, i[2] at | f[4,8] r = slice_update(x = x, update = y, begin = at, end = at) | 'update' that fits into
            f[4,8] x | f[4,8] r = slice_by_size(x = x, begin = i[2]([1, 0]), size = i[2]([4, 8])) | a window inside
            f[4,8] x, f[2] at | f[2,8] r = gather(x = x, indices = at) | integer 'indices', not fp32
            f[4,8] x | f[4,9] r, i[4,9] s = topk(x = x, k = int32(9)) | 'k' from 1 to 8, not 9
            f[4] x | i[4] r = non_zero(x = x) | a result of static shape
            f[1] x | i[4] r = range_1d(end = int32(10), start = int32(3), step = int32(0)) | a step that leads from start to end
            f[1,4,8,8] x, f[16,3,3,3] w | f[1,16,6,6] r = conv(x = x, weight = w) | 'weight' of [N, 4 / groups, kernel
            f[1,4,2] x, f[16,4,3] w | f[1,16,1] r = conv(x = x, weight = w) | a window of 3 to fit spatial axis 0
            f[1,4,8] x, f[16,4,3] w | f[1,16,6] r = conv(x = x, weight = w, strides = i[1]([0])) | positive kernel sizes
            f[2] x | f[2] r = read_state(input = x) | a state of the function
            state<tensor<fp16, [2]>> x, h[3] y | write_state(input = x, data = y) | 'data' of type tensor<fp16, [2]>
            state<tensor<fp16, [2]>> x | h[2] r = silu(x = x) | read it with read_state first
            f[1] x | f[2,2] r = constexpr_blockwise_shift_scale(data = c[2,2]([[1,2],[3,4]]), scale = f[3,1]([[1],[2],[3]])) | 'scale' whose axis 0 divides 2
            f[1] x | h[2,2] r = constexpr_lut_to_dense(indices = p[2,2]([[0,1],[1,0]]), lut = h[1,1,3,1]([[[[5],[6],[7]]]])) | a 'lut' of 2^1 entries
            f[2147483647,2147483647,2147483647] x | f[1] r = reshape(x = x, shape = i[1]([-1])) | sizes whose product fits 63 bits
            """;

    private static final Map<String, String> TYPES = Map.of(
            "f", "fp32", "h", "fp16", "i", "int32", "b", "bool", "c", "int8", "u", "uint8", "q", "uint4", "p", "uint1");
    private static final Pattern SHORT = Pattern.compile("\\b([fhibcuqp])\\[");

    static Stream<String> accepted() {
        return ACCEPTED.lines().filter(line -> !line.contains(" ! "));
    }

    static Stream<String> refused() {
        return Stream.concat(
                REFUSED.lines(),
                ACCEPTED.lines().filter(line -> line.contains(" ! ")).map(line -> line.replace(" ! ", " | ")));
    }

    private static void check(String inputs, String statement) {
        String text =
                "program(1.3){ func f<ios18>(" + scalars(expand(inputs)) + ") { " + expand(statement) + "; } -> (); }";
        FunctionCheck.verify("text", MilText.read(text).function("f"));
    }

    /** {@code f[2](…)} and {@code f[2] x} to MIL's long form. */
    private static String expand(String text) {
        Matcher matcher = SHORT.matcher(text);
        StringBuilder result = new StringBuilder();
        int from = 0;
        while (matcher.find(from)) {
            int close = text.indexOf(']', matcher.end());
            result.append(text, from, matcher.start())
                    .append("tensor<")
                    .append(TYPES.get(matcher.group(1)))
                    .append(", [")
                    .append(text, matcher.end(), close)
                    .append("]>");
            from = close + 1;
        }
        return result.append(text.substring(from)).toString();
    }

    private static String scalars(String inputs) {
        return inputs.replace("int32 at", "tensor<int32, []> at");
    }

    @ParameterizedTest
    @MethodSource("accepted")
    void resultsHaveTheTypesOfMil(String row) {
        String[] parts = row.split(" \\| ");
        check(parts[0], parts[1]);
    }

    @ParameterizedTest
    @MethodSource("refused")
    void callsThatDoNotFitAreRefused(String row) {
        String[] parts = row.split(" \\| ");
        TorchAneException e = assertThrows(TorchAneException.class, () -> check(parts[0], parts[1]));
        assertTrue(e.getMessage().contains(parts[2]), e.getMessage());
    }

    @Test
    void everyOperationOfTheTableIsInThisTest() {
        Set<String> missing = new TreeSet<>(OperationTable.all().keySet());
        accepted().forEach(row -> missing.removeIf(kind -> row.contains(" " + kind + "(")));
        missing.removeAll(Set.of("non_zero", "ane.constexpr_ggml"));
        assertEquals(Set.of(), missing);
    }

    @Test
    void rawGgufBlocksAreConstantsOfTheirShape() {
        FunctionBuilder f = ProgramBuilder.create().function("f");
        Value blocks = f.constant(
                "blocks",
                new Literal.Blob(TensorType.of(DType.UINT8, 2 * 3 * 20), "@model_path/weights/weight.bin", 64));
        Map<String, Operand> operands = Map.of(
                "data", blocks,
                "kind", Literal.text("q4_1"),
                "shape", Literal.int32s(2, 96),
                "dtype", Literal.text("fp32"));
        Value weight = f.apply("ane.constexpr_ggml", "", operands);
        assertEquals(new Value("constexpr_ggml", TensorType.of(DType.FP32, 2, 96)), weight);
        Value x = f.input("x", TensorType.of(DType.FP32, 1, 96));
        assertEquals(TensorType.of(DType.FP32, 1, 2), f.linear("y", x, weight).type());
        Map<String, Operand> short_ = new java.util.HashMap<>(operands);
        short_.put("shape", Literal.int32s(2, 128));
        IllegalArgumentException e =
                assertThrows(IllegalArgumentException.class, () -> f.apply("ane.constexpr_ggml", "", short_));
        assertTrue(e.getMessage().contains("'data' of uint8 with 160 bytes"), e.getMessage());
    }
}
