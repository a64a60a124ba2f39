"""Programs of one kind of operator on values each: arithmetic, moves, reductions, creation and
indices, in all of their forms."""

import torch
import torch.nn.functional as F

from inputs import floats, ids
from modules import function


def unary_forms(x):
    y = x.abs() + 0.1
    return (x.abs(), x.neg(), x.sin(), x.cos(), x.tan(), x.sinh(), x.cosh(), x.asinh(), x.atan(),
            (x / 9).asin(), (x / 9).acos(), (x / 9).atanh(), (y + 1).acosh(), x.exp(), x.exp2(),
            x.expm1(), y.log(), y.log2(), y.log10(), y.log1p(), y.sqrt(), y.rsqrt(), y.reciprocal(),
            x.ldexp(torch.tensor(3)), x.floor(), x.ceil(), x.round(), x.trunc(), x.frac(), x.sign(), x.erf(), x.erfc(),
            x.square(), x.isnan(), x.isinf(), x.isfinite(), x.logical_not(), x.clamp(-0.5, 0.5),
            x.clamp(min=0.2), x.clamp_max(0.1), x.nan_to_num(), x.sgn(), x.deg2rad(), x.positive(),
            x.logit(0.1), x.sinc(), (x / 9).erfinv(), x.round(decimals=1), x.signbit())


def binary_forms(x, y, i, j):
    k = j.abs() + 1
    return (x + y, x - y, x * y, x / y, x + 1, 2 - x, x * 2.5, 3 / (x + 9), i + j, i * 2, i / k,
            i // k, i % k, x // y, x % y, x + i, i * 1.5, torch.add(x, y, alpha=3), torch.sub(
                i, j, alpha=2), torch.rsub(x, 2), torch.div(x, y, rounding_mode="trunc"), torch.div(
                    i, k, rounding_mode="floor"), torch.fmod(x, 0.7), torch.fmod(i, k),
            torch.remainder(x, y), torch.floor_divide(x, 0.3), x.abs() ** y, x ** 2, 2.0 ** x,
            x.abs() ** 0.5, i ** 2, torch.maximum(x, y), torch.minimum(i, j), torch.max(x, y),
            torch.fmax(x, y), x > y, x >= 0.2, i < j, i <= 3, i == j, i != 2, x.eq(y), (i > 0) & (
                j > 0), (i > 0) | (j > 0), (i > 0) ^ (j > 0), ~(i > 0), i & j, i | 3, i ^ j, ~i,
            i << 2, k >> 1, torch.atan2(x, y), torch.hypot(x, y), torch.logaddexp(x, y), torch.lerp(
                x, y, 0.3), torch.addcmul(x, y, y, value=0.5), torch.addcdiv(
                    x, y, y.abs() + 1, value=2), torch.where(x > 0, x, y), torch.where(
                        x > 0, x, 0.0), torch.where(x > 0, 1.0, 2.0), torch.copysign(x, y),
            torch.logical_and(x, y), torch.logical_or(i, j), torch.logical_xor(i, j), torch.xlogy(
                x.abs(), y.abs()), torch.clamp(x, y - 1, y + 1), torch.heaviside(x, y),
            torch.logaddexp2(x, y), torch.isclose(x, x + 1e-9), torch.true_divide(i, 2), F.mse_loss(
                x, y), F.l1_loss(x, y), F.cosine_similarity(x, y), x.to(torch.float64) + y,
            x.int() + j, x.to(torch.int64), i.float(), i.bool(), x.half().float(), i.to(torch.int8),
            x.type_as(i), x.add(y).mul_(2).sub_(y).div_(3), x.clone().add_(1).relu_())


