"""Names and signatures that a program written for TensorFlow 2.21 counts on.

Each line is a function's place, and those of its parameters that TensorFlow's function
has too, in TensorFlow's order and by its names. The defaults are gtape's; where they
are written differently, such as None for float32, they mean the same.
"""

import inspect

import pytest

import gtape as gt
from gtape import bitwise

TABLE = """
# creation and structure
constant(value, dtype=None, shape=None)
convert_to_tensor(value, dtype=None, dtype_hint=None)
zeros(shape, dtype=None)
ones(shape, dtype=None)
zeros_like(input, dtype=None)
ones_like(input, dtype=None)
fill(dims, value)
eye(num_rows, num_columns=None, batch_shape=None, dtype=None)
range(start, limit=None, delta=1, dtype=None)
linspace(start, stop, num, axis=0)
one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None)
meshgrid(*args)
reshape(tensor, shape)
transpose(a, perm=None)
expand_dims(input, axis)
squeeze(input, axis=None)
concat(values, axis=0)
stack(values, axis=0)
unstack(value, num=None, axis=0)
split(value, num_or_size_splits, axis=0)
tile(input, multiples)
repeat(input, repeats, axis=None)
pad(tensor, paddings, mode='CONSTANT', constant_values=0)
reverse(tensor, axis)
roll(input, shift, axis)
slice(input_, begin, size)
cast(x, dtype)
shape(input, out_type='int32')
rank(input)
size(input, out_type='int32')
ensure_shape(x, shape)

# elementwise
add(x, y)
subtract(x, y)
multiply(x, y)
divide(x, y)
pow(x, y)
maximum(x, y)
minimum(x, y)
abs(x)
sign(x)
square(x)
sqrt(x)
exp(x)
sin(x)
cos(x)
tan(x)
sinh(x)
cosh(x)
tanh(x)
asin(x)
acos(x)
atan(x)
asinh(x)
acosh(x)
atanh(x)
atan2(y, x)
floor(x)
round(x)
negative(x)
sigmoid(x)
clip_by_value(t, clip_value_min, clip_value_max)
where(condition, x=None, y=None)
equal(x, y)
not_equal(x, y)
less(x, y)
less_equal(x, y)
greater(x, y)
greater_equal(x, y)
logical_and(x, y)
logical_or(x, y)
logical_not(x)
complex(real, imag)

# elementwise, in gt.math
math.divide_no_nan(x, y)
math.multiply_no_nan(x, y)
math.reciprocal(x)
math.squared_difference(x, y)
math.floordiv(x, y)
math.floormod(x, y)
math.mod(x, y)
math.truediv(x, y)
math.rsqrt(x)
math.expm1(x)
math.log(x)
math.log1p(x)
math.xlogy(x, y)
math.xlog1py(x, y)
math.log_sigmoid(x)
math.softplus(features)
math.softsign(features)
math.erf(x)
math.erfc(x)
math.erfinv(x)
math.lgamma(x)
math.digamma(x)
math.polygamma(a, x)
math.ceil(x)
math.is_nan(x)
math.is_inf(x)
math.is_finite(x)
math.real(input)
math.imag(input)
math.conj(x)
math.angle(input)
math.logical_xor(x, y)

# bits
bitwise.bitwise_and(x, y)
bitwise.bitwise_or(x, y)
bitwise.bitwise_xor(x, y)
bitwise.invert(x)
bitwise.left_shift(x, y)
bitwise.right_shift(x, y)

# activations
nn.relu(features)
nn.relu6(features)
nn.leaky_relu(features, alpha=0.2)
nn.elu(features)
nn.selu(features)
nn.gelu(features, approximate=False)
nn.silu(features, beta=1.0)
nn.swish(features, beta=1.0)
nn.softmax(logits, axis=-1)
nn.log_softmax(logits, axis=-1)
nn.softplus(features)
nn.softsign(features)
nn.tanh(x)
nn.sigmoid(x)

# folds
reduce_any(input_tensor, axis=None, keepdims=False)
reduce_all(input_tensor, axis=None, keepdims=False)
reduce_logsumexp(input_tensor, axis=None, keepdims=False)
math.reduce_variance(input_tensor, axis=None, keepdims=False)
math.reduce_std(input_tensor, axis=None, keepdims=False)
math.reduce_euclidean_norm(input_tensor, axis=None, keepdims=False)
norm(tensor, ord='euclidean', axis=None, keepdims=False)
argmax(input, axis=None, output_type='int64')
argmin(input, axis=None, output_type='int64')
cumsum(x, axis=0, exclusive=False, reverse=False)
math.cumprod(x, axis=0, exclusive=False, reverse=False)
math.cumulative_logsumexp(x, axis=0, exclusive=False, reverse=False)
math.count_nonzero(input, axis=None, keepdims=False, dtype='int64')
math.segment_sum(data, segment_ids)
math.unsorted_segment_sum(data, segment_ids, num_segments)
math.unsorted_segment_mean(data, segment_ids, num_segments)
math.unsorted_segment_max(data, segment_ids, num_segments)
math.bincount(arr, weights=None, minlength=None, maxlength=None, dtype='int32')

# places
gather(params, indices, axis=None, batch_dims=0)
gather_nd(params, indices, batch_dims=0)
scatter_nd(indices, updates, shape)
tensor_scatter_nd_add(tensor, indices, updates)
tensor_scatter_nd_sub(tensor, indices, updates)
tensor_scatter_nd_update(tensor, indices, updates)
tensor_scatter_nd_max(tensor, indices, updates)
tensor_scatter_nd_min(tensor, indices, updates)
boolean_mask(tensor, mask, axis=None)
sort(values, axis=-1, direction='ASCENDING')
argsort(values, axis=-1, direction='ASCENDING', stable=False)
math.top_k(input, k=1, sorted=True)
nn.top_k(input, k=1, sorted=True)
math.in_top_k(targets, predictions, k)
nn.in_top_k(targets, predictions, k)
searchsorted(sorted_sequence, values, side='left', out_type='int32')
unique(x, out_idx='int32')
unique_with_counts(x, out_idx='int32')

# linear algebra
linalg.matmul(a, b, transpose_a=False, transpose_b=False, adjoint_a=False,
    adjoint_b=False)
linalg.matvec(a, b, transpose_a=False, adjoint_a=False)
tensordot(a, b, axes)
einsum(equation, *inputs)
linalg.trace(x)
linalg.det(input)
linalg.slogdet(input)
linalg.logdet(matrix)
linalg.inv(input, adjoint=False)
linalg.solve(matrix, rhs, adjoint=False)
linalg.triangular_solve(matrix, rhs, lower=True, adjoint=False)
linalg.cholesky(input)
linalg.cholesky_solve(chol, rhs)
linalg.qr(input, full_matrices=False)
linalg.svd(tensor, full_matrices=False, compute_uv=True)
linalg.eigh(tensor)
linalg.eigvalsh(tensor)
linalg.lstsq(matrix, rhs, l2_regularizer=0.0)
linalg.pinv(a, rcond=None)
linalg.expm(input)
linalg.diag(diagonal, k=0)
linalg.diag_part(input, k=0)
linalg.set_diag(input, diagonal, k=0)
linalg.band_part(input, num_lower, num_upper)
linalg.matrix_transpose(a)
linalg.norm(tensor, ord='euclidean', axis=None, keepdims=False)
linalg.global_norm(t_list)
linalg.l2_normalize(x, axis=None, epsilon=1e-12)

# networks
nn.bias_add(value, bias, data_format=None)
nn.conv1d(input, filters, stride, padding, data_format='NWC', dilations=None)
nn.conv2d(input, filters, strides, padding, data_format='NHWC', dilations=None)
nn.depthwise_conv2d(input, filter, strides, padding, data_format='NHWC', dilations=None)
nn.conv2d_transpose(input, filters, output_shape, strides, padding='SAME',
    data_format='NHWC', dilations=None)
nn.max_pool(input, ksize, strides, padding, data_format=None)
nn.max_pool1d(input, ksize, strides, padding, data_format='NWC')
nn.max_pool2d(input, ksize, strides, padding, data_format='NHWC')
nn.avg_pool(input, ksize, strides, padding, data_format=None)
nn.avg_pool1d(input, ksize, strides, padding, data_format='NWC')
nn.avg_pool2d(input, ksize, strides, padding, data_format='NHWC')
nn.dropout(x, rate, noise_shape=None, seed=None)
nn.batch_normalization(x, mean, variance, offset, scale, variance_epsilon)
nn.embedding_lookup(params, ids, max_norm=None)
nn.moments(x, axes, shift=None, keepdims=False)
nn.l2_normalize(x, axis=None, epsilon=1e-12)
nn.l2_loss(t)
nn.softmax_cross_entropy_with_logits(labels, logits, axis=-1)
nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
nn.sigmoid_cross_entropy_with_logits(labels, logits)
clip_by_norm(t, clip_norm, axes=None)
clip_by_global_norm(t_list, clip_norm, use_norm=None)

# random numbers
random.uniform(shape, minval=0, maxval=None, dtype=None, seed=None)
random.normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None)
random.truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None)
random.gamma(shape, alpha, beta=None, dtype=None, seed=None)
random.categorical(logits, num_samples, dtype='int64', seed=None)
random.shuffle(value, seed=None)
random.set_seed(seed)
random.get_global_generator()
random.Generator.from_seed(seed)
random.Generator.uniform(shape, minval=0, maxval=None, dtype=None)
random.Generator.normal(shape, mean=0.0, stddev=1.0, dtype=None)
random.Generator.truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None)
random.Generator.split(count=1)
random.stateless_uniform(shape, seed, minval=0, maxval=None, dtype=None)
random.stateless_normal(shape, seed, mean=0.0, stddev=1.0, dtype=None)
random.stateless_truncated_normal(shape, seed, mean=0.0, stddev=1.0, dtype=None)
random.stateless_gamma(shape, seed, alpha, beta=None, dtype=None)
random.stateless_categorical(logits, num_samples, seed, dtype='int64')

# assertions
debugging.assert_equal(x, y, message=None, summarize=None)
debugging.assert_none_equal(x, y, summarize=None, message=None)
debugging.assert_less(x, y, message=None, summarize=None)
debugging.assert_less_equal(x, y, message=None, summarize=None)
debugging.assert_greater(x, y, message=None, summarize=None)
debugging.assert_greater_equal(x, y, message=None, summarize=None)
debugging.assert_near(x, y, rtol=None, atol=None, message=None, summarize=None)
debugging.assert_positive(x, message=None, summarize=None)
debugging.assert_negative(x, message=None, summarize=None)
debugging.assert_non_negative(x, message=None, summarize=None)
debugging.assert_non_positive(x, message=None, summarize=None)
debugging.assert_rank(x, rank, message=None)
debugging.assert_rank_at_least(x, rank, message=None)
debugging.assert_rank_in(x, ranks, message=None)
debugging.assert_integer(x, message=None)
debugging.assert_scalar(tensor, message=None)
debugging.assert_shapes(shapes, message=None)
debugging.assert_all_finite(x, message=None)
debugging.check_numerics(tensor, message)
debugging.enable_check_numerics()
debugging.disable_check_numerics()

# tapes
GradientTape(persistent=False, watch_accessed_variables=True)
GradientTape.watch(tensor)
GradientTape.gradient(target, sources, output_gradients=None,
    unconnected_gradients='none')
GradientTape.jacobian(target, sources, unconnected_gradients='none',
    parallel_iterations=None, experimental_use_pfor=True)
GradientTape.batch_jacobian(target, source, unconnected_gradients='none',
    parallel_iterations=None, experimental_use_pfor=True)
GradientTape.reset()
GradientTape.stop_recording()
GradientTape.watched_variables()
custom_gradient(f)
recompute_grad(f)
grad_pass_through(f)
vectorized_map(fn, elems)

# variables and values
is_tensor(x)
Variable.assign(value, read_value=True)
Variable.assign_add(delta, read_value=True)
Variable.assign_sub(delta, read_value=True)
Variable.scatter_add(sparse_delta)
Variable.scatter_nd_add(indices, updates)
Variable.gather_nd(indices)
Variable.sparse_read(indices)
Variable.count_up_to(limit)
TensorSpec(shape, dtype='float32')
IndexedSlices(values, indices, dense_shape=None)
"""

