"""Tests operators of the domain ai.onnx.ml against onnxruntime: labels are equal, and numbers
equal within rounding errors. learned_models_test.py has models of real estimators."""

import itertools
import sys
import tempfile
import unittest
import pathlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import emitted

random = np.random.default_rng(23)
DOMAIN = "ai.onnx.ml"
TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"]
NAN = np.float32(np.nan)


def randn(*shape):
    return random.standard_normal(shape).astype(np.float32)


class Graph:
    """Nodes of the domain, whose results are all outputs."""

    def __init__(self, version=3):
        self.version, self.nodes, self.feeds, self.outputs, self.constants = version, [], {}, [], []

    def input(self, array):
        name = f"x{len(self.feeds)}"
        self.feeds[name] = np.asarray(array)
        return name

    def constant(self, array):
        name = f"k{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def add(self, op, *inputs, results=1, domain=DOMAIN, **attributes):
        names = [f"y{len(self.nodes)}_{op}_{i}" for i in range(results)]
        self.nodes.append(helper.make_node(op, inputs, names, names[0], domain=domain,
                                           **attributes))
        self.outputs += names
        return names[0]

    def model(self):
        graph = helper.make_graph(
            self.nodes, "graph",
            [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
             for n, a in self.feeds.items()],
            [helper.make_empty_tensor_value_info(n) for n in self.outputs], self.constants)
        return helper.make_model(graph, ir_version=9, opset_imports=[
            helper.make_opsetid("", 18), helper.make_opsetid(DOMAIN, self.version)])

    def expected(self):
        session = onnxruntime.InferenceSession(self.model().SerializeToString(),
                                               providers=["CPUExecutionProvider"])
        return dict(zip(self.outputs, session.run(self.outputs, self.feeds)))

    def run(self, target="portable"):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "graph.onnx"
            onnx.save(self.model(), path)
            module = emitted.compile_model(path, path.parent / "out", target=target)
            module.build()
            header = path.parent / "out" / "model_metadata.h"
            self.metadata = header.read_text() if header.exists() else ""
            return module(self.feeds)


def split_tree(features, depth, modes, values, missing, targets, per_leaf, tree):
    """The attributes of a random tree, in the form of classifiers and regressors."""
    a = {key: [] for key in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids",
                             "falsenodeids", "missing_value_tracks_true")}
    leaves = {key: [] for key in ("treeids", "nodeids", "ids", "weights")}
    count = 0

    def grow(level):
        nonlocal count
        own, count = count, count + 1
        place = len(a["modes"])
        is_leaf = level == depth or random.random() < 0.15 and level > 0
        for key, value in (("treeids", tree), ("nodeids", own),
                           ("featureids", 0 if is_leaf else int(random.integers(features))),
                           ("values", 0.0 if is_leaf else float(random.choice(values))),
                           ("modes", "LEAF" if is_leaf else str(random.choice(modes))),
                           ("truenodeids", 0), ("falsenodeids", 0),
                           ("missing_value_tracks_true", int(missing and random.random() < 0.5))):
            a[key].append(value)
        if is_leaf:
            for target in random.permutation(targets)[:per_leaf]:
                leaves["treeids"].append(tree)
                leaves["nodeids"].append(own)
                leaves["ids"].append(int(target))
                leaves["weights"].append(float(np.float32(random.standard_normal())))
            return own
        yes, no = grow(level + 1), grow(level + 1)
        a["truenodeids"][place], a["falsenodeids"][place] = yes, no
        return own

    grow(0)
    return a, leaves


def trees(prefix, count=6, features=4, depth=4, modes=("BRANCH_LEQ",), values=None, missing=False,
          targets=1, per_leaf=1):
    """The attributes of random trees. They have few different values, so that features often
    equal them."""
    values = [-1.5, -0.5, 0, 0.25, 1] if values is None else values
    all_nodes, all_leaves = {}, {}
    for tree in range(count):
        nodes, leaves = split_tree(features, depth, modes, values, missing, targets, per_leaf,
                                   tree)
        for key, value in nodes.items():
            all_nodes.setdefault(key, []).extend(value)
        for key, value in leaves.items():
            all_leaves.setdefault(key, []).extend(value)
    return ({f"nodes_{k}": v for k, v in all_nodes.items()} |
            {f"{prefix}_{k}": v for k, v in all_leaves.items()})