def reduction_forms(x, i):
    return (x.sum(), x.sum(1), x.sum((0, -1), keepdim=True), x.mean(), x.mean(-1), x.mean((1, 2)),
            x.amax(1), x.amin((0, 1)), x.max(), x.min(), *x.max(1), *x.min(-1, keepdim=True),
            x.argmax(), x.argmax(1), x.argmin(-1, keepdim=True), x.prod(), x.prod(1), x.var(),
            x.var(1), x.var((0, 2), unbiased=False), x.std(-1), x.std(1, correction=0), *torch
            .var_mean(x, 1), *torch.std_mean(x, (0, 1)), x.norm(), x.norm(1, 2), x.norm(
                dim=1, keepdim=True), torch.linalg.vector_norm(x, 3, 1), torch.linalg.vector_norm(
                    x, float("inf"), -1), x.logsumexp(1), (x > 0).any(), (x > 0).all(1), (x > 0).any(
                        -1, True), i.sum(1), i.sum(dtype=torch.float32), i.prod(1), x.cumsum(1),
            x.cumsum(-1), x.cumprod(1), i.cumsum(0), *x.cummax(1), x.aminmax(dim=1)[1], x.median(
                1)[0], *x.sort(1), *x.sort(-1, True), *x.topk(2, 1), *x.topk(3, -1, False), x.argsort(
                    1), x.count_nonzero(1), x.logcumsumexp(1), torch.diff(x), torch.trapezoid(x),
            *x.kthvalue(2, 1), x.nansum(1), i.max(1)[0], i.float().mean(1), x.diff(dim=0))


def move_forms(x, y):
    return (x.view(-1, 5), x.view(3, 20), x.reshape(5, -1), x.permute(2, 0, 1), x.transpose(0, -1),
            x.flatten(), x.flatten(1), x.unflatten(1, (2, -1)), x.unsqueeze(0), x.unsqueeze(-1),
            x[:, :1].squeeze(), x[:1].squeeze(0), x[:, :1].squeeze(1), x.expand(2, 3, 4, 5),
            x[:1].expand(6, -1, -1), x.repeat(2, 1, 3), x.tile(2), x.repeat_interleave(2, 1),
            x.flip(0), x.flip((1, -1)), x.roll(1, 0), x.roll((1, -2), (0, 2)), x.roll(3), x[1],
            x[:, -1], x[..., 1:4], x[:, ::2], x[-2:], x[:, 1:-1:2], x[:, (x[0, 0, 0] > 0).long()], x.narrow(2, 1, 3), x.select(
                1, 2), *x.split(2, 1), *x.split([1, 3, 1], -1), *x.chunk(2, 1), *x.unbind(0),
            torch.cat([x, x[:, :2]], 1), torch.stack([x, x], -1), torch.cat([x, x, x], -1), torch
            .hstack([x, x]), torch.vstack([x, x]), x.movedim(0, 2), x.swapaxes(0, 1), F.pad(
                x, (1, 2)), F.pad(x, (1, 2, 0, 1), value=3.0), F.pad(x, (-1, 1)), F.pad(
                    x, (2, 1), "reflect"), F.pad(x, (2, 1), "replicate"), F.pad(
                        x, (2, 1), "circular"), F.pad(y, (2, 1, 1, 3), "reflect"), F.pad(
                            y, (2, 1, 1, 3), "replicate"), x.tril(), x.triu(1), x.diagonal(0, 1, 2),
            x[0].diag(), x[0, 0].diag(), torch.diag_embed(x), x.unfold(1, 2, 1), x.T, x.mT, x[0].t(),
            torch.rot90(x, 1, (0, 1)), x.as_strided((3, 4), (1, 5)), torch.broadcast_to(
                x[:, :1], (3, 4, 5)), x.view_as(x), x.expand_as(x), x.contiguous(), x.clone(),
            torch.block_diag(x[0], x[1]), torch.cartesian_prod(x[0, 0], x[0, 1]), torch.meshgrid(
                x[0, 0], x[0, 1], indexing="xy")[0], torch.column_stack([x[0, 0], x[0, 1]]), F.pad(
                    y, (1, 1, 1, 1)), torch.row_stack([x[0, 0], x[0, 1]]), torch.nn.utils.rnn
            .pad_sequence([x[0], x[0, :2], x[1, :3]], True, 2.0), torch.nn.utils.rnn.pad_sequence(
                [x[0, 0, :2], x[0, 1]], padding_side="left"), x.ravel(), torch.atleast_2d(x[0, 0]), x.moveaxis(-1, 0))


