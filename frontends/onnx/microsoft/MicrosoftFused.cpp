//===- MicrosoftFused.cpp - onnxruntime's fused layers as functions -------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/microsoft/MicrosoftNode.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace nnc::onnx;
using llvm::SmallVector;
using llvm::StringLiteral;
using llvm::StringRef;

llvm::ArrayRef<StringLiteral> nnc::onnx::getFusedOps() {
  static constexpr StringLiteral names[] = {"BiasDropout",
                                            "EmbedLayerNormalization",
                                            "FusedConv",
                                            "FusedGemm",
                                            "FusedMatMul",
                                            "GroupNorm",
                                            "LayerNormalization",
                                            "NhwcConv",
                                            "QuickGelu",
                                            "SimplifiedLayerNormalization",
                                            "SkipGroupNorm",
                                            "SkipLayerNormalization",
                                            "SkipSimplifiedLayerNormalization",
                                            "TransposeMatMul"};
  return names;
}

/// Returns statements that define y as an activation of `x`. For an unknown
/// activation, returns an empty text and sets `why`.
static std::string printActivation(StringRef name,
                                   llvm::ArrayRef<double> numbers,
                                   std::string &why) {
  auto number = [&](size_t i, double otherwise) {
    return i < numbers.size() ? numbers[i] : otherwise;
  };
  if (name.empty())
    return "y = Identity (x) ";
  if (name == "Relu" || name == "Tanh" || name == "Sigmoid" ||
      name == "Softplus" || name == "Gelu")
    return "y = " + name.str() + " (x) ";
  if (name == "LeakyRelu" || name == "Elu")
    return "y = " + name.str() +
           " <alpha: float = " + print(number(0, name == "Elu" ? 1 : 0.01)) +
           "> (x) ";
  if (name == "HardSigmoid")
    return "y = HardSigmoid <alpha: float = " + print(number(0, 0.2)) +
           ", beta: float = " + print(number(1, 0.5)) + "> (x) ";
  if (name == "Clip")
    return printFloat("low", number(0, -3.4028234e38)) +
           printFloat("high", number(1, 3.4028234e38)) +
           "y = Clip (x, low, high) ";
  why = "with the activation '" + name.str() + "' is not supported";
  return "";
}

/// Returns the permutation that moves channels behind the spatial axes, or back
/// in front of them.
static std::string printPermutation(int64_t rank, bool toBack) {
  SmallVector<int64_t> order = {0};
  if (!toBack)
    order.push_back(rank - 1);
  for (int64_t axis = 2; axis < rank; ++axis)
    order.push_back(toBack ? axis : axis - 1);
  if (toBack)
    order.push_back(1);
  return print(order);
}

static constexpr char kConv[] =
    "Conv <auto_pad: string = @auto_pad, dilations: ints = @dilations, group: "
    "int = @group, kernel_shape: ints = @kernel_shape, pads: ints = @pads, "
    "strides: ints = @strides> ";

/// Returns the body of FusedConv: a convolution, an addition and an activation.
static std::string printConv(const MicrosoftNode &node, std::string &why) {
  std::string activation =
      printActivation(node.getString("activation", ""),
                      node.getFloats("activation_params"), why);
  if (activation.empty())
    return "";
  std::string body = std::string("c = ") + kConv +
                     (node.has(2) ? "(image, w, bias) " : "(image, w) ");
  body += node.has(3) ? "x = Add (c, added) " : "x = Identity (c) ";
  return "(image, w, bias, added) => (y) {" + body + activation + "}";
}

/// Returns the body of NhwcConv: a convolution of images in NHWC order.
static std::string printNhwcConv(const MicrosoftNode &node) {
  int64_t rank = node.getRank(0);
  return "(x, w, bias) => (y) { t = Transpose <perm: ints = " +
         printPermutation(rank, false) + "> (x) c = " + kConv +
         (node.has(2) ? "(t, w, bias) " : "(t, w) ") +
         "y = Transpose <perm: ints = " + printPermutation(rank, true) +
         "> (c) }";
}