LINES = [
    line
    for line in TABLE.replace("\n    ", " ").splitlines()
    if line and not line.startswith("#")
]


def found(path):
    value = gt
    for part in path.split("."):
        value = getattr(value, part)
    return value


def text_of(parameter):
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
    text = stars.get(parameter.kind, "") + parameter.name
    has_default = parameter.default is not parameter.empty
    return f"{text}={parameter.default!r}" if has_default else text


@pytest.mark.parametrize("line", LINES, ids=[line.split("(")[0] for line in LINES])
def test_signature(line):
    path, _, rest = line.partition("(")
    parameters = inspect.signature(found(path)).parameters.values()
    parameters = [p for p in parameters if p.name != "self"]
    wanted = rest.removesuffix(")").split(", ") if rest != ")" else []
    texts = [text_of(p) for p in parameters]
    assert [t for t in texts if t in wanted] == wanted
    # What gtape adds may be left out.
    for parameter, text in zip(parameters, texts, strict=True):
        if text not in wanted and parameter.kind != parameter.VAR_POSITIONAL:
            assert parameter.default is not parameter.empty


def test_second_names():
    assert gt.math.floormod is gt.mod
    assert gt.math.truediv is gt.divide
    assert gt.nn.top_k is gt.top_k
    assert gt.nn.in_top_k is gt.in_top_k
    assert gt.nn.swish is gt.nn.silu
    assert gt.linalg.global_norm is gt.global_norm
    assert gt.linalg.l2_normalize is gt.nn.l2_normalize
    assert bitwise.invert is gt.invert