def index_forms(x, i, rows, columns):
    return (x[i[:, 0]], x[:, i[0]], x[rows, columns], x[rows, :, columns], x[:, rows, columns], x[
        ..., rows], x[None, rows], x[rows[:, None], columns], x.gather(1, i[:, :, None].expand(
            -1, -1, 3)), x.index_select(1, rows), x.take_along_dim(i[..., None], 1), torch.take(
                x, rows), x.scatter(1, i[:, :, None], 7.0), x.scatter(1, i[..., None], x[:, :, :1]),
            x.scatter_add(1, i[..., None].expand(-1, -1, 5), x[:, :2]), x.index_add(1, rows, x[
                :, :4]), x.index_copy(1, torch.tensor([2, 0]), x[:, :2]), x.index_fill(
                    2, torch.tensor([0, 3]), 5.0), x.masked_fill(x > 0.5, -1.0), x.index_put(
                        (rows, columns), x[0]), x.index_put(
                            (rows, columns), x[0], accumulate=True), x.scatter_reduce(
                                1, i[..., None].expand(-1, -1, 5), x[:, :2], "amax"), x
            .scatter_reduce(1, i[..., None].expand(-1, -1, 5), x[:, :2], "prod"), x.slice_scatter(
                x[:, :2] * 2, 1, 1, 3), x.select_scatter(x[:, 0] * 2, 1, 2), F.one_hot(i, 5), torch
            .bucketize(x, torch.linspace(-1, 1, 5)), torch.searchsorted(
                torch.linspace(-1, 1, 5), x, right=True), x.masked_scatter(
                    torch.ones_like(x) > 0, x * 2), torch.isin(i, torch.tensor([1, 3])))


def create_forms(x):
    return (torch.zeros(2, 3) + x[0, 0], torch.ones(3) * x[0, 0], torch.full((2,), 7.5) * x[0, 0],
            torch.arange(5) + x[0, 0], torch.arange(1, 9, 2) * x[0, 0], torch.arange(
                0, 1, 0.25) + x[0, 0], torch.linspace(0, 1, 7) + x[0, 0], torch.eye(3) + x[0, 0],
            torch.eye(2, 4) + x[0, 0], torch.zeros_like(x) + 1, torch.ones_like(x) * x, torch
            .full_like(x, 3.0) + x, x.new_zeros(2) + x[0, 0], x.new_ones(2, 2), x.new_full((3,), 4),
            torch.tril_indices(4, 3, -1) + x[0, 0].long(), torch.triu_indices(3, 4, 1), torch.tensor(
                [1.0, 2.0]) + x[0, 0], torch.hann_window(8) * x[0, 0], torch.hamming_window(7), torch.kaiser_window(
                9) * x[0, 0], torch.kaiser_window(8, False, 5.5) * x[0, 0], torch.bartlett_window(
                    6, False) * x[0, 0],
            torch.logspace(0, 1, 4) + x[0, 0], torch.scalar_tensor(3.5) + x, torch.empty(
                2, 2).fill_(4) + x[0, 0], torch.meshgrid(torch.arange(3), torch.arange(2), indexing="ij")[
                    0] + x[0, 0], torch.vander(x[0, :3], 4), torch.zeros(3, dtype=torch.int32) + 1)


def special_forms(x, y, i, j):
    # Numbers that are not finite, and the ends of what functions are defined for.
    a = torch.cat([x[0], torch.tensor([torch.nan, torch.inf, -torch.inf, 0.0, torch.nan])])
    b = torch.cat([y[0], torch.tensor([1.0, torch.inf, -torch.inf, 0.5, torch.nan])])
    ends = torch.cat([x[0] / 9, torch.tensor([1.0, -1.0, 0.99999, -0.9999999, 1.5, torch.nan])])
    edges = y.sort(1)[0]
    return (torch.fmax(a, b), torch.fmin(a, b), torch.fmin(i, j), torch.heaviside(a, b), torch
            .isclose(a, b), torch.isclose(a, b, equal_nan=True), torch.logaddexp(a, b), torch
            .logaddexp2(a, b), *a.cummax(0), *a.cummin(0), *i.cummin(1), *(x > 0).cummax(1),
            ends.erfinv(), ends.double().erfinv(), ends.sinc(), (x * 50).logcumsumexp(1), torch
            .searchsorted(edges, x), torch.searchsorted(edges, x, side="right", out_int32=True),
            torch.searchsorted(y, x, sorter=y.argsort(1)), torch.bucketize(
                i, torch.tensor([-2, 0, 0, 3]), right=True), torch.bucketize(
                    a, torch.tensor([0.0, 1.0])), torch.trapezoid(x, edges), torch.trapezoid(
                        x, dx=0.3, dim=0), x.masked_scatter(y > 0, y.flatten()), torch.vander(
                            i[0], increasing=True), torch.rot90(x, 3), torch.rot90(x, 2), x[0].diag(
                                -1), x.diag(1), torch.block_diag(x, i, x[0, 0]), torch.logspace(
                                    -2, 3, 9, base=2) + x[0, 0], i.clone().__iand__(j), (x * 4).lgamma(), (b * 20).lgamma(), (
                                        x * 4).digamma(), (y.abs() * 20).digamma(), torch.special
            .xlog1py(x, y.abs()), i << j.abs(), i.int() >> (
                j.int() * 5), i.to(torch.uint8) >> (j & 7).to(torch.uint8), 3 << (j & 3), torch
            .tensor(0x76543210) >> torch.arange(0, 32, 4) & 15 | i[0, 0])


