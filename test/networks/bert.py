"""BERT-base for classification (Devlin et al. 2018), as torch.onnx writes the
Hugging Face module: layer norm, GELU and the mask in elementary ops, view() and
permute() as chains of shape ops."""

import numpy as np
from onnx import TensorProto

HIDDEN, HEADS, LAYERS, INNER = 768, 12, 12, 3072
VOCABULARY, POSITIONS, LABELS = 30522, 512, 16
# Wider than BERT's 0.02, so that attention is not all but uniform.
DEVIATION = 0.04


def _table(g, leaf, rows):
    return g.initializer(leaf + ".weight",
                         g.random(leaf).standard_normal((rows, HIDDEN), np.float32) * DEVIATION)


def _dense(g, x, leaf, fan_in, features):
    with g.at(leaf):
        weight = g.random("weight").standard_normal((fan_in, features), np.float32)
        bias = g.random("bias").standard_normal(features, np.float32)
        weight = g.initializer("weight", weight * np.float32(DEVIATION))
        y = g.op("MatMul", x, weight)
        return g.op("Add", g.initializer("bias", bias * np.float32(DEVIATION)), y)


def _layer_norm(g, x, leaf):
    with g.at(leaf):
        mean = g.reduce_mean(x, (-1,))
        centred = g.op("Sub", x, mean)
        variance = g.reduce_mean(g.op("Pow", centred, g.constant(2.0)), (-1,))
        deviation = g.op("Sqrt", g.op("Add", variance, g.constant(1e-12)))
        y = g.op("Div", centred, deviation)
        scale = 1 + 0.1 * g.random("weight").standard_normal(HIDDEN, np.float32)
        bias = 0.1 * g.random("bias").standard_normal(HIDDEN, np.float32)
        y = g.op("Mul", y, g.initializer("weight", scale.astype(np.float32)))
        return g.op("Add", y, g.initializer("bias", bias.astype(np.float32)))


def _gelu(g, x):
    y = g.op("Erf", g.op("Div", x, g.constant(np.sqrt(2.0))))
    y = g.op("Mul", x, g.op("Add", y, g.constant(1.0)))
    return g.op("Mul", y, g.constant(0.5))


def _heads(g, x, permutation):
    """[batch, tokens, hidden] to [batch, heads, tokens, hidden / heads], permuted."""
    x = g.view(x, (g.size(x, 0), g.size(x, 1), HEADS, HIDDEN // HEADS))
    return g.op("Transpose", x, perm=permutation)


def _attention(g, x, mask):
    with g.at("attention.self"):
        query = _heads(g, _dense(g, x, "query", HIDDEN, HIDDEN), [0, 2, 1, 3])
        key = _heads(g, _dense(g, x, "key", HIDDEN, HIDDEN), [0, 2, 3, 1])
        value = _heads(g, _dense(g, x, "value", HIDDEN, HIDDEN), [0, 2, 1, 3])
        scores = g.op("MatMul", query, key)
        scores = g.op("Div", scores, g.constant(np.sqrt(HIDDEN / HEADS)))
        weights = g.op("Softmax", g.op("Add", scores, mask), axis=-1)
        y = g.op("Transpose", g.op("MatMul", weights, value), perm=[0, 2, 1, 3])
        y = g.view(y, (g.size(y, 0), g.size(y, 1), HIDDEN))
    with g.at("attention.output"):
        y = g.op("Add", _dense(g, y, "dense", HIDDEN, HIDDEN), x)
        return _layer_norm(g, y, "LayerNorm")


def _embeddings(g, ids, types):
    with g.at("embeddings"):
        words = g.op("Gather", _table(g, "word_embeddings", VOCABULARY), ids)
        kinds = g.op("Gather", _table(g, "token_type_embeddings", 2), types)
        positions = g.initializer("position_ids", np.arange(POSITIONS, dtype=np.int64)[None])
        positions = g.op("Slice", positions, g.integers(0), g.size(ids, 1), g.integers(1),
                         g.integers(1))
        places = g.op("Gather", _table(g, "position_embeddings", POSITIONS), positions)
        x = g.op("Add", g.op("Add", words, kinds), places)
        return _layer_norm(g, x, "LayerNorm")


def _additive_mask(g, mask):
    """0 where there is a token, -10000 where there is none, for every head."""
    mask = g.unsqueeze(g.unsqueeze(mask, 1), 2)
    mask = g.op("Cast", mask, to=TensorProto.FLOAT)
    return g.op("Mul", g.op("Sub", g.constant(1.0), mask), g.constant(-10000.0))


def bert(g, layers=LAYERS):
    ids, mask, types = (g.input(name, ["batch", 128], TensorProto.INT64)
                        for name in ("input_ids", "attention_mask", "token_type_ids"))
    with g.at("bert"):
        mask = _additive_mask(g, mask)
        x = _embeddings(g, ids, types)
        for i in range(layers):
            with g.at(f"encoder.layer.{i}"):
                x = _attention(g, x, mask)
                y = _gelu(g, _dense(g, x, "intermediate.dense", HIDDEN, INNER))
                y = g.op("Add", _dense(g, y, "output.dense", INNER, HIDDEN), x)
                x = _layer_norm(g, y, "output.LayerNorm")
        # The first token of each sentence stands for all of it.
        first = g.op("Gather", x, g.constant(0, np.int64), axis=1, channels=HIDDEN)
        pooled = g.op("Tanh", g.linear(first, "pooler.dense", HIDDEN))
    logits = g.linear(pooled, "classifier", LABELS, activation_follows=False)
    g.output(x, "last_hidden_state", ["batch", 128, HIDDEN])
    g.output(logits, "logits", ["batch", LABELS])
