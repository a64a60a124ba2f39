#!/usr/bin/env python3
"""Tests networks of Caffe with one fault: nnc ends with an exit code of the table and a message
that names the file and the fault, in bounded time, without any output files."""

import pathlib
import sys
import tempfile
import unittest

import numpy as np

import formats
from caffemodel import blob, caffemodel, field, varint

sys.path.append(str(pathlib.Path(__file__).parents[1] / "broken"))
import outcome
from outcome import BROKEN, DONE, LACKING, LIMIT, USAGE

INPUT = 'input: "x" input_shape { dim: 2 dim: 3 dim: 8 dim: 8 }\n'


def layer(kind, more="", bottom="x", top="y", name="mine"):
    bottoms = " ".join(f'bottom: "{b}"' for b in bottom.split())
    tops = " ".join(f'top: "{t}"' for t in top.split())
    return f'layer {{ name: "{name}" type: "{kind}" {bottoms} {tops} {more} }}\n'


def one(kind, more="", **names):
    return INPUT + layer(kind, more, **names)


def conv(more):
    return one("Convolution", f"convolution_param {{ {more} }}")


# {name: (text, exit code, part of the message)}
TEXTS = {
    "sound": (one("ReLU"), DONE, ""),
    "bottom-unknown": (one("ReLU", bottom="z"), BROKEN, "'z', which no layer computes"),
    "bottom-training": (INPUT + layer("Data", "include { phase: TRAIN }", bottom="", top="data")
                        + layer("ReLU", bottom="data"), BROKEN, "layer of type Input"),
    "cycle": (INPUT + layer("ReLU", bottom="b", top="a") + layer("ReLU", bottom="a", top="b"),
              BROKEN, "not in front of it"),
    "self": (one("ReLU", bottom="y"), BROKEN, "not in front of it"),
    "top-twice": (INPUT + layer("ReLU") + layer("ReLU"), BROKEN, "which layer 'mine' computes, too"),
    "top-missing": (one("ReLU", top="a b"), BROKEN, "more than it computes"),
    "bottoms-few": (one("ReLU", bottom=""), BROKEN, "0 bottoms; it needs at least 1"),
    "bottoms-many": (one("ReLU", bottom="x x"), BROKEN, "at most 1"),
    "type-unknown": (one("Foo"), LACKING, "layer type 'Foo'"),
    "type-missing": (one(""), BROKEN, "has no type"),
    "python": (one("Python", 'python_param { module: "m" layer: "L" }'), LACKING, "m.L"),
    "rules": (one("ReLU", "include { phase: TEST } exclude { phase: TRAIN }"), BROKEN,
              "'include' and 'exclude'"),
    "empty-net": ('name: "x"\nlayer { }', BROKEN, "has no type"),
    "no-layers": (INPUT, BROKEN, "it has no layers"),
    "solver": ('net: "train.prototxt"\nbase_lr: 0.01\n', BROKEN, "settings of a solver"),
    "misspelt": ('nam: "x"\nlayers: }', BROKEN, "line 2"),
    "comment": ("# " + "x" * 5000 + "\n" + one("ReLU"), DONE, ""),
    "page": ("<!DOCTYPE html>\n<html></html>", BROKEN, "looks like a web page"),
    "letter": ("Dear net,\nno layer { here }\n", BROKEN, "is not a model that nnc reads"),
    "only-training": (INPUT + layer("ReLU", "include { phase: TRAIN }"), BROKEN, "no outputs"),
    "syntax": (INPUT + "layer { name: }", BROKEN, "line 2, column 15"),
    "enum": (one("Pooling", "pooling_param { pool: MOST }"), BROKEN, "MOST"),
    "two-ages": (INPUT + layer("ReLU") + "layers { type: RELU }", BROKEN, "'layers'"),
    "dims": ('input: "x" input_dim: 3\n' + layer("ReLU"), BROKEN, "four entries of input_dim"),
    "v0-type": (INPUT + 'layers { layer { name: "a" type: "b" } }', BROKEN, "V0"),
    "v0-padding": (INPUT + 'layers { layer { name: "p" type: "padding" pad: 1 } bottom: "x" '
                   'top: "p" } layers { layer { name: "r" type: "relu" } bottom: "p" top: "r" }',
                   BROKEN, "type padding"),
    "not-utf8": (INPUT + 'layer { name: "\\377" type: "ReLU" bottom: "x" top: "y" }', BROKEN,
                 "UTF-8"),
    "nested": (INPUT + "layer { foo " + "{ a " * 100000 + "}" * 100001, BROKEN, "line 2"),
    "unknown-nested": ("layer { " * 5000, BROKEN, "line 1"),
    "dim-huge": ('input: "x" input_shape { dim: 4000000000000 }\n' + layer("ReLU"), LIMIT, "'x'"),
    "dim-overflow": ('input: "x" input_shape { dim: 4294967296 dim: 4294967296 }\n'
                     + layer("ReLU"), LIMIT, "'x'"),
    "dim-negative": ('input: "x" input_shape { dim: -5 }\n' + layer("ReLU"), LIMIT, "'x'"),
    "rank-huge": ('input: "x" input_shape { ' + "dim: 1 " * 100 + "}\n" + layer("ReLU"), LIMIT,
                  "'x'"),
    "conv-no-kernel": (conv("num_output: 1"), BROKEN, "kernel_size"),
    "conv-kernels": (conv("num_output: 1 kernel_size: 3 kernel_h: 3"), BROKEN, "kernel_size"),
    "conv-three": (conv("num_output: 1 kernel_size: [1, 2, 3]"), BROKEN, "3 values"),
    "conv-stride": (conv("num_output: 1 kernel_size: 3 stride: 0"), BROKEN, "stride of 0"),
    "conv-pad": (conv("num_output: 1 kernel_size: 3 pad: 4294967295"), BROKEN, "pad of"),
    "conv-group": (conv("num_output: 4 kernel_size: 3 group: 2"), BROKEN, "group 2"),
    "conv-group-0": (conv("num_output: 4 kernel_size: 3 group: 0"), BROKEN, "group 0"),
    "conv-outputs": (conv("kernel_size: 3"), BROKEN, "num_output 0"),
    "conv-huge": (conv("num_output: 100000 kernel_size: 100000 bias_term: false"), LIMIT, "GiB"),
    "conv-axis": (conv("num_output: 4 kernel_size: 3 axis: 2"), LACKING, "axis 2"),
    "conv-axis-9": (conv("num_output: 4 kernel_size: 3 axis: 9"), BROKEN, "axis"),
    "pool-pad": (one("Pooling", "pooling_param { kernel_size: 2 pad: 2 }"), BROKEN, "pad"),
    "pool-large": (one("Pooling", "pooling_param { kernel_size: 20 }"), BROKEN, "kernel"),
    "pool-random": (one("Pooling", "pooling_param { kernel_size: 2 pad: 1 pool: STOCHASTIC }"),
                    BROKEN, "STOCHASTIC"),
    "spp-height": (one("SPP", "spp_param { pool: MAX }"), BROKEN, "pyramid_height"),
    "spp-bins": (one("SPP", "spp_param { pyramid_height: 9 }"), BROKEN, "pad"),
    "roi-rows": (one("ROIPooling", "roi_pooling_param { pooled_h: 2 pooled_w: 2 }", bottom="x x"),
                 BROKEN, "rows of 5"),
    "pool-behind": (one("Pooling", "pooling_param { kernel_size: 1 stride: 9 }"), LACKING,
                    "behind the image"),
    "lrn-even": (one("LRN", "lrn_param { local_size: 4 }"), BROKEN, "odd"),
    "eltwise-shapes": (INPUT + layer("Flatten", top="f") + layer("Eltwise", bottom="x f"), BROKEN,
                       "have to be equal"),
    "eltwise-coeff": (one("Eltwise", "eltwise_param { coeff: 1 }", bottom="x x"), BROKEN,
                      "1 coefficients"),
    "concat-shapes": (INPUT + layer("Flatten", top="f") + layer("Concat", bottom="x f"), BROKEN,
                      "differ along axis 1"),
    "slice-points": (one("Slice", "slice_param { slice_point: 2 slice_point: 1 }", top="a b c"),
                     BROKEN, "ascend"),
    "slice-uneven": (one("Slice", top="a b"), BROKEN, "0 slice points and 2 tops"),
    "reshape": (one("Reshape", "reshape_param { shape { dim: 5 dim: -1 } }"), BROKEN, "elements"),
    "reshape-two": (one("Reshape", "reshape_param { shape { dim: -1 dim: -1 } }"), BROKEN, "shape"),
    "reshape-overflow": (one("Reshape", "reshape_param { shape { dim: 4611686018427387904 dim: 4 "
                             "dim: -1 } }"), BROKEN, "shape"),
    "reshape-many": (one("Reshape", "reshape_param { shape { " + "dim: 1 " * 50 + "dim: -1 } }"),
                     BROKEN, "shape"),
    "tile-huge": (one("Tile", "tile_param { tiles: 2147483647 }"), LIMIT, "an axis has 0 to"),
    "permute-twice": (one("Permute", "permute_param { order: 0 order: 0 }"), BROKEN, "twice"),
    "crop-beyond": (one("Crop", "crop_param { offset: 4294967295 }", bottom="x x"), BROKEN,
                    "beyond"),
    "interp-pad": (one("Interp", "interp_param { pad_beg: 1 }"), BROKEN, "pad"),
    "interp-huge": (one("Interp", "interp_param { height: 2147483647 width: 2147483647 }"), LIMIT,
                    "GiB"),
    "upsample-huge": (one("Upsample", "upsample_param { scale: 4294967295 }"), BROKEN, "scale"),
    "upsample-much": (one("Upsample", "upsample_param { scale: 100000 }"), LIMIT, "GiB"),
    "unpool-huge": (one("Upsample", "upsample_param { upsample_h: 2147483647 }", bottom="x x"),
                    LIMIT, "GiB"),
    "prior-sizes": (one("PriorBox", "prior_box_param { aspect_ratio: 2 }", bottom="x x"), BROKEN,
                    "min_size"),
    "prior-many": ('input: "x" input_shape { dim: 1 dim: 1 dim: 30000 dim: 30000 }\n'
                   + layer("PriorBox", "prior_box_param { min_size: 2 }", bottom="x x"), LIMIT,
                   "more boxes"),
    "argmax-many": (one("ArgMax", "argmax_param { axis: 1 top_k: 9 }"), BROKEN, "top_k 9"),
    "log-base": (one("Log", "log_param { base: 0 }"), BROKEN, "base 0"),
    "lstm-steps": ('input: "x" input_shape { dim: 300 dim: 1 dim: 1 }\ninput: "c" input_shape '
                   "{ dim: 300 dim: 1 }\n" + layer("LSTM", "recurrent_param { num_output: 2 }",
                                                   bottom="x c"), LACKING, "300 steps"),
    "weights-missing": (one("InnerProduct", "inner_product_param { num_output: 2 }"), USAGE,
                        "--weights FILE.caffemodel"),
}