def loss_forms(x, y, i):
    p, q, sign = torch.sigmoid(x), torch.sigmoid(y), torch.sign(y)
    weight, maps = x[0].abs(), torch.stack([x, y], -1)
    return (F.cross_entropy(x, i), F.cross_entropy(x, i, weight, reduction="none"), F.cross_entropy(
        x, i, ignore_index=1, label_smoothing=0.1), F.cross_entropy(
            x, y.softmax(1), weight, label_smoothing=0.2), F.cross_entropy(x[0], i[0]), F
            .cross_entropy(maps, torch.stack([i, i], 1), reduction="sum"), F.nll_loss(
                F.log_softmax(x, 1), i, weight), F.nll_loss(x, i, ignore_index=2,
                                                            reduction="none"), F
            .binary_cross_entropy(p, q), F.binary_cross_entropy(
                p, q, weight, reduction="sum"), F.binary_cross_entropy_with_logits(
                    x, q, pos_weight=weight), F.kl_div(F.log_softmax(x, 1), F.softmax(
                        y, 1), reduction="batchmean"), F.kl_div(x, y, log_target=True), F
            .smooth_l1_loss(x, y, beta=0.5), F.huber_loss(x, y, delta=0.7), F.poisson_nll_loss(
                x, y.abs()), F.poisson_nll_loss(p, 3 * y.abs(), log_input=False, full=True), F
            .hinge_embedding_loss(x, sign), F.margin_ranking_loss(x, y, sign, margin=0.1), F
            .soft_margin_loss(x, sign), F.cosine_embedding_loss(x, y, sign[:, 0]), F
            .triplet_margin_loss(x, y, x.flip(1), swap=True), F.triplet_margin_loss(
                x, y, x.flip(0), p=1, reduction="none"), F.multilabel_soft_margin_loss(x, p.round()))


def statistics_forms(x, y):
    holes = torch.where(x > 0.8, torch.nan, x)
    return (torch.quantile(x, 0.3, 1), torch.quantile(x, torch.tensor([0.25, 0.5, 0.9]), 1, True),
            torch.quantile(x, 0.5), torch.quantile(x, torch.tensor(0.6), 0, True), torch
            .quantile(holes, 0.5, 0), *[torch.quantile(
                x, 0.3, 0, interpolation=mode) for mode in ("lower", "higher", "nearest", "midpoint")],
            torch.nanquantile(holes, 0.4, 1), torch.nanquantile(holes, torch.tensor(
                [0.1, 0.8]), 0, True), *holes.nanmedian(1), *holes.nanmedian(
                    0, True), holes.nanmedian(), x.histc(5, -1, 1), x.histc(7), x.msort(), F.pdist(x), F
            .pdist(x, 1.0), F.bilinear(x, y, torch.ones(3, 5, 5) / 3, torch.ones(3)), torch
            .fake_quantize_per_tensor_affine(x, 0.1, 3, -128, 127), torch
            .fake_quantize_per_tensor_affine(x, torch.tensor(0.05), torch.tensor(
                9), 0, 15), torch.fake_quantize_per_channel_affine(
                    x, torch.tensor([0.1, 0.3, 0.02, 1]), torch.tensor([0, 1, -2, 0]).int(), 0, -7, 7))


