"""Estimators of scikit-learn, LightGBM and XGBoost as ONNX models. Functions train an estimator
and return the model, which has an open batch of rows, and the values of its inputs."""

import lightgbm
import numpy as np
import xgboost
from onnxmltools import convert_lightgbm, convert_xgboost
from onnxmltools.convert.common.data_types import FloatTensorType as PlainFloats
from skl2onnx import to_onnx
from skl2onnx.common import _container
from sklearn import (calibration, cluster, compose, cross_decomposition,
                     decomposition, discriminant_analysis, ensemble, feature_selection,
                     gaussian_process, impute, linear_model,
                     mixture, multiclass, multioutput, naive_bayes, neighbors, neural_network,
                     pipeline, preprocessing, random_projection, svm, tree)

NAMES = ["ant", "bee", "cat"]  # sorted
ROWS = 24
OPSETS = {"": 18, "ai.onnx.ml": 3, "com.microsoft": 1}
ESTIMATORS = {}


_make_node = _container.make_node


def make_node(*arguments, **attributes):
    """A node whose attributes are converted to Python's own numbers, because the ONNX library
    takes no others."""
    def single(value):
        value = value.item() if isinstance(value, np.generic) else value
        return int(value) if isinstance(value, bool) else value

    def plain(value):
        return [single(v) for v in value] if isinstance(value, (list, np.ndarray)) else value
    return _make_node(*arguments, **{name: plain(value) for name, value in attributes.items()})


_container.make_node = make_node


def data(random, classes=3, features=5, rows=150):
    """Features of float32, and classes that depend on them."""
    x = random.standard_normal((rows, features)).astype(np.float32)
    score = x @ random.standard_normal((features, classes)) + np.sin(2 * x[:, :1])
    return x, np.argmax(score, axis=1)


def real_data(random, targets=1):
    x, _ = data(random)
    y = x @ random.standard_normal((5, targets)) + np.sin(2 * x[:, :1])
    return x, y[:, 0] if targets == 1 else y


def add(name, make, *, kind="class", options=None, prepare=None, names=False):
    """An estimator of scikit-learn. `kind` says what it learns: classes, two of them (`two`),
    numbers (`real`, `reals`), or nothing but x (`none`)."""
    def build(random):
        x, y = data(random, 2 if kind == "two" else 3)
        if kind.startswith("real"):
            x, y = real_data(random, 3 if kind == "reals" else 1)
        if names:
            y = np.array(NAMES)[y]
        if prepare:
            x = prepare(random, x)
        model = make()
        model.fit(x) if kind == "none" else model.fit(x, y)
        given = options({model}) if callable(options) else options
        made = to_onnx(model, x[:1], target_opset=OPSETS,
                       options={id(model): given} if given else None)
        rows = x[:ROWS] if prepare in (categories, codes, positive) else others(random, x)
        return made, {made.graph.input[0].name: rows}
    ESTIMATORS[name] = build


def others(random, x):
    """Rows with which no estimator was trained."""
    return (x[:ROWS] + 0.1 * random.standard_normal(x[:ROWS].shape)).astype(x.dtype)


def with_holes(random, x):
    """The rows with some features missing."""
    return np.where(random.random(x.shape) < 0.15, np.float32(np.nan), x)


def categories(random, x):
    return np.clip(np.round(np.abs(x) * 2), 0, 4).astype(np.int64)


def codes(random, x):
    return categories(random, x).astype(np.float32)


def positive(random, x):
    return np.abs(x)


NO_MAP, CDIST = {"zipmap": False}, {"optim": "cdist"}

# Linear models.
add("logistic_regression", lambda: linear_model.LogisticRegression())
add("logistic_regression_two", lambda: linear_model.LogisticRegression(), kind="two")
add("logistic_regression_names", lambda: linear_model.LogisticRegression(), names=True)
add("logistic_regression_columns", lambda: linear_model.LogisticRegression(), options=NO_MAP)
add("sgd_classifier", lambda: linear_model.SGDClassifier(random_state=0))
add("sgd_classifier_log", lambda: linear_model.SGDClassifier(loss="log_loss", random_state=0))
add("perceptron", lambda: linear_model.Perceptron(random_state=0))
add("ridge_classifier", lambda: linear_model.RidgeClassifier())
add("linear_svc", lambda: svm.LinearSVC(random_state=0))
add("linear_regression", lambda: linear_model.LinearRegression(), kind="real")
add("linear_regression_targets", lambda: linear_model.LinearRegression(), kind="reals")
add("ridge", lambda: linear_model.Ridge(), kind="real")
add("lasso", lambda: linear_model.Lasso(0.05), kind="real")
add("elastic_net", lambda: linear_model.ElasticNet(0.05), kind="real")
add("bayesian_ridge", lambda: linear_model.BayesianRidge(), kind="real")
add("huber", lambda: linear_model.HuberRegressor(), kind="real")
add("scaler_linear_regression", lambda: pipeline.make_pipeline(
    preprocessing.MinMaxScaler(), linear_model.LinearRegression()), kind="real")
