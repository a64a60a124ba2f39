"""Programs of one kind of layer each, in all of its forms: odd sizes, edges and all flags."""

import torch
import torch.nn.functional as F
from torch import nn

from inputs import floats, ids
from modules import function, layer
from vision import network


def conv_forms(x, line, volume, w, w1, w3, depthwise, bias):
    return (F.conv2d(x, w, bias), F.conv2d(x, w, None, (2, 1), (1, 2), (1, 2)),
            F.conv2d(x, w, bias, 1, "same"), F.conv2d(x, w, bias, padding="same", dilation=2),
            F.conv2d(x, w[..., :2], padding="same"), F.conv2d(x, w, bias, 2, "valid"),
            F.conv2d(x, depthwise, None, 2, 1, 1, 4), F.conv2d(x[0], w, bias),
            F.conv2d(x, w[:4, :2], bias[:4], padding=(0, 3), groups=2),
            F.conv1d(line, w1, bias, 3, 4), F.conv1d(line, w1, bias, padding="same", dilation=3),
            F.conv1d(line[0], w1), F.conv3d(volume, w3, bias, (1, 2, 1), (1, 0, 2)),
            torch.conv2d(x, w, bias, 2), torch.convolution(
                x, w, bias, [2, 2], [1, 1], [1, 1], False, [0, 0], 1))


def transposed_forms(x, line, volume, w, w1, w3, bias):
    return (F.conv_transpose2d(x, w, bias), F.conv_transpose2d(x, w, None, 2, 1, 1),
            F.conv_transpose2d(x, w, bias, (2, 3), (0, 1), (1, 2), 1, (1, 1)),
            F.conv_transpose2d(x, w, None, 2, 0, 0, 2), F.conv_transpose2d(x[0], w, bias),
            F.conv_transpose2d(x, w, dilation=2), F.conv_transpose1d(line, w1, bias, 2, 1),
            F.conv_transpose3d(volume, w3, bias, 2, 1, 1))


def pool_forms(x, line, volume):
    places = F.max_pool2d(x, 3, 2, 1, return_indices=True)
    return (F.max_pool2d(x, 3), F.max_pool2d(x, (3, 2), (2, 1), (1, 0), (2, 3)),
            F.max_pool2d(x, 3, 2, 1, ceil_mode=True), F.max_pool2d(x, 2, 3, ceil_mode=True),
            F.max_pool2d(x[0], 2), *places, F.max_pool1d(line, 3, 2, 1), F.max_pool1d(
                line, 2, ceil_mode=True), F.max_pool1d(line, 3, return_indices=True)[1],
            F.max_pool3d(volume, 2, 1, 1), F.max_pool3d(volume, 2, return_indices=True)[1],
            F.avg_pool2d(x, 3), F.avg_pool2d(x, (3, 2), (2, 1), (1, 0)),
            F.avg_pool2d(x, 3, 2, 1, True, True), F.avg_pool2d(x, 3, 2, 1, True, False),
            F.avg_pool2d(x, 3, 2, 1, False, False), F.avg_pool2d(x, 2, divisor_override=3),
            F.avg_pool1d(line, 3, 2, 1), F.avg_pool1d(line, 4, 3, 2, True, False),
            F.avg_pool3d(volume, 2, 2, 1), F.avg_pool2d(x[0], 2, 2),
            F.adaptive_avg_pool2d(x, 1), F.adaptive_avg_pool2d(x, (3, 4)),
            F.adaptive_avg_pool2d(x, (None, 2)), F.adaptive_avg_pool1d(line, 5),
            F.adaptive_avg_pool3d(volume, (2, 3, 1)), F.adaptive_max_pool2d(x, (3, 4)),
            F.adaptive_max_pool2d(x, (3, 2), return_indices=True)[1], F.adaptive_max_pool1d(line, 4),
            F.adaptive_avg_pool2d(x, 20), F.lp_pool2d(x.abs(), 3, 2))