def rounded_forms(x, y):
    """Values that are stored as floats of 16 bits in between."""
    z = torch.zeros(3, 5, dtype=torch.bfloat16)
    z.copy_(x)
    return (x.half().float(), x.to(torch.bfloat16).float(), x.half().bfloat16().float() * 3, z.float(),
            (x * 1e5).half().float(), x.type_as(z).float(), torch.full((2,), 0.1, dtype=torch.half)
            .float() + x[0, 0], torch.tensor([0.1, 0.2]).half().float() + x[0, 0], x.half() > y.half())


def linalg_forms(x, y, v):
    a = x @ x.mT + torch.eye(4)
    factor = torch.linalg.cholesky(a)
    points = torch.stack([v, v + 1, v - 2], -1)
    return (torch.linalg.inv(a), torch.linalg.inv(x[:, :, :4].flip(1)), torch.linalg.solve(
        a, x), torch.linalg.solve(a[0], y[0, :4]), torch.linalg.solve(a, x[:, :, :4], left=False),
            factor, torch.linalg.cholesky(a, upper=True), torch.cholesky_solve(x, factor), torch
            .linalg.solve_triangular(factor, x, upper=False), torch.linalg.solve_triangular(
                factor.mT, x, upper=True), torch.linalg.solve_triangular(
                    factor, x.mT, upper=False, left=False), torch.linalg.det(a), *torch.linalg
            .slogdet(a), *torch.slogdet(-a), torch.logdet(a), torch.linalg.matrix_power(a, 5), torch.linalg.multi_dot(
                [v, x[0], y[0], y[1, 0]]), torch.linalg.cross(points, points.flip(0)), torch.cross(
                    points, points.flip(1), dim=1), torch.inner(x[0], y[1]), torch.addr(
                        x[0], v, y[0, 0], beta=0.5, alpha=2), torch.linalg.norm(x[0]), torch.linalg
            .norm(x, dim=1), torch.linalg.norm(x[0], 1), torch.linalg.norm(
                x[0], float("inf")), torch.linalg.matrix_norm(x), torch.linalg.matrix_norm(
                    x, -1, keepdim=True), torch.dist(x, 2 * x, 3), torch.renorm(
                        x, 2, 0, 1.0), torch.nanmean(torch.where(x > 0, x, torch.nan), 1), torch
            .trace(x[0]), torch.special.entr(x - 0.5), torch.special.ndtr(x), torch
            .cumulative_trapezoid(x, dim=1), torch.cumulative_trapezoid(y, y.abs().cumsum(2)))