add("multi_output", lambda: multioutput.MultiOutputRegressor(linear_model.Ridge()), kind="reals")

# Trees.
add("decision_tree", lambda: tree.DecisionTreeClassifier(random_state=0))
add("decision_tree_names", lambda: tree.DecisionTreeClassifier(random_state=0), names=True)
add("decision_tree_two", lambda: tree.DecisionTreeClassifier(random_state=0), kind="two")
add("decision_tree_regressor", lambda: tree.DecisionTreeRegressor(random_state=0), kind="real")
add("decision_tree_targets", lambda: tree.DecisionTreeRegressor(random_state=0), kind="reals")
add("extra_tree", lambda: tree.ExtraTreeClassifier(random_state=0))
add("random_forest", lambda: ensemble.RandomForestClassifier(30, random_state=0))
add("random_forest_two", lambda: ensemble.RandomForestClassifier(30, random_state=0), kind="two")
add("random_forest_regressor", lambda: ensemble.RandomForestRegressor(30, random_state=0),
    kind="real")
add("extra_trees", lambda: ensemble.ExtraTreesClassifier(30, random_state=0))
add("extra_trees_regressor", lambda: ensemble.ExtraTreesRegressor(30, random_state=0),
    kind="real")
add("gradient_boosting", lambda: ensemble.GradientBoostingClassifier(random_state=0,
                                                                     n_estimators=20))
add("gradient_boosting_two", lambda: ensemble.GradientBoostingClassifier(
    random_state=0, n_estimators=20), kind="two")
add("gradient_boosting_regressor", lambda: ensemble.GradientBoostingRegressor(
    random_state=0, n_estimators=20), kind="real")
add("hist_gradient_boosting", lambda: ensemble.HistGradientBoostingClassifier(max_iter=20))
add("hist_gradient_boosting_holes", lambda: ensemble.HistGradientBoostingClassifier(max_iter=20),
    prepare=with_holes)
add("hist_gradient_boosting_regressor", lambda: ensemble.HistGradientBoostingRegressor(
    max_iter=20), kind="real")
add("ada_boost", lambda: ensemble.AdaBoostClassifier(n_estimators=10, random_state=0))
add("ada_boost_regressor", lambda: ensemble.AdaBoostRegressor(n_estimators=10, random_state=0),
    kind="real")
add("bagging", lambda: ensemble.BaggingClassifier(n_estimators=5, random_state=0))
add("bagging_regressor", lambda: ensemble.BaggingRegressor(n_estimators=5, random_state=0),
    kind="real")
add("isolation_forest", lambda: ensemble.IsolationForest(n_estimators=20, random_state=0), kind="none")

# Support vectors.
for kernel in ("linear", "poly", "rbf", "sigmoid"):
    add(f"svc_{kernel}", lambda kernel=kernel: svm.SVC(kernel=kernel))
    add(f"svr_{kernel}", lambda kernel=kernel: svm.SVR(kernel=kernel), kind="real")
add("svc_two", lambda: svm.SVC(), kind="two")
add("svc_names", lambda: svm.SVC(), names=True)
add("svc_probability", lambda: svm.SVC(probability=True, random_state=0))
add("svc_probability_two", lambda: svm.SVC(probability=True, random_state=0), kind="two")
add("nu_svc", lambda: svm.NuSVC(nu=0.3))
add("nu_svr", lambda: svm.NuSVR(), kind="real")
add("one_class_svm", lambda: svm.OneClassSVM(), kind="none")