static std::string printGemm(const MicrosoftNode &node, std::string &why) {
  SmallVector<double> numbers;
  for (StringRef name :
       {"activation_alpha", "activation_beta", "activation_gamma"})
    if (node.hasAttribute(name))
      numbers.push_back(node.getFloat(name, 0));
  std::string activation =
      printActivation(node.getString("activation", ""), numbers, why);
  if (activation.empty())
    return "";
  return "(a, b, c) => (y) { x = Gemm <alpha: float = " +
         print(node.getFloat("alpha", 1)) +
         ", beta: float = " + print(node.getFloat("beta", 1)) +
         ", transA = " + std::to_string(node.getInt("transA", 0)) +
         ", transB = " + std::to_string(node.getInt("transB", 0)) +
         (node.has(2) ? "> (a, b, c) " : "> (a, b) ") + activation + "}";
}

/// Returns the permutation of the axes of a factor: `moves` moves the first
/// axis behind the batch axes, then `swaps` exchanges the last two axes.
static SmallVector<int64_t> getOrder(int64_t rank, bool moves, bool swaps) {
  SmallVector<int64_t> order;
  for (int64_t axis = 0; axis < rank; ++axis)
    order.push_back(axis);
  if (rank < 2)
    return order;
  if (moves)
    std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  if (swaps)
    std::swap(order[rank - 1], order[rank - 2]);
  return order;
}

static std::string printMatMul(const MicrosoftNode &node) {
  std::string body;
  for (int i = 0; i < 2; ++i) {
    std::string name = i ? "B" : "A", value = i ? "b" : "a";
    body += value + "t = Transpose <perm: ints = " +
            print(getOrder(node.getRank(i), node.getInt("transBatch" + name, 0),
                           node.getInt("trans" + name, 0))) +
            "> (" + value + ") ";
  }
  double alpha = node.getFloat("alpha", 1);
  if (alpha == 1)
    return "(a, b) => (y) {" + body + "y = MatMul (at, bt) }";
  return "(a, b) => (y) {" + body + "product = MatMul (at, bt) " +
         printFloat("alpha", alpha) +
         "factor = CastLike (alpha, product) y = Mul (product, factor) }";
}

//===----------------------------------------------------------------------===//
// Normalization
//===----------------------------------------------------------------------===//

/// Returns the body of a normalization along the last axis, of x or of the sum
/// of the operands. If `simple` is set, it only divides by the root mean
/// square.
static std::string printNormalization(const MicrosoftNode &node, bool simple) {
  bool isSkip = node.getName().starts_with("Skip");
  std::string epsilon = "epsilon: float = " +
                        print(node.getFloat("epsilon", isSkip ? 1e-12 : 1e-5));
  std::string axis = "axis = " + std::to_string(node.getInt("axis", -1));
  int beta = simple ? -1 : isSkip ? 3 : 2, bias = simple ? 3 : 4;
  std::string body;
  if (isSkip && node.has(bias))
    body = "two = Add (a, skip) sum = Add (two, bias) ";
  else if (isSkip)
    body = "sum = Add (a, skip) ";
  else
    body = "sum = Identity (a) ";
  std::string operands =
      beta >= 0 && node.has(beta) ? "(sum, gamma, beta) " : "(sum, gamma) ";
  if (simple)
    body += "y = RMSNormalization <" + axis + ", " + epsilon + "> " + operands;
  else
    body += "y, mean, deviation = LayerNormalization <" + axis + ", " +
            epsilon + "> " + operands;
  std::string inputs = !isSkip  ? "(a, gamma, beta)"
                       : simple ? "(a, skip, gamma, bias)"
                                : "(a, skip, gamma, beta, bias)";
  return inputs + " => (y, mean, deviation, sum) {" + body + "}";
}