SOUND = caffemodel(formats.WEIGHTS)
ARRAY = np.ones((4, 3, 3, 3))


def with_conv(*fields):
    """Weights whose layer `conv` has one blob of these fields."""
    return field(1, "net") + field(100, field(1, "conv") + field(7, b"".join(fields)))


# {name: (weights, part of the message)} for the network of formats.py. All are broken.
WEIGHTS = {
    "empty": (b"", "is empty"),
    "text": (formats.TEXTS["dims"].encode(), "looks like text"),
    "onnx": (field(1, 8) + field(2, "pytorch") + field(7, field(2, "graph")), "an ONNX model"),
    "mxnet": (bytes([0x12, 1]) + bytes(22), "MXNet"),
    "zip": (b"PK\x03\x04" + bytes(30), "zip archive"),
    "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(30), "HDF5"),
    "mean": (blob(ARRAY, "legacy"), "mean of images"),
    "solver": (field(1, 100) + field(2, "net.caffemodel") + field(3, blob(ARRAY)), "solver"),
    "no-blobs": (field(1, "net") + field(100, field(1, "conv") + field(2, "Convolution")),
                 "none of its layers has blobs"),
    "other-layers": (caffemodel({"other": [ARRAY]}), "no layer in 'net.caffemodel' has its name"),
    "few-blobs": (caffemodel({"conv": [ARRAY], "fc": formats.WEIGHTS["fc"]}),
                  "has 1 blobs in 'net.caffemodel'; it needs its bias"),
    "other-shape": (caffemodel({**formats.WEIGHTS, "conv": [np.ones((4, 3, 5, 5)), np.ones(4)]}),
                    "of shape 4x3x5x5 with 300 elements in 'net.caffemodel'; this network needs "
                    "4x3x3x3"),
    "short-data": (with_conv(field(7, field(1, b"\x04\x03\x03\x03")), field(5, bytes(16))),
                   "with 4 elements"),
    "odd-data": (with_conv(field(5, bytes(15))), "damaged"),
    "huge-shape": (with_conv(field(7, field(1, varint((1 << 62)) * 3)), field(5, bytes(16))),
                   "4 elements"),
    "many-axes": (with_conv(field(7, field(1, b"\x01" * 100)), field(5, bytes(16))), "damaged"),
    "negative-shape": (with_conv(field(7, field(1, varint(-4))), field(5, bytes(16))), "-4"),
    "cut": (SOUND[:len(SOUND) // 2], "damaged"),
    "length": (field(1, "net") + varint(100 << 3 | 2) + varint(1 << 40) + b"\x0a\x04conv",
               "damaged"),
}


class Broken(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "net.prototxt"

    def check(self, wanted, message):
        code, said, fault = outcome.compile_model(self.path)
        self.assertEqual((code, fault), (wanted, None), said[:2000])
        self.assertIn(message, said)

    def test_whole_weights_without_inputs(self):
        self.path = self.path.with_suffix(".caffemodel")
        self.path.write_bytes(SOUND)
        self.check(BROKEN, "deploy.prototxt")

    def test_all_problems(self):
        """One run reports the problems of all layers, and only once."""
        self.path.write_text(INPUT + layer("Foo", top="a", name="f") + layer("ReLU", bottom="z",
                             top="b", name="g") + layer("LRN", "lrn_param { local_size: 2 }",
                             top="c", name="h") + layer("ReLU", bottom="a", top="d", name="i"))
        code, said = outcome.run("compile", str(self.path), "-o", str(self.path.parent / "out"))
        self.assertEqual(code, BROKEN)
        self.assertEqual([name for name in "fghi" if f"node '{name}'" in said], ["f", "g", "h"])
        self.assertEqual(said.count("error:"), 3, said)

    def test_warnings(self):
        """An unknown field is ignored, and a warning names its line."""
        self.path.write_text(one("ReLU", "relu_param {\n negative_slip: 1 }") + 'flavour: "x"\n')
        code, said, _ = outcome.compile_model(self.path)
        self.assertEqual(code, DONE, said)
        self.assertIn("node 'mine': has a field 'negative_slip' in line 3", said)
        self.assertIn("'flavour' in line 4", said)


def add_test(name, text, weights, wanted, message):
    def test(self):
        self.path.write_text(text)
        if weights is not None:
            self.path.with_suffix(".caffemodel").write_bytes(weights)
        self.check(wanted, message)
    setattr(Broken, f"test_{name.replace('-', '_')}", test)


for each, (text, wanted, message) in TEXTS.items():
    add_test(f"text-{each}", text, None, wanted, message)
for each, (data, message) in WEIGHTS.items():
    add_test(f"weights-{each}", formats.TEXTS["dims"], data, BROKEN, message)

if __name__ == "__main__":
    unittest.main()
