#!/usr/bin/env python3
"""Tests SavedModels: signatures, variables of checkpoints, state, and damaged ones."""

import pathlib
import sys
import tempfile
import unittest

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tflite"))
import running  # noqa: E402
from running import BROKEN, DONE, LACKING, LIMIT, USAGE, nnc  # noqa: E402
import writer
from writer import Function, Shape, Type

RANDOM = np.random.default_rng(7)
WEIGHTS = RANDOM.standard_normal((3, 2)).astype(np.float32)
BIAS = RANDOM.standard_normal(2).astype(np.float32)


def make(folder, shards=1, signatures=("serving_default",), body=None, called="model",
         copies=False):
    """A dense layer whose weights are variables that a function reads. With `copies`, variables
    that begin as copies of these are restored in their place, as Keras 3 saves them."""
    graph = writer.Graph()
    inner = graph.function("dense", ["x", "w", "b"], {"y": "sum:z:0"})
    (body or dense)(inner)
    graph.placeholder("x", "float32", (-1, 3))
    for name, value in (("w", WEIGHTS), ("b", BIAS)):
        graph.node("VarHandleOp", name=name, dtype=Type("float32"), shape=Shape(value.shape))
    graph.node("StatefulPartitionedCall", "x", "w", "b", name="call", f=Function("dense"))
    for name in "wb" if copies else "":
        graph.node("VarHandleOp", name=f"copy_{name}", dtype=Type("float32"))
        graph.node("ReadVariableOp", name, name=f"init_{name}", dtype=Type("float32"))
        graph.node("AssignVariableOp", f"copy_{name}", f"init_{name}", name=f"assign_{name}")
    prefix = "copy_" if copies else ""
    writer.restore(graph, {f"{prefix}w": "layer/kernel/.ATTRIBUTES/VARIABLE_VALUE",
                           f"{prefix}b": "layer/bias/.ATTRIBUTES/VARIABLE_VALUE"})
    ports = ({"data": ("x:0", "float32", (-1, 3))}, {"score": "call:0"})
    return writer.saved_model(
        pathlib.Path(folder, called), graph, {name: ports for name in signatures},
        {"layer/kernel/.ATTRIBUTES/VARIABLE_VALUE": WEIGHTS,
         "layer/bias/.ATTRIBUTES/VARIABLE_VALUE": BIAS, "other": np.int64(3)}, shards)


def dense(nodes):
    nodes.node("ReadVariableOp", "w", name="read_w", dtype=Type("float32"))
    nodes.node("ReadVariableOp", "b", name="read_b", dtype=Type("float32"))
    nodes.node("MatMul", "x", "read_w:value:0", name="product")
    nodes.node("AddV2", "product:product:0", "read_b:value:0", name="sum")


def words():
    """Words whose ids a function looks up that a function calls."""
    graph = writer.Graph()
    lookup = graph.function("lookup", ["words", "table", "weights"], {"y": "sum:z:0"})
    lookup.node("StringLower", "words", name="lower")
    lookup.node("StringSplitV2", "lower:output:0", "lower:output:0", name="split")
    lookup.node("LookupTableFindV2", "table", "split:values:0", "table", name="find",
                Tout=Type("int64"))
    lookup.node("RaggedTensorToTensor", "find:values:0", "split:indices:0", name="ids",
                T=Type("int64"), _output_shapes=[Shape((-1, 3))])
    lookup.node("GatherV2", "weights", "ids:result:0",
                lookup.constant(np.int32(0)) + ":output:0", name="rows")
    lookup.node("Sum", "rows:output:0",
                lookup.constant(np.int32([1])) + ":output:0", name="sum")
    outer = graph.function("outer", ["words", "table", "weights"], {"y": "inner:output:0"})
    outer.node("PartitionedCall", "words", "table", "weights", name="inner",
               f=Function("lookup"))
    graph.placeholder("words", "string", (-1,))
    graph.node("HashTableV2", name="table")
    graph.node("StatefulPartitionedCall", "words", "table", graph.constant(WEIGHTS),
               name="call", f=Function("outer"))
    return graph


