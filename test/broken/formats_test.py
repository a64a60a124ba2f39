"""Tests what nnc reports for a file that is not a model, and that it recognizes models by their
content."""

import gzip
import io
import pathlib
import pickle
import sys
import tarfile
import tempfile
import unittest
import zipfile

import numpy as np
import onnx.parser

import models
import outcome

TEXT = '<ir_version: 8, opset_import: ["" : 17]>\nagraph (float[2] x) => (float[2] y) {\n' \
       "  y = Relu (x)\n}\n"


def zipped(name):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(name, "{}")
    return stream.getvalue()


def tarred():
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("model.onnx"))
    return stream.getvalue()


def array():
    stream = io.BytesIO()
    np.save(stream, np.zeros(3))
    return stream.getvalue()


HEADER = b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
# name: (content, what it looks like, what to do)
FOREIGN = {
    "zip": (zipped("layers.txt"), "a zip archive of another program", "unpack it"),
    "keras": (zipped("config.json"), "a model of Keras", "model.export(DIR)"),
    "keras_metadata": (zipped("metadata.json"), "a model of Keras", "model.export(DIR)"),
    "pickle": (pickle.dumps({"w": [1.0]}, protocol=2), "a Python pickle", "torch.export.save"),
    "pickle_4": (pickle.dumps({"w": [1.0]}, protocol=4), "a Python pickle", "torch.export.save"),
    "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(40), "an HDF5 file", "model.export(DIR)"),
    "safetensors": (len(HEADER).to_bytes(8, "little") + HEADER + bytes(4), "a safetensors file",
                    "load it into its network"),
    # The length in front starts as a ModelProto does.
    "safetensors_8": ((8).to_bytes(8, "little") + b'{"a":{}}', "a safetensors file",
                      "load it into its network"),
    "gguf": (b"GGUF\3\0\0\0" + bytes(40), "a GGUF file", "export the network"),
    "array": (array(), "a NumPy array", "--input"),
    "gzip": (gzip.compress(models.sound().SerializeToString()), "compressed with gzip", "gunzip"),
    "tar": (tarred(), "a tar archive", "unpack it"),
    "pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 9\n",
                "a Git LFS pointer", "run git lfs pull"),
    "page": (b"<!DOCTYPE html>\n<html><body>Not found</body></html>\n", "a web page",
             "the download failed"),
    "xml": (b'<?xml version="1.0"?>\n<net name="m" version="11"></net>\n', "an XML file",
            "export the model"),
    "json": (b'{"layers": []}\n', "a JSON file", "the model's own file"),
    "program": (pathlib.Path("/proc/self/exe").read_bytes()[:5000], "a program or library",
                "the model's own file"),
}
# Of these, those that hold no model. The others hold one that nnc does not read.
NO_MODELS = {"array", "pointer", "page", "json", "program"}
# Of no format that is known.
UNKNOWN = {
    "letter": b"Dear model,\nthere is no graph (sorry) in here.\n",
    "byte": b"\x08",
    "zeros": bytes(4096),
    "ones": b"\xff" * 100,
    "graph_alone": models.sound().graph.SerializeToString(),
    "tag": b"<relu>",
}


class Formats(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def write(self, content, name="file.onnx"):
        path = self.folder / name
        path.write_bytes(content)
        return path

    def refused(self, path, *patterns, ends=outcome.BROKEN):
        for code, said, fault in ((*outcome.run("check", str(path)), None),
                                  outcome.compile_model(path)):
            self.assertIsNone(fault or outcome.find_fault(path, code, said), said)
            self.assertEqual(code, ends, said)
            self.assertEqual(len(said.splitlines()), 1, said)
            for pattern in patterns:
                self.assertIn(pattern, said)

    def test_foreign(self):
        for name, (content, looks, advice) in FOREIGN.items():
            # The extension does not matter.
            for file in ("file.onnx", "file.onnxtxt", name):
                with self.subTest(name=name, file=file):
                    self.refused(self.write(content, file), "is not a model that nnc reads",
                                 "looks like " + looks, advice, ends=outcome.BROKEN
                                 if name in NO_MODELS else outcome.LACKING)

    def test_unknown(self):
        for name, content in UNKNOWN.items():
            with self.subTest(name=name):
                self.refused(self.write(content), "is not a model that nnc reads",
                             "ONNX (.onnx, .onnxtxt)", "damaged")

    def test_empty(self):
        self.refused(self.write(b""), "is empty")

    def test_folder(self):
        code, said = outcome.run("check", str(self.folder))
        self.assertEqual(code, outcome.USAGE)
        self.assertIn("is a folder; give a model", said)

    def test_truncated(self):
        whole = models.sound().SerializeToString()
        self.refused(self.write(whole[:-5]), "damaged or truncated")

    def test_text_with_a_mistake(self):
        self.refused(self.write(TEXT.replace("=>", "->").encode(), "m.onnxtxt"),
                     "is not a model in ONNX's text syntax")
        self.refused(self.write(TEXT.replace(": 8", " 8").encode(), "m.onnxtxt"),
                     "is not a model in ONNX's text syntax")

    def test_the_content_decides(self):
        binary = models.sound().SerializeToString()
        commented = ("# A comment\n\n  # and another\n" + TEXT).encode()
        for content in (binary, TEXT.encode(), commented, TEXT.replace("\n", "\r\n").encode(),
                        onnx.parser.parse_model(TEXT).SerializeToString()):
            for name in ("m.onnx", "m.onnxtxt", "m.pb", "m"):
                with self.subTest(name=name, content=content[:20]):
                    code, said = outcome.run("check", str(self.write(content, name)),
                                             "--no-build")
                    self.assertEqual(code, outcome.DONE, said)


if __name__ == "__main__":
    sys.exit(unittest.main())