# Neighbours.
add("k_neighbors", lambda: neighbors.KNeighborsClassifier(5), options=CDIST)
add("k_neighbors_distance", lambda: neighbors.KNeighborsClassifier(5, weights="distance"),
    options=CDIST)
add("k_neighbors_regressor", lambda: neighbors.KNeighborsRegressor(5), kind="real",
    options=CDIST)
add("k_neighbors_scan", lambda: neighbors.KNeighborsClassifier(5))
add("nearest_neighbor_scan", lambda: pipeline.make_pipeline(
    preprocessing.StandardScaler(), neighbors.KNeighborsClassifier(1)))
add("local_outlier_factor", lambda: neighbors.LocalOutlierFactor(novelty=True), kind="none",
    options=CDIST)

# Bayes, discriminants, networks, processes.
add("gaussian_nb", lambda: naive_bayes.GaussianNB())
add("bernoulli_nb", lambda: naive_bayes.BernoulliNB())
add("multinomial_nb", lambda: naive_bayes.MultinomialNB(), prepare=positive)
add("complement_nb", lambda: naive_bayes.ComplementNB(), prepare=positive)
add("categorical_nb", lambda: naive_bayes.CategoricalNB(), prepare=categories)
add("lda", lambda: discriminant_analysis.LinearDiscriminantAnalysis())
add("qda", lambda: discriminant_analysis.QuadraticDiscriminantAnalysis())
add("mlp", lambda: neural_network.MLPClassifier((16,), max_iter=100, random_state=0))
add("mlp_two", lambda: neural_network.MLPClassifier((16,), max_iter=100, random_state=0),
    kind="two")
add("mlp_regressor", lambda: neural_network.MLPRegressor(hidden_layer_sizes=(16, 8), max_iter=100, random_state=0),
    kind="real")
add("gaussian_process", lambda: gaussian_process.GaussianProcessRegressor(
    gaussian_process.kernels.RBF(), alpha=0.1), kind="real", options=CDIST)

# Ensembles of others.
MEMBERS = [("lr", linear_model.LogisticRegression()),
           ("tree", tree.DecisionTreeClassifier(max_depth=4, random_state=0))]
add("one_vs_rest", lambda: multiclass.OneVsRestClassifier(linear_model.LogisticRegression()))
add("one_vs_one", lambda: multiclass.OneVsOneClassifier(linear_model.LogisticRegression()))
add("voting_soft", lambda: ensemble.VotingClassifier(MEMBERS, voting="soft", flatten_transform=False))
add("voting_hard", lambda: ensemble.VotingClassifier(MEMBERS, flatten_transform=False))
add("voting_regressor", lambda: ensemble.VotingRegressor(
    [("a", linear_model.Ridge()), ("b", tree.DecisionTreeRegressor(max_depth=4))]), kind="real")
add("stacking", lambda: ensemble.StackingClassifier(MEMBERS))
add("stacking_regressor", lambda: ensemble.StackingRegressor(
    [("a", linear_model.Ridge()), ("b", tree.DecisionTreeRegressor(max_depth=4))]), kind="real")
add("calibrated", lambda: calibration.CalibratedClassifierCV(
    linear_model.LogisticRegression(), cv=3))
add("calibrated_isotonic", lambda: calibration.CalibratedClassifierCV(
    tree.DecisionTreeClassifier(max_depth=3), cv=3, method="isotonic"))

# Clusters, mixtures, projections.
add("k_means", lambda: cluster.KMeans(4, n_init=1, random_state=0), kind="none")
add("mini_batch_k_means", lambda: cluster.MiniBatchKMeans(4, n_init=1, random_state=0),
    kind="none")
for form in ("full", "tied", "diag", "spherical"):
    add(f"gaussian_mixture_{form}", lambda form=form: mixture.GaussianMixture(
        3, covariance_type=form, random_state=0), kind="none")
add("pca", lambda: decomposition.PCA(3), kind="none")
add("pca_whiten", lambda: decomposition.PCA(3, whiten=True), kind="none")
add("kernel_pca", lambda: decomposition.KernelPCA(3, kernel="rbf"), kind="none")
add("incremental_pca", lambda: decomposition.IncrementalPCA(3), kind="none")
add("truncated_svd", lambda: decomposition.TruncatedSVD(3), kind="none")
add("pls", lambda: cross_decomposition.PLSRegression(2), kind="reals")
add("random_projection", lambda: random_projection.GaussianRandomProjection(3, random_state=0),
    kind="none")

