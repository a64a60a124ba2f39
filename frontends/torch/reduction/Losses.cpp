//===- Losses.cpp - Losses ------------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Models of some libraries return the loss beside their results. The argument
// `reduction` of a loss is 0 for none, 1 for the mean and 2 for the sum.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/moves/Moves.h"
#include "frontends/torch/reduction/Reduce.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::torch {

static Value sumAll(Node &node, Value x) {
  return reduce(node, nn::ReduceKind::sum, x, iota(getRank(x)), false);
}

/// Returns the losses `y` of single elements as they are, or their mean or sum,
/// which the argument `reduction` chooses by 0, 1 and 2.
static Value reduceLoss(Node &node, Value y) {
  int64_t reduction = node.getInt("reduction", 1);
  if (!y || reduction == 0)
    return y;
  return reduce(node,
                reduction == 1 ? nn::ReduceKind::mean : nn::ReduceKind::sum, y,
                iota(getRank(y)), false);
}

static Value times(Node &node, Value a, Value b) {
  return node.createElementwise("mul", {a, b});
}
/// Returns where the elements of `x` are not `number`.
static Value isOther(Node &node, Value x, double number) {
  return x ? node.createElementwise(
                 "logical_not",
                 {node.createElementwise(
                     "equal", {x, node.splat(number, getElement(x))})})
           : x;
}
static Value negate(Node &node, Value x) {
  return node.createElementwise("neg", {x});
}
/// Returns the elements of `x` below 0 as 0.
static Value clampAtZero(Node &node, Value x) {
  return node.createBinary("max", x, 0);
}
/// Returns 1 - x.
static Value complement(Node &node, Value x) {
  return x ? node.createElementwise("sub", {node.splat(1, getElement(x)), x})
           : x;
}

/// Converts mse_loss and l1_loss.
Value convertLoss(Node &node) {
  Value d = node.createElementwise(
      "sub", {node.getTensor("self"), node.getTensor("target")});
  return reduceLoss(node, node.getNnOp() == "mul"
                              ? times(node, d, d)
                              : node.createElementwise("abs", {d}));
}