def few(rows, features=4, holes=False):
    """Features, many of which equal values of the trees. Some are infinite, some are NaN."""
    x = random.choice(np.float32([-2, -1.5, -1, -0.5, -0.0, 0, 0.25, 0.3, 1, np.inf, -np.inf]),
                      (rows, features))
    return np.where(random.random(x.shape) < 0.2, NAN, x) if holes else x


class Learned(unittest.TestCase):
    def check(self, graph, rtol=1e-5, atol=1e-6, judge=None):
        """Compares with what onnxruntime computes for the graph, or for a `judge` with the same
        outputs."""
        wanted, got = (judge or graph).expected(), graph.run()
        for name, want in wanted.items():
            want = np.asarray(want)
            self.assertEqual((got[name].dtype, got[name].shape), (want.dtype, want.shape), name)
            if want.dtype.kind == "f":
                np.testing.assert_allclose(got[name], want, rtol=rtol, atol=atol, err_msg=name)
            else:
                np.testing.assert_array_equal(got[name], want, err_msg=name)

    def test_tree_modes(self):
        """All comparisons, alone and mixed, of numbers that are equal, infinite and NaN."""
        names = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
        graph = Graph()
        for modes in [[n] for n in names] + [names]:
            for missing in (False, True):
                graph.add("TreeEnsembleRegressor", graph.input(few(60, holes=True)), n_targets=1,
                          **trees("target", modes=modes, missing=missing,
                                  values=[-np.inf, -1.5, -0.5, 0, 0.25, 1, np.inf]))
        self.check(graph)

    def test_tree_aggregates(self):
        graph = Graph()
        for function, targets, per_leaf in itertools.product(
                ["SUM", "AVERAGE", "MIN", "MAX"], [1, 3], [1, 2, 3]):
            if per_leaf > targets:
                continue
            x = graph.input(few(20))
            attributes = trees("target", targets=targets, per_leaf=per_leaf)
            if per_leaf == targets:  # onnxruntime forgets them where no leaf has a score
                attributes["base_values"] = list(map(float, randn(targets)))
            graph.add("TreeEnsembleRegressor", x, n_targets=targets, aggregate_function=function,
                      **attributes)
        self.check(graph)

    def test_tree_transforms(self):
        graph = Graph()
        for transform in TRANSFORMS:
            x = graph.input(randn(20, 4))
            graph.add("TreeEnsembleRegressor", x, n_targets=3, post_transform=transform,
                      **trees("target", targets=3, per_leaf=3))
            graph.add("TreeEnsembleClassifier", x, results=2, classlabels_int64s=[0, 1, 2],
                      post_transform=transform, **trees("class", targets=3, per_leaf=3))
            graph.add("TreeEnsembleClassifier", x, results=2, classlabels_int64s=[4, 7, 2],
                      post_transform=transform, base_values=[0.5, 0.25, -1.0],
                      **trees("class", targets=3))
        self.check(graph)

    def test_tree_probit(self):
        """Scores between 0 and 1, of which quantiles are taken."""
        graph = Graph()
        attributes = trees("target", count=3)
        attributes["target_weights"] = list(map(float, np.float32(
            random.uniform(0.05, 0.3, len(attributes["target_weights"])))))
        graph.add("TreeEnsembleRegressor", graph.input(randn(20, 4)), n_targets=1,
                  post_transform="PROBIT", **attributes)
        self.check(graph, rtol=1e-4, atol=1e-5)

    def test_tree_two_classes(self):
        """Scores for one class alone, or for both, positive ones and others."""
        graph = Graph()
        for transform, positive, one, base in itertools.product(
                ["NONE", "LOGISTIC", "SOFTMAX"], [False, True], [0, 1, None],
                [None, [0.25]]):
            attributes = trees("class", targets=2, per_leaf=2)
            if one is not None:
                attributes = trees("class")
                attributes["class_ids"] = [one] * len(attributes["class_ids"])
            if positive:
                attributes["class_weights"] = [abs(w) / 6 for w in attributes["class_weights"]]
            if base:
                attributes["base_values"] = base
                if one != 0:
                    continue  # no exporter writes one base value for two scores
            graph.add("TreeEnsembleClassifier", graph.input(few(20)), results=2,
                      classlabels_int64s=[0, 1], post_transform=transform, **attributes)
        self.check(graph)

    def test_tree_types(self):
        graph = Graph()
        for dtype in (np.float64, np.int64, np.int32):
            x = graph.input((randn(30, 4) * 3).astype(dtype))
            graph.add("TreeEnsembleClassifier", x, results=2, classlabels_int64s=[0, 1, 2],
                      **trees("class", targets=3))
        attributes = trees("target", values=[0.1, 0.2, 0.7])
        for key in ("nodes_values", "target_weights"):
            array = np.float64(attributes.pop(key)) + 1e-9
            attributes[f"{key}_as_tensor"] = numpy_helper.from_array(array, key)
        x = np.float64(random.choice([0.1 + 1e-9, 0.1, 0.2, 0.3, 0.7], (30, 4)))
        graph.add("TreeEnsembleRegressor", graph.input(x), n_targets=1, **attributes)
        self.check(graph)

    def test_large_ensemble(self):
        """Tests and jumps that need 32 bits."""
        graph = Graph()
        graph.add("TreeEnsembleRegressor", graph.input(randn(4, 20000)), n_targets=2,
                  **trees("target", count=40, features=20000, depth=7, targets=2, per_leaf=2))
        self.check(graph)

    def add_flat(self, graph, x, modes, splits, members=(), **attributes):
        """A TreeEnsemble of one tree, in which node i has leaf i and node i + 1 as children."""
        count = len(modes)
        graph.add("TreeEnsemble", x, n_targets=2, tree_roots=[0],
                  nodes_modes=numpy_helper.from_array(np.uint8(modes)),
                  nodes_splits=numpy_helper.from_array(np.float32(splits)),
                  nodes_featureids=[i % 4 for i in range(count)],
                  nodes_truenodeids=list(range(count)), nodes_trueleafs=[1] * count,
                  nodes_falsenodeids=[*range(1, count), count],
                  nodes_falseleafs=[0] * (count - 1) + [1],
                  leaf_targetids=[i % 2 for i in range(count + 1)],
                  leaf_weights=numpy_helper.from_array(np.arange(1, count + 2, dtype=np.float32)),
                  **({"membership_values": numpy_helper.from_array(np.float32(members))}
                     if len(members) else {}), **attributes)

    def test_flat_trees(self):
        # onnxruntime takes 1 for LOGISTIC and 2 for SOFTMAX, which the specification has the
        # other way round.
        graph, judge = Graph(version=5), Graph(version=5)
        self.add_flat_trees(graph, [0, 1, 2, 3])
        self.add_flat_trees(judge, [0, 2, 1, 3])
        judge.feeds = graph.feeds
        self.check(graph, judge=judge)

    def add_flat_trees(self, graph, transforms):
        x = graph.input(few(80))
        self.add_flat(graph, x, [0, 1, 2, 3, 4, 5], [-1.5, -0.5, 1.5, 0.5, 0, 0.25])
        whole = graph.input(np.float32(random.integers(-3, 9, (80, 4))))
        self.add_flat(graph, whole, [6, 0, 6], [0, -2, 0], [4, 1, np.nan, 3, 8, 5, np.nan])
        for function, transform in itertools.product(range(4), transforms):
            self.add_flat(graph, x, [0, 4, 1], [0, 1, 0.25], aggregate_function=function,
                          post_transform=transform)

    def test_linear(self):
        graph = Graph()
        x = graph.input(randn(10, 4))
        for transform in TRANSFORMS:
            graph.add("LinearClassifier", x, results=2, classlabels_ints=[2, 5, 1],
                      coefficients=list(map(float, randn(12))), intercepts=[0.5, -0.25, 0.0],
                      post_transform=transform)
            graph.add("LinearClassifier", x, results=2, classlabels_ints=[0, 1],
                      coefficients=list(map(float, randn(4))), intercepts=[0.125],
                      post_transform=transform)
            graph.add("LinearRegressor", x, coefficients=list(map(float, randn(12))), targets=3,
                      intercepts=[0.5, -0.25, 0.0], post_transform=transform)
        graph.add("LinearRegressor", x, coefficients=list(map(float, randn(4))))
        graph.add("LinearClassifier", graph.input(random.integers(-3, 3, (5, 4))), results=2,
                  classlabels_ints=[0, 1], coefficients=list(map(float, randn(8))),
                  intercepts=[0.5, -0.25])
        self.check(graph)

    def test_support_vectors(self):
        graph = Graph()
        x = graph.input(randn(12, 4))
        for kernel, degree in [("LINEAR", 0), ("POLY", 2), ("POLY", 3), ("RBF", 0),
                               ("SIGMOID", 0)]:
            common = {"kernel_type": kernel, "kernel_params": [0.3, 0.5, float(degree)]}
            graph.add("SVMRegressor", x, n_supports=5, rho=[0.25],
                      support_vectors=list(map(float, randn(20))),
                      coefficients=list(map(float, randn(5))), **common)
            graph.add("SVMRegressor", x, n_supports=5, rho=[0.25], one_class=1,
                      support_vectors=list(map(float, randn(20))),
                      coefficients=list(map(float, randn(5))), **common)
            for classes, probability in itertools.product((2, 3, 4), (False, True)):
                counts = list(map(int, random.integers(1, 5, classes)))
                pairs = classes * (classes - 1) // 2
                more = {"prob_a": list(map(float, -abs(randn(pairs)) - 0.5)),
                        "prob_b": list(map(float, randn(pairs) / 4))} if probability else {}
                graph.add("SVMClassifier", x, results=2,
                          classlabels_ints=[3 * c for c in range(classes)],
                          vectors_per_class=counts,
                          support_vectors=list(map(float, randn(4 * sum(counts)))),
                          coefficients=list(map(float, randn((classes - 1) * sum(counts)))),
                          rho=list(map(float, randn(pairs))), **common, **more)
        for classes in (2, 3):
            graph.add("SVMClassifier", x, results=2, classlabels_ints=list(range(classes)),
                      coefficients=list(map(float, randn(4 * classes))), rho=[0.1],
                      kernel_type="LINEAR", kernel_params=[0.0, 0.0, 0.0])
        graph.add("SVMRegressor", x, n_supports=0, rho=[0.1], kernel_type="LINEAR",
                  kernel_params=[0.0, 0.0, 0.0],
                  coefficients=list(map(float, randn(4))))
        self.check(graph, rtol=2e-5, atol=2e-6)

    def test_scaling(self):
        graph = Graph()
        for dtype in (np.float32, np.float64, np.int64, np.int32):
            x = graph.input((randn(6, 4) * 5).astype(dtype))
            graph.add("Scaler", x, offset=[1.0, -2.0, 0.5, 0.0], scale=[0.5, 2.0, 1.0, 3.0])
            graph.add("Scaler", x, offset=[1.5], scale=[0.5])
            if dtype == np.float32:
                graph.add("Binarizer", x, threshold=0.5)
        zeros = np.where(random.random((8, 1)) < 0.3, np.float32(0), randn(8, 4))
        for norm in ("L1", "L2", "MAX"):
            graph.add("Normalizer", graph.input(zeros), norm=norm)
            graph.add("Normalizer", graph.input(random.integers(1, 5, (3, 4))), norm=norm)
        self.check(graph)

    def test_imputer(self):
        graph = Graph()
        holes = np.where(random.random((8, 4)) < 0.4, NAN, randn(8, 4))
        graph.add("Imputer", graph.input(holes), replaced_value_float=float("nan"),
                  imputed_value_floats=[1.0, 2.0, 3.0, 4.0])
        graph.add("Imputer", graph.input(np.round(randn(8, 4))), replaced_value_float=0.0,
                  imputed_value_floats=[7.0])
        graph.add("Imputer", graph.input(random.integers(-1, 2, (8, 4))), replaced_value_int64=0,
                  imputed_value_int64s=[5, 6, 7, 8])
        self.check(graph)

    def test_encoders(self):
        graph = Graph()
        for dtype in (np.int64, np.float32, np.float64):
            x = graph.input(random.integers(0, 5, (6, 3)).astype(dtype))
            graph.add("OneHotEncoder", x, cats_int64s=[3, 0, 9, 1], zeros=1)
        x = graph.input(randn(6, 5))
        graph.add("ArrayFeatureExtractor", x, graph.input(np.array([[4, 0, 2]])))
        graph.add("ArrayFeatureExtractor", x, graph.constant(np.array([1])))
        graph.add("ArrayFeatureExtractor", graph.input(randn(7)), graph.constant([3, 3]))
        graph.add("FeatureVectorizer", x, graph.input(randn(6, 2)), inputdimensions=[5, 2])
        self.check(graph)

    def test_label_encoder(self):
        graph = Graph()
        x = graph.input(random.integers(0, 6, (4, 3)))
        f = graph.input(np.float32(random.choice([0.5, 1.5, np.nan, 2], (4, 3))))
        graph.add("LabelEncoder", x, keys_int64s=[1, 5, 3], values_floats=[0.5, 0.25, 2.0],
                  default_float=-7.0)
        graph.add("LabelEncoder", x, keys_int64s=[1, 5, 3], values_int64s=[10, -50, 30])
        graph.add("LabelEncoder", f, keys_floats=[0.5, float("nan"), 2.0],
                  values_int64s=[1, 2, 3], default_int64=9)
        graph.add("LabelEncoder", f, keys_floats=[0.5, 1.5], values_floats=[4.0, 8.0])
        self.check(graph)
        graph = Graph(version=4)
        f = graph.input(np.float32(random.choice([0.5, 1.5, np.nan, 2], (4, 3))))
        graph.add("LabelEncoder", f, keys_floats=[0.5, float("nan"), 2.0],
                  values_int64s=[1, 2, 3], default_int64=9)
        for dtype in (np.float64, np.int64):
            graph.add("LabelEncoder", graph.input(random.integers(0, 4, (5,)).astype(dtype)),
                      keys_tensor=numpy_helper.from_array(np.array([0, 2, 3], dtype)),
                      values_tensor=numpy_helper.from_array(np.array([5, 7, 9], dtype)),
                      default_tensor=numpy_helper.from_array(np.array([-1], dtype)))
        self.check(graph)

    def test_names(self):
        """Names of classes become indices, and are in the metadata."""
        graph = Graph()
        x = randn(10, 4)
        label = graph.add("LinearClassifier", graph.input(x), results=2,
                          classlabels_strings=["ant", "bee", "cat"],
                          coefficients=list(map(float, randn(12))), intercepts=[0.5, -0.25, 0.0])
        graph.add("LabelEncoder", label, keys_strings=["bee", "ant"], values_int64s=[7, 8],
                  default_int64=-3)
        graph.add("ArrayFeatureExtractor", graph.constant(np.array(["x", "y", "z"])),
                  graph.input(np.array([2, 0])))
        wanted, got = graph.expected(), graph.run()
        names = {graph.outputs[0]: ["ant", "bee", "cat"], graph.outputs[3]: ["x", "y", "z"]}
        for name, want in wanted.items():
            if name in names:
                want = np.vectorize(names[name].index)(want.astype(str))
                self.assertIn("\\n".join(names[name]),
                              graph.metadata.replace('\\n"\n"', "\\n").replace('\\n"\n    "', "\\n"))
            np.testing.assert_allclose(got[name], want, rtol=1e-5, atol=1e-6, err_msg=name)

    def test_broken(self):
        """Trees that are none, and lists that do not fit, are errors that say so."""
        def attributes(**changed):
            return trees("target") | changed
        good = attributes()
        cycle = list(good["nodes_truenodeids"])
        cycle[1] = 0
        for changed, what in [
                ({"nodes_modes": good["nodes_modes"][:-1]}, "nodes, and a list of"),
                ({"nodes_truenodeids": cycle, "nodes_modes": ["BRANCH_LEQ"] * len(cycle)},
                 "below itself|children"),
                ({"nodes_featureids": [9] * len(cycle)}, "compares feature 9 of 4"),
                ({"nodes_modes": ["BRANCH_UP"] * len(cycle)}, "BRANCH_UP"),
                ({"target_ids": [3] * len(good["target_ids"])}, "target 3 of 1"),
                ({"post_transform": "SQUARE"}, "SQUARE")]:
            graph = Graph()
            graph.add("TreeEnsembleRegressor", graph.input(randn(2, 4)), n_targets=1,
                      **(good | changed))
            with self.assertRaises(emitted.Failure) as caught:
                graph.run()
            self.assertEqual(caught.exception.code, emitted.BROKEN)
            self.assertRegex(str(caught.exception), f"TreeEnsembleRegressor.*({what})")

    def test_texts_that_are_computed(self):
        graph = Graph()
        label = graph.add("LinearClassifier", graph.input(randn(3, 2)), results=2,
                          classlabels_strings=["a", "b"], coefficients=[1.0, 0.5, -1.0, 0.25],
                          intercepts=[0.0, 0.0])
        graph.add("Cast", label, domain="", to=TensorProto.INT64)
        with self.assertRaisesRegex(emitted.Failure, "casts strings to numbers"):
            graph.run()


if __name__ == "__main__":
    sys.exit(unittest.main())
