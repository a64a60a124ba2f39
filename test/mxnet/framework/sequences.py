"""Networks of sequences: recurrent layers, cells that are unrolled, control flow, and GluonNLP's
encoders and language models."""

import gluonnlp
import numpy as np
from mxnet import gluon
from mxnet.gluon import nn, rnn
from mxnet.gluon.contrib import rnn as more

BLOCKS = {}


def block(function):
    BLOCKS[function.__name__] = (lambda _, random: function(random), None)
    return function


def reals(random, *shape):
    return random.normal(0, 1, shape).astype(np.float32)


def tokens(random, *shape, count=50):
    return random.integers(0, count, shape).astype(np.float32)


class Calls(gluon.HybridBlock):
    """A block that calls a function of its parts and its inputs."""

    def __init__(self, function, *parts):
        super().__init__()
        self.function = function
        with self.name_scope():
            self.parts = parts
            for part in parts:
                self.register_child(part)

    def hybrid_forward(self, F, *inputs):
        return self.function(F, self.parts, *inputs)


def call_with_states(F, parts, x, *states):
    y, last = parts[0](x, list(states))
    return [y, *last]


for kind, layer in {"lstm": rnn.LSTM, "gru": rnn.GRU, "rnn": rnn.RNN}.items():
    for layout in ("TNC", "NTC"):
        def make_layer(_, random, layer=layer, layout=layout):
            return layer(12, 2, bidirectional=True, layout=layout), [reals(random, 6, 3, 8)]
        BLOCKS[f"{kind}_{layout.lower()}"] = (make_layer, None)


@block
def lstm_states(random):
    states = [reals(random, 2, 3, 12) for _ in range(2)]
    return Calls(call_with_states, rnn.LSTM(12, 2)), [reals(random, 6, 3, 8), *states]


def unroll(F, parts, x, *lengths):
    y, states = parts[0].unroll(5, x, layout="NTC", merge_outputs=True,
                                valid_length=lengths[0] if lengths else None)
    return [y, *states]


def make_stack():
    stack = rnn.HybridSequentialRNNCell()
    for cell in (rnn.LSTMCell(12), rnn.DropoutCell(0.3), rnn.ResidualCell(rnn.GRUCell(12)),
                 rnn.ZoneoutCell(rnn.LSTMCell(12), 0.2, 0.2)):
        stack.add(cell)
    return stack


CELLS = {"lstm": lambda: rnn.LSTMCell(12), "gru": lambda: rnn.GRUCell(12),
         "rnn": lambda: rnn.RNNCell(12), "stack": make_stack,
         "both": lambda: rnn.BidirectionalCell(rnn.LSTMCell(12), rnn.GRUCell(12)),
         "projected": lambda: more.LSTMPCell(12, 5),
         "dropped": lambda: more.VariationalDropoutCell(rnn.LSTMCell(12), 0.2, 0.2, 0.2)}
for kind, cell in CELLS.items():
    BLOCKS[f"cell_{kind}"] = (lambda _, random, cell=cell:
                              (Calls(unroll, cell()), [reals(random, 3, 5, 8)]), None)


@block
def cell_lengths(random):
    return Calls(unroll, CELLS["both"]()), [reals(random, 3, 5, 8), np.float32([5, 2, 3])]


@block
def cell_of_images(random):
    cell = more.Conv2DLSTMCell((3, 8, 8), 4, 3, 3, i2h_pad=1)
    return (Calls(lambda F, parts, x: parts[0].unroll(3, x, layout="NTC", merge_outputs=True)[0],
                  cell), [reals(random, 1, 3, 3, 8, 8)])


def run_steps(F, parts, x, h):
    def step(data, states):
        state = F.tanh(parts[0](data) + states[0])
        return [state * 2, data - state], [state]
    outputs, last = F.contrib.foreach(step, x, [h])
    return [*outputs, last[0]]


for count in (3, 40):
    BLOCKS[f"foreach_{count}"] = (
        lambda _, random, count=count: (
            Calls(run_steps, nn.Dense(4, in_units=4, flatten=False)),
            [reals(random, count, 2, 4), reals(random, 2, 4)]), None)


@block
def foreach_cell(random):
    def run(F, parts, x):
        states = parts[0].begin_state(func=F.zeros, batch_size=2)
        y, states = F.contrib.foreach(parts[0], x, states)
        return [y, *states]
    return Calls(run, rnn.LSTMCell(6, input_size=4)), [reals(random, 20, 2, 4)]


@block
def while_loop(random):
    def run(F, parts, x, i):
        # All runs take place: MXNet leaves slices of others undefined.
        _, states = F.contrib.while_loop(
            lambda i, y: F.sum(y) < 20,
            lambda i, y: ([y], [i + 1, F.broadcast_add(y, i)]), [i, x], max_iterations=10)
        return states
    return Calls(run), [np.abs(reals(random, 2, 3)), np.float32([1])]


@block
def branches(random):
    def run(F, parts, x, y):
        return F.contrib.cond(F.sum(x) > F.sum(y), lambda: F.tanh(x) * y, lambda: x - y)
    return Calls(run), [reals(random, 2, 3), reals(random, 2, 3)]


def make_encoder(**options):
    return gluonnlp.model.BERTEncoder(units=32, hidden_size=64, num_layers=2, max_length=16,
                                      num_heads=4, **options)


def make_bert(**options):
    return gluonnlp.model.BERTModel(make_encoder(), vocab_size=50, token_type_vocab_size=2,
                                    units=32, embed_size=32, **options)


def make_text(random):
    return [tokens(random, 2, 12), tokens(random, 2, 12, count=2), np.float32([12, 7])]


@block
def bert(random):
    return make_bert(use_decoder=False), make_text(random)


@block
def bert_decoder(random):
    return make_bert(), [*make_text(random), np.float32([[1, 3], [2, 5]])]


@block
def bert_classifier(random):
    model = make_bert(use_decoder=False, use_classifier=False)
    return gluonnlp.model.BERTClassifier(model, num_classes=3), make_text(random)


@block
def roberta(random):
    model = gluonnlp.model.RoBERTaModel(make_encoder(layer_norm_eps=1e-5), vocab_size=50,
                                        units=32, embed_size=32, use_decoder=False)
    text = make_text(random)
    return model, [text[0], text[2]]


@block
def distilbert(random):
    model = gluonnlp.model.DistilBERTModel(make_encoder(), vocab_size=50, units=32,
                                           embed_size=32)
    text = make_text(random)
    return model, [text[0], text[2]]


@block
def transformer(random):
    encoder = gluonnlp.model.TransformerEncoder(units=32, hidden_size=64, num_layers=2,
                                                max_length=16, num_heads=4)
    return (Calls(lambda F, parts, x, lengths: parts[0](x, None, lengths), encoder),
            [reals(random, 2, 12, 32), np.float32([12, 7])])


@block
def language_model(random):
    model = gluonnlp.model.StandardRNN("lstm", 50, 16, 24, 2, dropout=0.2, tie_weights=False)

    def run(F, parts, x, h, c):
        return model.decoder(model.encoder(model.embedding(x), [h, c])[0])
    states = [reals(random, 2, 3, 24) for _ in range(2)]
    return Calls(run, model), [tokens(random, 5, 3), *states]


@block
def convolutional_encoder(random):
    model = gluonnlp.model.ConvolutionalEncoder(embed_size=8, num_filters=(5, 6),
                                                ngram_filter_sizes=(1, 2), num_highway=1,
                                                output_size=7)
    return model, [reals(random, 9, 2, 8), np.ones((9, 2), np.float32)]
