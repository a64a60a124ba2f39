#!/usr/bin/env python3
"""Quantizes networks of test/networks to 8 bits, as onnxruntime's quantizer writes them.

    quantized.py resnet50 bert_base -o DIR     DIR/resnet50.onnx, DIR/bert_base.onnx

The models have QuantizeLinear and DequantizeLinear (QDQ) around their layers: activations of
u8 with a zero point, weights of s8 with a scale for each output channel. Batch norms are
folded into weights before. Ranges are those of a few seeded inputs. Every operator that the
quantizer knows is quantized, except in BERT: there only matrix products are.

Files are kept in the cache, as test/networks/make.py keeps the float networks, keyed by the
sources of both and onnxruntime's version.
"""

import argparse
import hashlib
import logging
import pathlib
import sys
import tempfile

import onnx
import onnx.version_converter
import onnxruntime
from onnxruntime import quantization

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "test/networks"))
import make  # noqa: E402
import zoo  # noqa: E402

SEED = 7  # not the one that made the networks' statistics
SAMPLES = 4
OPSET = 17  # scales for each channel need 13
PRODUCTS = ["MatMul", "Gemm"]


class Samples(quantization.CalibrationDataReader):
    def __init__(self, network, names):
        self.rest = [zoo.feeds(network, names, SEED + i, 1) for i in range(SAMPLES)]

    def get_next(self):
        return self.rest.pop() if self.rest else None


def fold(source, path):
    """What onnxruntime's basic optimizations make of the model: no batch norms are left."""
    model = onnx.load(source)
    if model.opset_import[0].version < OPSET:
        model = onnx.version_converter.convert_version(model, OPSET)
        onnx.save(model, path)
        source = path
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(path)
    onnxruntime.InferenceSession(str(source), options, ["CPUExecutionProvider"])


def quantize(name, source, path):
    network = zoo.NETWORKS[name]
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        folded = pathlib.Path(scratch) / "folded.onnx"
        fold(source, folded)
        names = [i.name for i in onnx.load(folded, load_external_data=False).graph.input]
        quantization.quantize_static(
            str(folded), str(path), Samples(network, names),
            quant_format=quantization.QuantFormat.QDQ, per_channel=True,
            activation_type=quantization.QuantType.QUInt8,
            weight_type=quantization.QuantType.QInt8,
            op_types_to_quantize=PRODUCTS if "bert" in name else None)


def key():
    digest = hashlib.sha256(pathlib.Path(__file__).read_bytes())
    digest.update(f"{make.source_key()} {onnxruntime.__version__}".encode())
    return digest.hexdigest()[:12]


def made(name):
    """The path of the quantized network in the cache, made if it is not there."""
    folder = make.cache_folder() / "networks-int8" / key()
    path = folder / f"{name}.onnx"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        make.forget_old(folder)
        with tempfile.TemporaryDirectory(dir=folder) as unfinished:
            partial = pathlib.Path(unfinished) / path.name
            quantize(name, make.made(name), partial)
            partial.replace(path)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", metavar="NAME", choices=list(zoo.NETWORKS))
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True,
                        help="folder for the files")
    arguments = parser.parse_args()
    # The quantizer advises to do what fold() has done.
    logging.getLogger().setLevel(logging.ERROR)
    for name in arguments.names:
        print(make.place(made(name), arguments.output))
    return 0


if __name__ == "__main__":
    sys.exit(main())