def norm_forms(x, line, volume, w, b, mean, variance, w2):
    return (F.batch_norm(x, mean, variance.abs() + 0.1, w, b),
            F.batch_norm(x, mean, variance.abs() + 0.1, None, None, eps=0.01),
            F.batch_norm(x, mean, variance.abs() + 0.1, w), F.batch_norm(
                line, mean, variance.abs() + 0.1, w, b), F.batch_norm(
                    volume, mean, variance.abs() + 0.1, w, b), F.batch_norm(
                        line[..., 0], mean, variance.abs() + 0.1, w, b),
            F.group_norm(x, 2, w, b), F.group_norm(x, 4), F.group_norm(line, 1, w, None, 0.1),
            F.group_norm(line[..., 0], 2, w, b), F.instance_norm(x, weight=w, bias=b),
            F.instance_norm(line), F.instance_norm(x, mean, variance.abs() + 0.1, w, b, False),
            F.layer_norm(line, (11,)), F.layer_norm(line, (4, 11), w2), F.layer_norm(
                line, (4, 11), w2, w2 * 2, 0.1), F.rms_norm(line, (11,)), F.rms_norm(
                    line, (4, 11), w2, 0.1), F.local_response_norm(x, 3, 0.1, 0.5, 2.0),
            F.normalize(line, 3, 1), F.batch_norm(x, None, None, w, b, True))


def activation_forms(x, slope):
    return (F.gelu(x), F.gelu(x, approximate="tanh"), F.silu(x), F.mish(x), F.elu(x, 0.7),
            F.selu(x), F.celu(x, 0.7), F.hardswish(x), F.hardsigmoid(x), F.hardtanh(x, -0.3, 0.6),
            F.relu6(x), F.softplus(x), F.softplus(x * 20, 2, 5), F.softsign(x), F.tanhshrink(x),
            F.leaky_relu(x, 0.2), F.logsigmoid(x), F.hardshrink(x, 0.4), F.softshrink(x, 0.3),
            F.threshold(x, 0.1, -3.0), F.prelu(x, slope), F.prelu(x, slope[:1]),
            F.rrelu(x), F.glu(x, 2), F.softmax(x, 1), F.softmax(x, -1, dtype=torch.float32),
            F.log_softmax(x, 0), F.softmin(x, 1), F.softmax(x[0, 0, 0], 0), F.relu(x), x.sigmoid(),
            x.tanh(), F.elu(x), F.dropout(x, training=False), F.alpha_dropout(x),
            torch.softmax(x, -1), F.feature_alpha_dropout(x), F.leaky_relu_(x * 1, 0.3),
            F.elu_(x * 1), F.silu(x * 1, inplace=True), F.hardtanh_(x * 1), F.gelu(x.double()))


def resize_forms(x, line, volume):
    return (F.interpolate(x, (13, 9)), F.interpolate(x, scale_factor=(2.0, 1.5)),
            F.interpolate(x, (5, 13), mode="nearest-exact"), F.interpolate(line, 17),
            F.interpolate(line, 5, mode="linear"), F.interpolate(
                line, 17, mode="linear", align_corners=True), F.interpolate(volume, (3, 9, 5)),
            F.interpolate(volume, (3, 9, 5), mode="trilinear"), F.interpolate(
                x, (13, 5), mode="bilinear"), F.interpolate(
                    x, (13, 5), mode="bilinear", align_corners=True), F.interpolate(
                        x, scale_factor=1.7, mode="bilinear"), F.interpolate(
                            x, scale_factor=1.7, mode="bilinear", recompute_scale_factor=True),
            F.interpolate(x, (13, 5), mode="bicubic"), F.interpolate(
                x, (13, 5), mode="bicubic", align_corners=True), F.interpolate(
                    x, (4, 12), mode="bilinear", antialias=True), F.interpolate(
                        x, (3, 12), mode="bicubic", antialias=True), F.interpolate(
                            x, (4, 3), mode="area"), F.interpolate(x, (1, 1), mode="bilinear"),
            F.pixel_shuffle(x, 2), F.pixel_unshuffle(x[..., :6, :9], 3), F.channel_shuffle(x, 2),
            F.interpolate(volume, (3, 9, 5), mode="nearest-exact"), F.interpolate(
                volume, (3, 9, 5), mode="trilinear", align_corners=True))


def grid_forms(x, volume, grid, places):
    modes = [F.grid_sample(x, grid, mode, padding, corners)
             for mode in ("bilinear", "nearest", "bicubic")
             for padding in ("zeros", "border", "reflection") for corners in (False, True)]
    theta = grid[:, 0, :2].repeat(1, 1, 2)[:, :, :3]
    return (*modes, F.grid_sample(volume, places), F.affine_grid(theta, (2, 3, 5, 4)),
            F.affine_grid(theta, (2, 3, 5, 4), align_corners=True))