def examples():
    """A serialized example with numbers and a compressed image."""
    graph = writer.Graph()
    serialized = graph.placeholder("examples", "string", (-1,))
    graph.node("ParseSingleExample", serialized, name="parse", num_sparse=0,
               dense_keys=["height", "jpeg"], Tdense=[Type("float32"), Type("string")],
               _output_shapes=[Shape((2,)), Shape(())])
    graph.node("DecodeJpeg", "parse:1", name="image", channels=3)
    graph.node("Cast", "image", name="floats", SrcT=Type("uint8"), DstT=Type("float32"))
    graph.node("Mean", "floats", np.int32([0, 1]), name="mean")
    graph.node("Sum", "parse", np.int32([0]), name="sum")
    graph.node("AddV2", "mean", "sum", name="y")
    return graph


def labels():
    """Scores, and the label of the best one."""
    graph = writer.Graph()
    scores = graph.node("Relu", graph.placeholder("x", "float32", (2, 3)), name="scores")
    best = graph.node("ArgMax", scores, np.int32(1), name="best")
    graph.node("LookupTableFindV2", graph.node("HashTableV2"), best, best, name="label",
               Tout=Type("string"))
    graph.node("Identity", scores, name="result")
    return graph


class SavedModelTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def check_model(self, model, *options):
        x = RANDOM.standard_normal((4, 3)).astype(np.float32)
        (got,) = running.run(model, [("data", x)], self.folder, "--shape", "data=4x3", *options)
        np.testing.assert_allclose(got, x @ WEIGHTS + BIAS, rtol=1e-5, atol=1e-5)

    def expect(self, code, model, *texts, options=()):
        found, said = nnc("check", model, "--shape", "data=4x3", *options)
        self.assertEqual(found, code, said)
        for text in texts:
            self.assertIn(text, said)

    def test_variables_of_one_and_of_many_shards(self):
        self.check_model(make(self.folder))
        self.check_model(make(self.folder / "many", shards=3))

    def test_variables_that_copies_restore(self):
        self.check_model(make(self.folder, copies=True))

    def test_the_file_in_the_folder_names_the_model(self):
        self.check_model(make(self.folder) / "saved_model.pb")

    def test_a_slash_behind_the_folder(self):
        model = make(self.folder, called="scorer")
        code, said = nnc("compile", f"{model}/", "--shape", "data=4x3", "-o",
                         self.folder / "out")
        self.assertEqual(code, DONE, said)
        self.assertTrue((self.folder / "out" / "scorer.h").exists())
        self.assertNotIn("cannot have the name", said)

    def test_signatures(self):
        two = make(self.folder / "two", signatures=("first", "second"))
        self.expect(USAGE, two, "has several signatures: first, second", "--signature=first")
        self.check_model(two, "--signature=second")
        self.expect(USAGE, two, "has no signature 'secnd'", options=["--signature=secnd"])
        self.check_model(make(self.folder / "usual", signatures=("a", "serving_default")))
        self.check_model(make(self.folder / "only", signatures=("only",)))
        self.expect(LACKING, make(self.folder / "none", signatures=()), "has no signature")

    def test_files_that_are_missing_or_short(self):
        model = make(self.folder / "shard", shards=2)
        (model / "variables" / "variables.data-00001-of-00002").unlink()
        self.expect(BROKEN, model, "variables.data-00001-of-00002", "cannot be read")
        model = make(self.folder / "short")
        data = model / "variables" / "variables.data-00000-of-00001"
        data.write_bytes(data.read_bytes()[:10])
        self.expect(BROKEN, model, "is only 10 bytes long")
        model = make(self.folder / "index")
        (model / "variables" / "variables.index").unlink()
        self.expect(BROKEN, model, "no file variables/variables.index")

    def test_damaged_bytes(self):
        model = make(self.folder / "data")
        data = model / "variables" / "variables.data-00000-of-00001"
        old = data.read_bytes()
        data.write_bytes(old[:5] + bytes([old[5] ^ 1]) + old[6:])
        self.expect(BROKEN, model, "do not have the CRC")
        model = make(self.folder / "index")
        index = model / "variables" / "variables.index"
        old = index.read_bytes()
        index.write_bytes(old[:20] + bytes([old[20] ^ 1]) + old[21:])
        self.expect(BROKEN, model, "does not have the CRC")
        index.write_bytes(old[:-1])
        self.expect(BROKEN, model, "does not end as one")
        index.write_bytes(writer.table({b"": b"", b"a": b"b"}, compression=1))
        self.expect(BROKEN, model, "compressed with snappy")

    def test_a_shard_that_links_out_of_the_model(self):
        model = make(self.folder / "link")
        data = model / "variables" / "variables.data-00000-of-00001"
        data.rename(self.folder / "elsewhere")
        data.symlink_to(self.folder / "elsewhere")
        self.expect(BROKEN, model, "leads out of the model's folder")

    def test_cycles(self):
        def cyclic(nodes):
            nodes.node("AddV2", "sum:z:0", "x", name="other")
            nodes.node("AddV2", "other:z:0", "x", name="sum")

        def recursive(nodes):
            nodes.node("PartitionedCall", "x", "w", "b", name="again", f=Function("dense"))
            nodes.node("Identity", "again:output:0", name="sum")
            nodes.nodes[-1].op = "Relu"

        self.expect(BROKEN, make(self.folder / "a", body=cyclic), "cycle of nodes")
        self.expect(BROKEN, make(self.folder / "b", body=recursive), "within itself")

    def test_functions_that_double(self):
        graph = writer.Graph()
        x = graph.placeholder("x", "float32", (2,))
        for level in range(40):
            nodes = graph.function(f"f{level}", ["v"], {"o": "sum:z:0"})
            for name in ("a", "b"):
                nodes.node("PartitionedCall", "v", name=name, f=Function(f"f{level + 1}"))
            nodes.node("AddV2", "a:output:0", "b:output:0", name="sum")
        graph.function("f40", ["v"], {"o": "v"})
        graph.node("PartitionedCall", x, name="y", f=Function("f0"))
        code, said = nnc("check", graph.save(self.folder / "wide.pb"))
        self.assertEqual(code, LIMIT, said)

    def test_state(self):
        def remember(nodes):
            nodes.node("ReadVariableOp", "b", name="read", dtype=Type("float32"))
            nodes.node("Sum", "x", nodes.constant(np.int32([0]), "axes") + ":output:0",
                       name="total")
            nodes.node("Slice", "total:output:0",
                       nodes.constant(np.int32([0]), "start") + ":output:0",
                       nodes.constant(np.int32([2]), "size") + ":output:0", name="part")
            nodes.node("AddV2", "read:value:0", "part:output:0", name="sum")
            nodes.node("AssignVariableOp", "b", "sum:z:0", name="assign")
        model = make(self.folder, body=remember)
        proto = writer.messages()["SavedModel"].FromString(
            (model / "saved_model.pb").read_bytes())
        for function in proto.meta_graphs[0].graph_def.library.function:
            if function.signature.name == "dense":
                function.control_ret["assign"] = "assign"
        (model / "saved_model.pb").write_bytes(proto.SerializeToString())
        out = self.folder / "out"
        code, said = nnc("compile", model, "--shape", "data=4x3", "--name=adder", "-o", out)
        self.assertEqual(code, DONE, said)
        self.assertIn("adder_state", (out / "adder.h").read_text())

    def test_assignments_to_parts(self):
        """A row that the data choose, every second element from the end, and scattered rows."""
        def assign(nodes):
            def number(value):
                return nodes.constant(np.int32(value)) + ":output:0"

            def slice_assign(name, begin, end, step, value, *before, **masks):
                nodes.node("ResourceStridedSliceAssign", "w", begin, end, step, value, *before,
                           name=name, **masks)

            nodes.node("Cast", "x", name="ints", SrcT=Type("float32"), DstT=Type("int32"))
            nodes.node("Reshape", "ints:y:0", number([-1]), name="flat")
            nodes.node("Slice", "flat:output:0", number([0]), number([1]), name="row")
            nodes.node("AddV2", "row:output:0", number(1), name="next")
            nodes.node("Pack", "row:output:0", number([0]), name="packed", axis=0)
            nodes.node("Reshape", "packed:output:0", number([2]), name="begin")
            nodes.node("Pack", "next:z:0", number([0]), name="packed_ends", axis=0)
            nodes.node("Reshape", "packed_ends:output:0", number([2]), name="end")
            nodes.node("Slice", "x", number([0, 1]), number([1, 2]), name="part")
            nodes.node("Reshape", "x", number([3, 1]), name="column")
            slice_assign("first", "begin:output:0", "end:output:0", number([1, 1]),
                         "part:output:0", begin_mask=2, end_mask=2)
            nodes.node("Slice", "column:output:0", number([0, 0]), number([2, 1]), name="two")
            slice_assign("second", number([0, -1]), number([0, 2]), number([-2, 1]),
                         "two:output:0", "^first", begin_mask=1, end_mask=1)
            nodes.node("ResourceScatterAdd", "w", number([0, 0]), "pair:output:0", "^second",
                       name="third")
            nodes.node("Tile", "part:output:0", number([2, 1]), name="pair")
            nodes.node("ReadVariableOp", "w", "^third", name="read", dtype=Type("float32"))
            nodes.node("Sum", "read:value:0", number([]), name="total")
            nodes.node("AddV2", "read:value:0", "b", name="sum")

        def read_bias(nodes):
            assign(nodes)
            nodes.nodes[-1].input[1] = "bias:value:0"
            nodes.node("ReadVariableOp", "b", name="bias", dtype=Type("float32"))

        model = make(self.folder, body=read_bias)
        for row in (1, -1):
            x = np.float32([[row, 4, 5]])
            want = WEIGHTS.copy()
            want[row] = x[0, 1:]
            want[::-2, 1] = x[0, :2]
            want[0] += 2 * x[0, 1:]
            (self.folder / "run").mkdir(exist_ok=True)
            (got,) = running.run(model, [("data", x)], self.folder / "run", "--shape",
                                 "data=1x3")
            np.testing.assert_allclose(got, want + BIAS, rtol=1e-6)

    def look_up(self, keys, fills=True):
        """A model that looks up numbers in a table, which the call of a function fills."""
        graph = writer.Graph()
        kinds = {"Tin": Type("int64"), "Tout": Type("float32")}
        fill = graph.function("fill", ["table", "keys", "values"], {})
        fill.node("LookupTableImportV2", "table", "keys", "values", **kinds)
        graph.node("HashTableV2", name="table", key_dtype=Type("int64"),
                   value_dtype=Type("float32"))
        graph.placeholder("x", "int64", (2, 3))
        if fills:
            graph.constant(keys, name="keys")
            graph.node("StatefulPartitionedCall", "table", "keys", np.float32(keys) / 2,
                       f=Function("fill"))
        find = graph.function("find", ["table", "x", "other"], {"y": "found:values:0"})
        find.node("LookupTableFindV2", "table", "x", "other", name="found", **kinds)
        graph.node("StatefulPartitionedCall", "table", "x", np.float32(-1), name="call",
                   f=Function("find"))
        return writer.saved_model(
            self.folder / f"table_{len(keys)}", graph,
            {"serving_default": ({"x": ("x:0", "int64", (2, 3))}, {"y": "call:0"})})

    def test_tables_of_numbers(self):
        x = np.int64([[7, 1 << 40, 3], [(1 << 40) + 1, -5, -9]])
        (self.folder / "run").mkdir(exist_ok=True)
        for keys in ([7], [1 << 40, 3, -5], [9, 7, 1 << 40, 3, -9, 11, -4, -20, 5]):
            (got,) = running.run(self.look_up(np.int64(keys)), [("x", x)], self.folder / "run")
            np.testing.assert_array_equal(got, np.where(np.isin(x, keys), x / 2, -1))
        code, said = nnc("check", self.look_up(np.int64([]), fills=False))
        self.assertEqual(code, LACKING, said)
        self.assertIn("which the model does not fill with constants", said)

    def test_assignments_in_branches_and_loops(self):
        """A branch that the data choose, and one in a loop that they end or that is counted."""
        graph = writer.Graph()

        def number(nodes, value, name):
            return nodes.constant(np.asarray(value, np.float32), name) + ":output:0"

        graph.function("keep", ["v", "x"], {"o": "x"})
        add = graph.function("add", ["v", "x"], {"o": "x"}, effects=["assign"])
        add.node("AssignAddVariableOp", "v", "x", name="assign")
        for name, last in (("counted", None), ("ended", 3)):
            again = graph.function(f"{name}_again", ["i", "v", "x"], {"o": "less:z:0"})
            left = "i"
            if last is not None:
                again.node("ReadVariableOp", "v", name="now", dtype=Type("float32"))
                left = "now:value:0"
            again.node("Less", left, number(again, last or 40, "last"), name="less")
            body = graph.function(f"{name}_run", ["i", "v", "x"],
                                  {"o0": "next:z:0", "o1": "v", "o2": "x"}, effects=["if"])
            body.node("AddV2", "i", number(body, 1, "one"), name="next")
            body.node("Greater", "i", number(body, 3, "three"), name="above")
            body.node("If", "above:z:0", "v", "x", name="if", then_branch=Function("add"),
                      else_branch=Function("keep"), Tout=[Type("float32")])
        graph.placeholder("x", "float32", ())
        graph.node("VarHandleOp", name="v", dtype=Type("float32"), shape=Shape(()))
        graph.node("Greater", "x", np.float32(0.1), name="above")
        graph.node("If", "above", "v", "x", name="if", then_branch=Function("add"),
                   else_branch=Function("keep"), Tout=[Type("float32")])
        before = "^if"
        for name in ("counted", "ended"):
            before = "^" + graph.node(
                "While", np.float32(0), "v", "x", before, name=name,
                cond=Function(f"{name}_again"), body=Function(f"{name}_run"),
                T=[Type("float32"), Type("resource"), Type("float32")])
            graph.node("ReadVariableOp", "v", before, name=f"y_{name}", dtype=Type("float32"))
        writer.restore(graph, {"v": "v/.ATTRIBUTES/VARIABLE_VALUE"})
        model = writer.saved_model(
            self.folder / "flow", graph,
            {"serving_default": ({"x": ("x:0", "float32", ())},
                                 {"a": "y_counted:0", "b": "y_ended:0"})},
            {"v/.ATTRIBUTES/VARIABLE_VALUE": np.float32(-2)})
        (self.folder / "run").mkdir(exist_ok=True)
        for x in (0.125, 0.0625, 0.25):
            first = -2 + 36 * x + (x if x > 0.1 else 0)
            got = running.run(model, [("x", np.float32(x))], self.folder / "run")
            self.assertEqual([float(y) for y in got], [first, max(first, 3.0)])

    def test_variables_in_parts(self):
        """The keys are those that TensorFlow 2.21 writes."""
        weights, bias = RANDOM.standard_normal((500, 2)), RANDOM.standard_normal(2)
        parts = {"w0": ("500 2 0,300:0,2", b"\x80\xc1\x2c\x80\x82", weights[:300]),
                 "w1": ("500 2 300,200:-", b"\xc1\x2c\xc0\xc8\x80\x7f", weights[300:])}
        graph = writer.Graph()
        x = graph.placeholder("x", "float32", (1, 500))
        reads = []
        for name in (*parts, "b"):
            graph.node("VarHandleOp", name=name, dtype=Type("float32"))
            reads.append(graph.node("ReadVariableOp", name, dtype=Type("float32")))
        joined = graph.node("ConcatV2", *reads[:2], np.int32(0))
        graph.node("AddV2", graph.node("MatMul", x, joined), reads[2], name="y")
        writer.restore(graph, {"w0": "w", "w1": "w", "b": "b"},
                       {"b": "2 0,2", **{name: part[0] for name, part in parts.items()}})
        model = writer.saved_model(
            self.folder / "parts", graph,
            {"serving_default": ({"x": ("x:0", "float32", (1, 500))}, {"y": "y:0"})},
            {"b": np.float32(bias), **{b"\0w\0\1\1\2" + key: np.float32(value)
                                       for _, key, value in parts.values()}})
        (self.folder / "run").mkdir(exist_ok=True)
        data = RANDOM.standard_normal((1, 500)).astype(np.float32)
        (got,) = running.run(model, [("x", data)], self.folder / "run")
        np.testing.assert_allclose(got, data @ weights + bias, rtol=1e-4, atol=1e-4)

    def test_changes_that_nnc_lacks(self):
        """They are reported although nobody reads their results."""
        def scale(nodes):
            dense(nodes)
            nodes.node("ResourceScatterMul", "b", nodes.constant(np.int32([0])) + ":output:0",
                       "read_b:value:0", "^read_b", name="scale")
            nodes.nodes[3].input.append("^scale")

        code, said = nnc("check", make(self.folder, body=scale), "--shape", "data=4x3")
        self.assertEqual(code, LACKING, said)
        self.assertIn("ResourceScatterMul is not supported", said)

    def expect_run(self, model, feeds, *options):
        """Runs a model, which warns. Returns the outputs and the warnings."""
        code, said = nnc("check", model, *options, "--json")
        self.assertEqual(code, DONE, said)
        (self.folder / "run").mkdir(exist_ok=True)
        return running.run(model, feeds, self.folder / "run", *options), said

    def test_strings_before_numbers_are_cut_off(self):
        """Words are looked up in a function that a function calls; the ids become an input."""
        graph = words()
        model = writer.saved_model(
            self.folder / "words", graph,
            {"serving_default": ({"text": ("words:0", "string", (-1,))}, {"y": "call:0"})})
        ids = np.int64([[0, 2, 1], [1, 1, 0]])
        (got,), said = self.expect_run(model, [("ids", ids)], "--shape", "ids=2x3")
        np.testing.assert_allclose(got, WEIGHTS[ids].sum(1), rtol=1e-5)
        self.assertIn("HashTableV2, LookupTableFindV2, RaggedTensorToTensor, StringLower, "
                      "StringSplitV2", said)

    def test_examples_and_images_are_cut_off(self):
        model = examples().save(self.folder / "examples.pb")
        image = RANDOM.integers(0, 255, (4, 5, 3)).astype(np.uint8)
        height = np.float32([1.5, 2])
        (got,), said = self.expect_run(model, [("height", height), ("image", image)],
                                       "--shape", "image=4x5x3")
        np.testing.assert_allclose(got, image.mean((0, 1)) + 3.5, rtol=1e-5)
        self.assertIn("ParseSingleExample", said)
        code, said = nnc("check", model)
        self.assertEqual(code, USAGE, said)
        self.assertIn("pass --shape image=?x?x3", said)

    def test_labels_are_cut_off(self):
        x = RANDOM.standard_normal((2, 3)).astype(np.float32)
        graph = labels()
        graph.placeholder("unused", "string", ())
        (got, ids), said = self.expect_run(graph.save(self.folder / "labels.pb"),
                                            [("x", x)])
        np.testing.assert_array_equal(got, np.maximum(x, 0))
        np.testing.assert_array_equal(ids, np.maximum(x, 0).argmax(1))
        self.assertIn("the numbers from which it follows are the output 'best'", said)
        self.assertIn("on which no output depends", said)

    def test_nothing_but_strings(self):
        graph = writer.Graph()
        words = graph.placeholder("words", "string", (-1,))
        graph.node("StringToHashBucketFast", graph.node("StringLower", words), name="ids")
        code, said = nnc("check", graph.save(self.folder / "hash.pb"))
        self.assertEqual(code, LACKING, said)
        self.assertIn("computes only with strings", said)

    def test_strings_and_unknown_operators(self):
        graph = writer.Graph()
        graph.placeholder("words", "string", (-1,))
        graph.node("LookupTableFindV2", "words", name="ids", Tout=Type("int64"))
        graph.node("Relu", "ids", name="y")
        graph.node("Invented", graph.placeholder("x", "float32", (2,)), name="z")
        code, said = nnc("check", graph.save(self.folder / "words.pb"), "--shape", "ids=4")
        self.assertEqual(code, LACKING, said)
        self.assertIn("Invented is not supported", said)

    def test_signatures_that_name_no_node(self):
        for name, x, y, text in (("in", "gone:0", "r:0", "input"), ("out", "x:0", "gone:0", "output"),
                                 ("many", "x:0", "r:2", "a result of a node that has 1")):
            graph = writer.Graph()
            graph.node("Relu", graph.placeholder("x", "float32", (4, 3)), name="r")
            ports = ({"data": (x, "float32", (4, 3))}, {"score": y})
            model = writer.saved_model(self.folder / name, graph, {"serving_default": ports})
            self.expect(BROKEN, model, text, "'score'" if name != "in" else "'data'")

    def test_outputs_that_other_nodes_read(self):
        """An Identity outside of scopes is an output, as exporters write them."""
        graph = writer.Graph()
        x = graph.placeholder("x", "float32", (2, 3))
        graph.node("Relu", graph.node("Identity", x, name="copy"), name="a/relu")
        graph.node("Identity", "a/relu", name="boxes")
        graph.node("Identity", "boxes", name="a/inner")
        graph.node("Sigmoid", "a/inner", name="scores")
        values = RANDOM.standard_normal((2, 3)).astype(np.float32)
        boxes, scores = running.run(graph.save(self.folder / "boxes.pb"), [("x", values)],
                                    self.folder)
        np.testing.assert_array_equal(boxes, np.maximum(values, 0))
        np.testing.assert_allclose(scores, 1 / (1 + np.exp(-boxes)), rtol=1e-5)

    def test_graphs_without_nodes(self):
        (self.folder / "empty.pb").write_bytes(b"\x22\x03\x08\xc7\x12")  # its versions
        code, said = nnc("check", self.folder / "empty.pb")
        self.assertEqual(code, BROKEN)
        self.assertIn("a graph of TensorFlow without nodes", said)

    def test_samples_of_two_inputs(self):
        """The first dimensions of all inputs are one number of samples."""
        graph = writer.Graph()
        a, b = (graph.placeholder(name, "float32", (-1, 3)) for name in "ab")
        graph.node("Mul", a, b, name="y")
        path = graph.save(self.folder / "pair.pb")
        given = np.random.default_rng(1).normal(0, 1, (2, 3)).astype(np.float32)
        feeds = [("a", given), ("b", given + 1)]
        for shapes in (["a=1..4x3", "b=1..4x3"], ["a=2x3"], ["a=2x3", "b=2x3"]):
            options = [word for shape in shapes for word in ("--shape", shape)]
            (got,) = running.run(path, feeds, self.folder, *options)
            np.testing.assert_allclose(got, given * (given + 1), rtol=1e-6)
        code, said = nnc("check", path, "--shape", "a=2x3", "--shape", "b=3x3")
        self.assertEqual(code, BROKEN, said)
        self.assertIn("do not broadcast", said)

    def test_formats_of_keras(self):
        (self.folder / "m.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
        code, said = nnc("check", self.folder / "m.h5")
        self.assertEqual(code, LACKING)
        self.assertIn("model.export", said)


if __name__ == "__main__":
    unittest.main()