# Features.
add("standard_scaler", lambda: preprocessing.StandardScaler(), kind="none")
add("min_max_scaler", lambda: preprocessing.MinMaxScaler(), kind="none")
add("max_abs_scaler", lambda: preprocessing.MaxAbsScaler(), kind="none")
add("robust_scaler", lambda: preprocessing.RobustScaler(), kind="none")
for norm in ("l1", "l2", "max"):
    add(f"normalizer_{norm}", lambda norm=norm: preprocessing.Normalizer(norm), kind="none")
add("binarizer", lambda: preprocessing.Binarizer(threshold=0.2), kind="none")
add("polynomial_features", lambda: preprocessing.PolynomialFeatures(2), kind="none")
add("power_transformer", lambda: preprocessing.PowerTransformer(), kind="none")
add("k_bins", lambda: preprocessing.KBinsDiscretizer(4, encode="onehot-dense"), kind="none")
add("one_hot_encoder", lambda: preprocessing.OneHotEncoder(sparse_output=False,
                                                           handle_unknown="ignore"),
    kind="none", prepare=categories)
add("ordinal_encoder", lambda: preprocessing.OrdinalEncoder(), kind="none", prepare=categories)
add("simple_imputer", lambda: impute.SimpleImputer(), kind="none", prepare=with_holes)
add("knn_imputer", lambda: impute.KNNImputer(n_neighbors=3), kind="none", prepare=with_holes)
add("select_k_best", lambda: feature_selection.SelectKBest(k=3))
add("variance_threshold", lambda: feature_selection.VarianceThreshold(0.9), kind="none")

# Pipelines.
add("scaler_logistic", lambda: pipeline.make_pipeline(
    preprocessing.StandardScaler(), linear_model.LogisticRegression()))
add("imputer_forest", lambda: pipeline.make_pipeline(
    impute.SimpleImputer(), ensemble.RandomForestClassifier(10, random_state=0)),
    prepare=with_holes)
add("pca_svc", lambda: pipeline.make_pipeline(
    preprocessing.StandardScaler(), decomposition.PCA(3), svm.SVC()))
add("polynomial_ridge", lambda: pipeline.make_pipeline(
    preprocessing.PolynomialFeatures(2), linear_model.Ridge()), kind="real")
add("column_transformer", lambda: pipeline.make_pipeline(
    compose.ColumnTransformer([
        ("codes", preprocessing.OneHotEncoder(handle_unknown="ignore", sparse_output=False),
         [0, 1]),
        ("rest", preprocessing.MinMaxScaler(), [2, 3, 4])]),
    linear_model.LogisticRegression()), prepare=codes)


def add_boosted(name, convert, make, kind="class", prepare=None):
    def build(random):
        x, y = data(random, 2 if kind == "two" else 3)
        if kind == "real":
            x, y = real_data(random)
        if prepare:
            x = prepare(random, x)
        model = make().fit(x, y)
        made = convert(model, initial_types=[("x", PlainFloats([None, x.shape[1]]))],
                       target_opset=15)
        return made, {"x": others(random, x)}
    ESTIMATORS[name] = build


for suffix, kind, prepare in (("", "class", None), ("_two", "two", None),
                              ("_holes", "class", with_holes)):
    add_boosted(f"lightgbm{suffix}", convert_lightgbm,
                lambda: lightgbm.LGBMClassifier(n_estimators=10, verbose=-1, min_child_samples=5),
                kind, prepare)
    add_boosted(f"xgboost{suffix}", convert_xgboost,
                lambda: xgboost.XGBClassifier(n_estimators=10, max_depth=4), kind, prepare)
add_boosted("lightgbm_regressor", convert_lightgbm,
            lambda: lightgbm.LGBMRegressor(n_estimators=10, verbose=-1), "real")
add_boosted("xgboost_regressor", convert_xgboost,
            lambda: xgboost.XGBRegressor(n_estimators=10, max_depth=4), "real")
add_boosted("lightgbm_dart", convert_lightgbm,
            lambda: lightgbm.LGBMClassifier(n_estimators=10, verbose=-1, boosting_type="dart"))
add_boosted("xgboost_forest", convert_xgboost,
            lambda: xgboost.XGBRFClassifier(n_estimators=10, max_depth=4))