def fold_forms(x):
    return (F.unfold(x, 3), F.unfold(x, (2, 3), (2, 1), (1, 0), (1, 2)), F.unfold(x[0], 2, 1, 1),
            F.fold(F.unfold(x, 3, 1, 1, 2), (7, 9), 3, 1, 1, 2), F.fold(
                F.unfold(x, (2, 3)), (7, 9), (2, 3)))


def embedding_forms(i, flat, starts, table, weights):
    bags = [F.embedding_bag(i, table, mode=mode) for mode in ("sum", "mean", "max")]
    limited = table * 1
    return (F.embedding(i, table), F.embedding(i, table, 3), F.embedding(
        i[:1], limited, max_norm=1.5), limited, F.embedding(
            i, table * 2, max_norm=3.0, norm_type=1), *bags, F.embedding_bag(
        i, table, mode="sum", per_sample_weights=weights), F.embedding_bag(
            i, table, mode="mean", padding_idx=4), F.embedding_bag(
                flat, table, torch.tensor([0, 2, 2, 5])), F.embedding_bag(
                    flat, table, torch.tensor([0, 3, 7]), mode="mean", include_last_offset=True),
        F.embedding_bag(flat, table, starts.cumsum(0) - starts, mode="sum"))


def signal_forms(x, window):
    spectrum = torch.fft.rfft(x)
    lines = torch.stft(x, 16, 5, window=window, return_complex=True)
    return (spectrum.real, spectrum.imag, spectrum.abs(), spectrum.angle(), torch.fft.irfft(
        spectrum), torch.fft.irfft(spectrum, n=61), torch.fft.rfft(x, n=20, norm="ortho").real,
        torch.view_as_real(torch.fft.fft(x)), torch.view_as_real(torch.fft.ifft(
            torch.fft.fft(x, dim=0), dim=0)), torch.fft.rfft(x, n=70, dim=-1, norm="forward").real,
        torch.view_as_real(lines), torch.stft(x, 16, center=False, return_complex=True).abs(),
        torch.stft(x, 12, 4, 9, normalized=True, onesided=False, return_complex=True).imag,
        torch.fft.rfft2(x.view(2, 8, 8)).abs(), (spectrum * spectrum.conj()).real)


def attention_forms(q, k, v, mask, grouped):
    attend = F.scaled_dot_product_attention
    return (attend(q, k, v), attend(q, k, v, is_causal=True), attend(q, k, v, scale=0.3),
            attend(q, k, v, mask), attend(q, k, v, mask[0]), attend(q, k, v, mask > -0.8),
            attend(q, grouped, grouped, enable_gqa=True, is_causal=True),
            attend(q[:, 0], k[:, 0], v[:, 0]), attend(q[0], k[0], v[0], mask[0]),
            attend(q, k, v[..., :3]))


def product_forms(a, b, row, batch, w):
    return (a @ b, row @ b, b.mT @ row, row @ row, batch @ b, batch @ batch.mT, row @ batch.mT,
            batch @ row, torch.mm(a, b), torch.bmm(batch, batch.mT), torch.addmm(
                a @ b, a, b, beta=0.5, alpha=2), torch.addmm(w[0, :7], a, b), torch.mv(b.T, row),
            torch.dot(row, row), torch.outer(row, row), torch.baddbmm(
                batch @ batch.mT, batch, batch.mT, beta=0.3, alpha=0.7), torch.addmv(
                    w[0, :4], a, row), torch.addbmm(a @ a.T, a[None], a.T[None]), F.linear(a, w),
            F.linear(a, w, w[:, 0]), F.linear(row, w), F.linear(batch[..., :5] @ w[:5, :5], w[:, :5], w[:, 1]),
            torch.einsum("ij,jk->ik", a, b), torch.einsum("bij,bkj->bik", batch, batch),
            torch.einsum("bii->bi", batch[:, :3, :3]), torch.einsum("...i,...i->...", a, a),
            torch.einsum("i,j,k->ijk", row, row[:2], row[:3]), torch.tensordot(a, b, 1),
            torch.matmul(batch[:, None], batch[None].mT), torch.linalg.vecdot(a, a),
            torch._int_mm((a * 20).to(torch.int8), (b * 20).to(torch.int8)), torch.adjoint(a), a.mH,
            torch.kron(a[:2, :2], b[:2, :3]), torch.chain_matmul(a, b, b.T))