/// Returns the body of EmbedLayerNormalization. The results are the normalized
/// sum of the embeddings of words, positions and, optionally, segments; the
/// number of words in the mask; and the sum itself.
static std::string printEmbedding(const MicrosoftNode &node) {
  std::string text =
      "(ids, segments, word, place, segment, gamma, beta, mask, positions) => "
      "(y, lengths, sum) { rows = Gather (word, ids) ";
  if (node.has(8))
    text += "places = Gather (place, positions) ";
  else
    text += "size = Shape <start = 1, end = 2> (ids) "
            "first = Constant <value_ints: ints = [0]> () "
            "places = Slice (place, first, size) ";
  text += "two = Add (rows, places) ";
  text += node.has(1) && node.has(4) ? "more = Gather (segment, segments) "
                                       "sum = Add (two, more) "
                                     : "sum = Identity (two) ";
  text += node.has(7) ? "axis = Constant <value_ints: ints = [1]> () "
                        "lengths = ReduceSum <keepdims = 0> (mask, axis) "
                      : "count = Shape <start = 0, end = 1> (ids) "
                        "lengths = ConstantOfShape <value = int32[1] {0}> "
                        "(count) ";
  return text + "y = LayerNormalization <axis = -1, epsilon: float = " +
         print(node.getFloat("epsilon", 1e-12)) + "> (sum, gamma, beta) }";
}

/// Returns the body of a normalization of groups of channels, optionally of a
/// sum. Images are in NHWC order unless an attribute says otherwise.
static std::string printGroupNorm(const MicrosoftNode &node) {
  bool isSkip = node.getName() == "SkipGroupNorm";
  int64_t rank = node.getRank(0);
  std::string body = "sum = Identity (x) ";
  if (isSkip && node.has(4))
    body = "two = Add (x, skip) sum = Add (two, bias) ";
  else if (isSkip)
    body = "sum = Add (x, skip) ";
  bool isLast = node.getInt("channels_last", 1);
  auto move = [&](StringRef to, StringRef from, bool toBack) {
    body +=
        (to + " = ").str() +
        (isLast ? "Transpose <perm: ints = " + printPermutation(rank, toBack) +
                      "> "
                : "Identity ") +
        ("(" + from + ") ").str();
  };
  move("t", "sum", false);
  body += "n = GroupNormalization <num_groups = " +
          std::to_string(node.getInt("groups", 1)) +
          ", epsilon: float = " + print(node.getFloat("epsilon", 1e-5)) +
          "> (t, gamma, beta) ";
  body += node.getInt("activation", 0) ? "g = Sigmoid (n) a = Mul (n, g) "
                                       : "a = Identity (n) ";
  move("y", "a", true);
  return std::string(isSkip ? "(x, gamma, beta, skip, bias)"
                            : "(x, gamma, beta)") +
         " => (y, sum) {" + body + "}";
}

std::string nnc::onnx::printFused(const MicrosoftNode &node, std::string &why) {
  StringRef name = node.getName();
  if (name == "FusedConv")
    return printConv(node, why);
  if (name == "FusedGemm")
    return printGemm(node, why);
  if (name == "NhwcConv")
    return printNhwcConv(node);
  if (name == "FusedMatMul" || name == "TransposeMatMul")
    return printMatMul(node);
  if (name == "EmbedLayerNormalization")
    return printEmbedding(node);
  if (name.ends_with("GroupNorm"))
    return printGroupNorm(node);
  if (name == "QuickGelu")
    return "(x) => (y) {" + printFloat("alpha", node.getFloat("alpha", 1.702)) +
           "factor = CastLike (alpha, x) scaled = Mul (x, factor) "
           "gate = Sigmoid (scaled) y = Mul (x, gate) }";
  if (name == "BiasDropout")
    return std::string("(x, bias, added, ratio, training) => (y) {") +
           (node.has(2) ? "sum = Add (x, bias) y = Add (sum, added) }"
                        : "y = Add (x, bias) }");
  return printNormalization(node, name.contains("Simplified"));
}