/// Converts smooth_l1_loss and huber_loss: squares near 0, and a line beyond a
/// distance.
Value convertSmoothLoss(Node &node) {
  Value d = node.createElementwise(
      "abs", {node.createElementwise(
                 "sub", {node.getTensor("self"), node.getTensor("target")})});
  bool isHuber = node.getOp().starts_with("huber");
  double beta = node.getFloat(isHuber ? "delta" : "beta", 1);
  if (!d || beta < 0)
    return d ? node.broken("has a distance below 0") : d;
  if (beta == 0)
    return reduceLoss(node, isHuber ? node.createBinary("mul", d, 0) : d);
  Value square = node.createBinary("mul", times(node, d, d),
                                   isHuber ? 0.5 : 0.5 / beta),
        line = node.createBinary("add", d, -0.5 * beta);
  if (isHuber)
    line = node.createBinary("mul", line, beta);
  return reduceLoss(
      node,
      node.createElementwise(
          "select",
          {node.createElementwise("less", {d, node.splat(beta, getElement(d))}),
           square, line}));
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

namespace {
/// The arguments of a loss of classes: log probabilities with the axis of
/// classes at place 1, and the weights of the classes, or null.
struct Classes {
  Value logs, weight;
  int64_t reduction, ignored;
};
/// The losses of the samples, before they are divided by the total weight if
/// they are reduced to a mean.
struct ClassLosses {
  Value losses, total;
};
} // namespace

static Value reduceClasses(Node &node, const ClassLosses &found,
                           int64_t reduction) {
  if (!found.losses || reduction == 0)
    return found.losses;
  Value sum = sumAll(node, found.losses);
  return reduction == 1 ? node.createElementwise("div", {sum, found.total})
                        : sum;
}

/// Returns the negative log probabilities of the classes `target`, and the sum
/// of their weights. With `ofAll` the losses are those of all classes.
static ClassLosses pickClasses(Node &node, const Classes &classes, Value target,
                               bool ofAll) {
  Value logs = classes.logs;
  if (!logs || !target)
    return {};
  Type integer = node.getBuilder().getI64Type();
  target = node.castTo(target, integer);
  Value isKept = isOther(node, target, static_cast<double>(classes.ignored));
  Value safe = node.createElementwise("select",
                                      {isKept, target, node.splat(0, integer)});
  Value kept = node.castTo(isKept, getElement(logs));
  Value weights = kept;
  if (classes.weight)
    weights =
        times(node, kept,
              node.create<nn::GatherOp>(classes.weight, safe, int64_t(0)));
  Value picked, factor = weights;
  if (ofAll) {
    Value all = logs;
    if (classes.weight) {
      SmallVector<int64_t> shape(getRank(logs), 1);
      shape[1] = getNumElements(classes.weight);
      all = times(node, logs, node.reshape(classes.weight, shape));
    }
    picked = reduce(node, nn::ReduceKind::sum, all, {1}, false);
    factor = kept;
  } else {
    picked = takeAlong(node, logs, node.unsqueeze(safe, 1), 1);
    picked = picked ? node.reshape(picked, getShape(target)) : picked;
  }
  if (!picked || !factor)
    return {};
  Value losses = node.createElementwise(
      "select", {isKept, negate(node, times(node, picked, factor)),
                 node.splat(0, getElement(logs))});
  return {losses, sumAll(node, weights)};
}

/// Reads a loss of classes; the log probabilities are null after an error.
static Classes readClasses(Node &node, Value logs) {
  Classes classes{logs, node.getOptionalTensor("weight"),
                  node.getInt("reduction", 1),
                  node.getInt("ignore_index", -100)};
  if (!logs || getRank(logs) == 0 || node.hasFailed()) {
    if (logs && !node.hasFailed())
      node.broken("needs an axis of classes");
    classes.logs = {};
  }
  if (classes.weight)
    classes.weight = node.castTo(classes.weight, getElement(logs));
  // A single sample has no axis of samples.
  if (classes.logs && getRank(logs) == 1)
    classes.logs = node.unsqueeze(logs, 0);
  return classes;
}

/// Converts nll_loss.
Value convertNllLoss(Node &node) {
  Value x = node.toReal(node.getTensor("self"));
  Value target = node.getTensor("target");
  Classes classes = readClasses(node, x);
  if (!classes.logs || !target)
    return {};
  SmallVector<int64_t> shape(getShape(target));
  if (getRank(x) == 1)
    target = node.reshape(target, {1});
  if (getRank(target) + 1 != getRank(classes.logs))
    return node.broken("has classes of shape " + toString(getShape(target)) +
                       " for samples of shape " + toString(getShape(x)));
  ClassLosses found = pickClasses(node, classes, target, /*ofAll=*/false);
  if (node.getNumResults() > 1) // the total weight, which is 0 without a sum
    node.setResult(1, classes.reduction == 0 ? node.splat(0, getElement(x))
                                             : found.total);
  Value y = reduceClasses(node, found, classes.reduction);
  return y && classes.reduction == 0 ? node.reshape(y, shape) : y;
}

/// Converts cross_entropy_loss, whose targets are classes or probabilities.
Value convertCrossEntropy(Node &node) {
  Value x = node.toReal(node.getTensor("self"));
  Value target = node.getTensor("target");
  Classes classes = readClasses(node, x);
  if (!classes.logs || !target)
    return {};
  classes.logs = node.create<nn::SoftmaxOp>(classes.logs, 1, /*log=*/true);
  if (!classes.logs)
    return {};
  Value logs = classes.logs;
  double count = static_cast<double>(getShape(logs)[1]),
         smoothing = node.getFloat("label_smoothing", 0);
  bool isSingle = getRank(x) == 1;
  auto unwrap = [&](Value y) {
    return y && isSingle && classes.reduction == 0 ? node.reshape(y, {}) : y;
  };
  if (isa<FloatType>(getElement(target))) {
    if (getShape(target) != getShape(x))
      return node.broken("has probabilities of another shape than its input");
    target = node.reshape(node.castTo(target, getElement(x)), getShape(logs));
    if (smoothing != 0)
      target = node.createBinary(
          "add", node.createBinary("mul", target, 1 - smoothing),
          smoothing / count);
    Value all = times(node, logs, target);
    if (classes.weight) {
      SmallVector<int64_t> shape(getRank(logs), 1);
      shape[1] = getNumElements(classes.weight);
      all = times(node, all, node.reshape(classes.weight, shape));
    }
    Value losses =
        negate(node, reduce(node, nn::ReduceKind::sum, all, {1}, false));
    return unwrap(reduceLoss(node, losses));
  }
  if (isSingle)
    target = node.reshape(target, {1});
  if (getRank(target) + 1 != getRank(logs))
    return node.broken("has classes of shape " + toString(getShape(target)) +
                       " for samples of shape " + toString(getShape(x)));
  ClassLosses own = pickClasses(node, classes, target, /*ofAll=*/false);
  Value y = reduceClasses(node, own, classes.reduction);
  if (smoothing != 0) {
    ClassLosses all = pickClasses(node, classes, target, /*ofAll=*/true);
    Value smooth = reduceClasses(node, all, classes.reduction);
    y = node.createElementwise(
        "add", {node.createBinary("mul", y, 1 - smoothing),
                node.createBinary("mul", smooth, smoothing / count)});
  }
  return unwrap(y);
}

//===----------------------------------------------------------------------===//
// Probabilities
//===----------------------------------------------------------------------===//

/// Returns the losses times the optional argument `weight`.
static Value weigh(Node &node, Value losses) {
  return node.has("weight") ? times(node, losses, node.getTensor("weight"))
                            : losses;
}

/// Converts binary_cross_entropy, whose logarithms are at least -100.
Value convertBinaryCrossEntropy(Node &node) {
  Value x = node.getTensor("self"), target = node.getTensor("target");
  auto getLog = [&](Value p) {
    return node.createBinary("max", node.createElementwise("log", {p}), -100);
  };
  Value sum = node.createElementwise(
      "add",
      {times(node, target, getLog(x)),
       times(node, complement(node, target), getLog(complement(node, x)))});
  return reduceLoss(node, weigh(node, negate(node, sum)));
}

/// Returns log(1 + e^-|x|) of floats.
static Value logOnePlusExp(Node &node, Value x) {
  Value small = node.createElementwise(
      "exp", {negate(node, node.createElementwise("abs", {x}))});
  return node.createElementwise("log", {node.createBinary("add", small, 1)});
}

/// Converts binary_cross_entropy_with_logits.
Value convertLogitsCrossEntropy(Node &node) {
  Value x = node.getTensor("self"), target = node.getTensor("target");
  // -log(sigmoid(x))
  Value logs = node.createElementwise(
      "add", {logOnePlusExp(node, x), clampAtZero(node, negate(node, x))});
  if (node.has("pos_weight")) {
    Value more = node.createBinary("add", node.getTensor("pos_weight"), -1);
    logs = times(node, logs,
                 node.createBinary("add", times(node, more, target), 1));
  }
  Value y = node.createElementwise(
      "add", {times(node, complement(node, target), x), logs});
  return reduceLoss(node, weigh(node, y));
}

/// Returns x log(x), which is 0 at 0.
static Value multiplyLog(Node &node, Value x) {
  if (!x)
    return {};
  Value zero = node.splat(0, getElement(x));
  return node.createElementwise(
      "select", {node.createElementwise("equal", {x, zero}), zero,
                 times(node, x, node.createElementwise("log", {x}))});
}

/// Converts kl_div.
Value convertKlDiv(Node &node) {
  Value x = node.getTensor("self"), target = node.getTensor("target");
  if (node.getBool("log_target"))
    return reduceLoss(node, times(node, node.createElementwise("exp", {target}),
                                  node.createElementwise("sub", {target, x})));
  return reduceLoss(node,
                    node.createElementwise("sub", {multiplyLog(node, target),
                                                   times(node, target, x)}));
}

/// Converts poisson_nll_loss.
Value convertPoissonLoss(Node &node) {
  Value x = node.getTensor("input"), target = node.getTensor("target");
  double eps = node.getFloat("eps", 1e-8);
  Value y;
  if (node.getBool("log_input", true))
    y = node.createElementwise(
        "sub", {node.createElementwise("exp", {x}), times(node, target, x)});
  else
    y = node.createElementwise(
        "sub", {x, times(node, target,
                         node.createElementwise(
                             "log", {node.createBinary("add", x, eps)}))});
  if (y && node.getBool("full")) {
    // Stirling's formula for the logarithm of the factorial.
    Value logs = node.createElementwise("log", {target});
    Value more = node.createElementwise(
        "add",
        {node.createElementwise("sub", {times(node, target, logs), target}),
         node.createBinary(
             "mul",
             node.createBinary("add", logs, std::log(2 * std::acos(-1.0))),
             0.5)});
    y = node.createElementwise(
        "select", {node.createElementwise(
                       "less_equal", {target, node.splat(1, getElement(y))}),
                   y, node.createElementwise("add", {y, more})});
  }
  return reduceLoss(node, y);
}

//===----------------------------------------------------------------------===//
// Margins
//===----------------------------------------------------------------------===//

/// Converts soft_margin_loss: log(1 + e^(-target x)).
Value convertSoftMargin(Node &node) {
  Value x = negate(
      node, times(node, node.getTensor("target"), node.getTensor("self")));
  return reduceLoss(node,
                    node.createElementwise(
                        "add", {logOnePlusExp(node, x), clampAtZero(node, x)}));
}

/// Converts margin_ranking_loss.
Value convertMarginRanking(Node &node) {
  Value d = node.createElementwise(
      "sub", {node.getTensor("input2"), node.getTensor("input1")});
  Value y = node.createBinary("add", times(node, d, node.getTensor("target")),
                              node.getFloat("margin", 0));
  return reduceLoss(node, clampAtZero(node, y));
}

/// Returns `a` where the argument `target` is 1, `b` where it is -1, and 0
/// where it is another number.
static Value selectByTarget(Node &node, Value a, Value b) {
  Value target = node.getTensor("target");
  if (!a || !b || !target)
    return {};
  Value zero = node.splat(0, getElement(a));
  auto is = [&](double number) {
    return node.createElementwise(
        "equal", {target, node.splat(number, getElement(target))});
  };
  return node.createElementwise(
      "select",
      {is(1), a, node.createElementwise("select", {is(-1), b, zero})});
}

/// Converts hinge_embedding_loss: x, or the lack of it below a margin.
Value convertHinge(Node &node) {
  Value x = node.getTensor("self"), target = node.getTensor("target");
  if (!x || !target)
    return {};
  Value below =
      clampAtZero(node, node.createBinary("add", negate(node, x),
                                          node.getFloat("margin", 1)));
  Value zero = node.splat(0, getElement(x));
  Value y = node.createElementwise(
      "add",
      {node.createElementwise("select",
                              {isOther(node, target, 1), below, zero}),
       node.createElementwise("select", {isOther(node, target, -1), x, zero})});
  return reduceLoss(node, y);
}

/// Converts cosine_embedding_loss.
Value convertCosineEmbedding(Node &node) {
  Value a = node.toReal(node.getTensor("input1")),
        b = node.toReal(node.getTensor("input2"));
  if (!a || !b || getRank(a) == 0 || getRank(b) == 0)
    return a && b ? node.broken("needs vectors") : Value();
  constexpr double eps = 1e-12;
  auto dot = [&](Value x, Value y) {
    Value both = times(node, x, y);
    return reduce(node, nn::ReduceKind::sum, both, getRank(both) - 1, false);
  };
  auto getSize = [&](Value x) {
    return node.createBinary("add", dot(x, x), eps);
  };
  Value cosine = node.createElementwise(
      "div", {dot(a, b), node.createElementwise(
                             "sqrt", {times(node, getSize(a), getSize(b))})});
  Value far = clampAtZero(
      node, node.createBinary("add", cosine, -node.getFloat("margin", 0)));
  return reduceLoss(node, selectByTarget(node, complement(node, cosine), far));
}

/// Converts triplet_margin_loss, of distances along the last axis.
Value convertTriplet(Node &node) {
  double p = node.getFloat("p", 2), eps = node.getFloat("eps", 1e-6);
  if (p != 2 && p != 1)
    return node.unsupported("has the norm " + frontends::toString(p) +
                            "; nnc handles 1 and 2");
  auto getDistance = [&](Value a, Value b) -> Value {
    Value d =
        node.createBinary("add", node.createElementwise("sub", {a, b}), eps);
    if (!d || getRank(d) == 0)
      return d ? node.broken("needs vectors") : d;
    return reduce(node, p == 1 ? nn::ReduceKind::l1 : nn::ReduceKind::l2, d,
                  getRank(d) - 1, false);
  };
  Value anchor = node.getTensor("anchor"),
        positive = node.getTensor("positive"),
        negative = node.getTensor("negative");
  Value far = getDistance(anchor, negative);
  if (node.getBool("swap"))
    far = node.createElementwise("min", {far, getDistance(positive, negative)});
  Value y = node.createBinary(
      "add",
      node.createElementwise("sub", {getDistance(anchor, positive), far}),
      node.getFloat("margin", 1));
  return reduceLoss(node, clampAtZero(node, y));
}

} // namespace nnc::torch