def count_forms(x, i):
    again = i.flatten() // 3
    counts = torch.bincount(again, minlength=2)
    torch._check(counts.shape[0] <= 6)
    sums = torch.bincount(again, x.flatten()[:12])
    torch._check(sums.shape[0] <= 9)
    repeated = x.repeat_interleave(again[:4], 0)
    torch._check(repeated.shape[0] <= 12)
    return (counts, sums, repeated, *torch.unique_consecutive(
        again, return_inverse=True, return_counts=True), torch.unique_consecutive(
            i // 5, dim=1), torch.argwhere(x > 0.3), torch.nonzero_static(x > 0.5, size=4), torch
            .nonzero_static(i > 4, size=15, fill_value=7))


def find_forms(x, i):
    rows = x[x.sum(1) > 0]
    return (x[x > 0], rows @ x.T, torch.nonzero(x > 0.5), *torch.unique(
        i, return_inverse=True, return_counts=True), torch.masked_select(
            x, x[0] > 0).sum(), torch.where(i > 4)[1])


def number_forms(x, i):
    count, peak = i.max().item(), x.max().item()
    torch._check(count >= 0)
    torch._check(count <= 9)
    branches = [torch.cond(choice, lambda x: x * 2, lambda x: x - 1, (x,)) for choice in (
        count > 3, peak < 0.25, torch.sym_not(count != 8))]
    return (*branches, x * torch.sym_max(count, 3) + torch.sym_min(count, 2), x * torch.sym_min(
        peak, 0.5))


def put_forms(x, y):
    a, b, c, d, e, f = [x.clone() for _ in range(6)]
    a.diagonal().fill_(7)
    a.diagonal(1).mul_(2)
    b.as_strided((2, 3), (1, 4)).add_(1)
    c.unfold(0, 2, 2)[0] = 5
    d[d < 0] *= 0.5
    d[d.sum(1) > 0] = y[0]
    e[y[:, 0] > 0] = y[y[:, 0] > 0] * 2
    f.fill_diagonal_(3)
    left, right = x.clone().tensor_split(2, 1)
    left += right[:, :1]
    right.mul_(2)
    first = x.clone()
    second = first.add_(1)
    first.squeeze_().mul_(2)
    return (a, b, c, d, e, f, left, right, second, x.diagonal_scatter(y[:, 0]), x.put(
        torch.tensor([1, 3]), y[0, :2]), x.index_reduce(
            0, torch.tensor([0, 0, 2]), y[:3], "amax"), *[x.index_reduce(0, torch.tensor([0, 0, 2]), y[:3], mode, include_self=own)
                       for mode in ("amin", "prod", "mean") for own in (True, False)], *x.tensor_split((1, 3), 1), *x.hsplit(
                [2]), *torch.dsplit(x[None], 5), torch.dstack([x, y]), x[torch.tensor(
                    [True, False, True, False])], F.max_unpool2d(*F.max_pool2d(
                        x[None, None], 2, return_indices=True), 2, output_size=(4, 5)), torch.diag_embed(
                            x, 1, 0, 2), x.repeat_interleave(torch.tensor([1, 0, 2, 1]), 0), x
            .repeat_interleave((y[:, 0] > 0).long() * 0 + 2, 0, output_size=8))


def complex_forms(x, y, weight):
    z = torch.complex(x, y)
    filled = torch.zeros(4, 6, dtype=torch.cfloat)
    filled[:, 1:] = z * 2
    results = (z @ z.T, torch.einsum("ij,kj->ik", z, torch.view_as_complex(weight)), torch.cat(
        [z, 2 * z]), torch.stack([z, -z], -1), z[None].expand(2, 4, 5), z.sum(1), z.mean(), z ** 2,
               z ** 3, torch.sqrt(z), torch.exp(1j * z), torch.where(x > 0, z, -z), F.pad(
                   z, (1, 2)), filled, z.select(1, -1), z.t()[0], *z.split(
                       [2, 3], 1), torch.fft.fftshift(z), torch.fft.ifftshift(z, dim=1))
    return (*[torch.view_as_real(result) for result in results], torch.fft.fftshift(x), torch
            .istft(torch.stft(x.flatten(), 8, 2, window=torch.hann_window(
                8), return_complex=True), 8, 2, window=torch.hann_window(8)), torch.istft(
                    torch.stft(x.flatten(), 8, return_complex=True), 8, length=19))


CUBE = floats(3, 4, 5)
VALUE_OPERATORS = {
    "unary": function(unary_forms, x=floats(3, 5)),
    "binary": function(binary_forms, x=floats(3, 5), y=floats(3, 5), i=ids(3, 5, high=9, low=-8),
                       j=ids(3, 5, high=9, low=-8)),
    "reduction": function(reduction_forms, x=CUBE, i=ids(3, 4, high=9, low=-8)),
    "move": function(move_forms, x=CUBE, y=floats(2, 3, 5, 6)),
    "index": function(index_forms, x=floats(4, 4, 5), i=ids(4, 2, high=4, low=0),
                      rows=ids(4, high=4, low=0), columns=ids(4, high=4, low=0)),
    "special": function(special_forms, x=floats(3, 5), y=floats(3, 5), i=ids(3, 5, high=9, low=-8),
                        j=ids(3, 5, high=9, low=-8)),
    "create": function(create_forms, x=floats(3, 4)),
    "statistics": function(statistics_forms, x=floats(4, 5), y=floats(4, 5)),
    "rounded": function(rounded_forms, x=floats(3, 5), y=floats(3, 5)),
    "loss": function(loss_forms, x=floats(4, 5), y=floats(4, 5), i=ids(4, high=5, low=0)),
    "linalg": function(linalg_forms, x=floats(2, 4, 5), y=floats(2, 5, 5), v=floats(4)),
    "find": function(find_forms, x=floats(4, 5), i=ids(3, 4, high=9, low=0)),
    "count": function(count_forms, x=floats(4, 5), i=ids(3, 4, high=9, low=0)),
    "number": function(number_forms, x=floats(4, 5), i=ids(3, 4, high=9, low=0)),
    "put": function(put_forms, x=floats(4, 5), y=floats(4, 5)),
    "complex": function(complex_forms, (6, 5, 2), x=floats(4, 5), y=floats(4, 5)),
}