def cell_forms(x, h, c, w, r, b):
    lstm, gru = nn.functional, torch
    return (*torch.lstm_cell(x, (h, c), w, r, b, b), torch.gru_cell(x, h, w[:24], r[:24], b[:24],
                                                                   b[:24]),
            torch.rnn_tanh_cell(x, h, w[:8], r[:8]), torch.rnn_relu_cell(x, h, w[:8], r[:8], b[:8]))


class Cells(nn.Module):
    """A recurrent layer with states that are given, whose results are all kept."""

    def __init__(self, make):
        super().__init__()
        self.cells = make()

    def forward(self, x, *states):
        y, last = self.cells(x, states if len(states) > 1 else states[0] if states else None)
        return y, *(last if isinstance(last, tuple) else (last,))


def cells(make, states=0, rows=1, batch=3, size=6, **more):
    shape = (rows, batch, size) if batch else (rows, size)
    given = {f"s{i}": floats(*shape) for i in range(states)}
    return layer_of(lambda: Cells(make), x=more.get("x", floats(5, 3, 4)), **given)


def layer_of(make, **specs):
    return network(make, **specs)


IMAGE, LINE, VOLUME = floats(2, 4, 7, 9), floats(2, 4, 11), floats(2, 4, 5, 6, 7)
LAYER_OPERATORS = {
    "conv": function(conv_forms, (6, 4, 3, 3), (6, 4, 5), (6, 4, 2, 3, 2), (8, 1, 3, 3), (6,),
                     x=IMAGE, line=LINE, volume=VOLUME),
    "conv_transpose": function(transposed_forms, (4, 6, 3, 3), (4, 6, 3), (4, 6, 2, 3, 2), (6,),
                               x=IMAGE, line=LINE, volume=VOLUME),
    "pool": function(pool_forms, x=IMAGE, line=LINE, volume=VOLUME),
    "norm": function(norm_forms, (4,), (4,), (4,), (4,), (4, 11), x=IMAGE, line=LINE,
                     volume=VOLUME),
    "activation": function(activation_forms, (4,), x=floats(2, 4, 6, 5)),
    "resize": function(resize_forms, x=floats(2, 4, 7, 9), line=LINE, volume=VOLUME),
    "grid": function(grid_forms, x=IMAGE, volume=VOLUME, grid=floats(2, 3, 5, 2),
                     places=floats(2, 2, 3, 4, 3)),
    "fold": function(fold_forms, x=IMAGE),
    "embedding": function(embedding_forms, (20, 6), (4, 5), i=ids(4, 5, high=20, low=0),
                          flat=ids(7, high=20, low=0), starts=ids(3, high=3, low=1)),
    "signal": function(signal_forms, x=floats(2, 64), window=floats(16)),
    "attention": function(attention_forms, q=floats(2, 4, 5, 8), k=floats(2, 4, 7, 8),
                          v=floats(2, 4, 7, 8), mask=floats(2, 1, 5, 7),
                          grouped=floats(2, 2, 7, 8)),
    "product": function(product_forms, (5, 9), a=floats(4, 9), b=floats(9, 7), row=floats(9),
                        batch=floats(3, 5, 9)),
    "cell": function(cell_forms, (32, 4), (32, 8), (32,), x=floats(3, 4), h=floats(3, 8),
                     c=floats(3, 8)),
    "lstm_states": cells(lambda: nn.LSTM(4, 6), 2),
    "lstm_layers": cells(lambda: nn.LSTM(4, 6, 2, bidirectional=True, batch_first=True), 2, 4, 5),
    "lstm_projected": cells(lambda: nn.LSTM(4, 6, proj_size=3)),
    "lstm_no_bias": cells(lambda: nn.LSTM(4, 6, bias=False)),
    "lstm_no_batch": cells(lambda: nn.LSTM(4, 6), 2, 1, 0, x=floats(5, 4)),
    "gru_states": cells(lambda: nn.GRU(4, 6), 1),
    "gru_layers": cells(lambda: nn.GRU(4, 6, 3, bidirectional=True, batch_first=True), 1, 6, 5),
    "gru_no_bias": cells(lambda: nn.GRU(4, 6, bias=False)),
    "rnn_states": cells(lambda: nn.RNN(4, 6, 2, bidirectional=True), 1, 4),
    "rnn_relu": cells(lambda: nn.RNN(4, 6, nonlinearity="relu", batch_first=True)),
}
