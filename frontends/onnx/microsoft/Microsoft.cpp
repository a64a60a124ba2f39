//===- Microsoft.cpp - onnxruntime's own operators as functions -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/microsoft/MicrosoftNode.h"

#include "onnx/defs/parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace nnc::onnx;
using llvm::StringLiteral;
using llvm::StringRef;

namespace {
/// A line of Microsoft.inc.
struct Line {
  StringLiteral name;
  StringLiteral zero; ///< name of an attribute that must be absent or 0, or ""
  const char *body;
};
} // namespace

static constexpr Line kLines[] = {
#define NNC_ONNX_MICROSOFT(name, zero, body) {#name, zero, body},
#include "frontends/onnx/microsoft/Microsoft.inc"
};

/// Returns the body of a concatenation, whose inputs are a scale and a zero
/// point of the result, and a value, a scale and a zero point of each part.
static std::string printConcat(const MicrosoftNode &node) {
  std::string inputs = "y_scale, y_zero", body, parts;
  for (int i = 0; i < (node.countInputs() - 2) / 3; ++i) {
    std::string n = std::to_string(i);
    inputs += ", x" + n + ", s" + n + ", z" + n;
    body +=
        "p" + n + " = DequantizeLinear (x" + n + ", s" + n + ", z" + n + ") ";
    parts += (i ? ", p" : "p") + n;
  }
  return "(" + inputs + ") => (y) {" + body +
         "all = Concat <axis: int = @axis> (" + parts +
         ") y = QuantizeLinear (all, y_scale, y_zero) }";
}

/// Returns the body of QGemm: sums in i32 with an optional bias in i32, times
/// alpha and the scales; rescaled to 8 bits if there is a scale of the result.
static std::string printGemm(const MicrosoftNode &node) {
  std::string alpha = print(node.getFloat("alpha", 1));
  std::string body;
  for (auto [name, attribute] : {std::pair("a", "transA"), {"b", "transB"}})
    body += std::string(name) + "t = " +
            (node.getInt(attribute, 0) ? "Transpose <perm = [1, 0]> ("
                                       : "Identity (") +
            name + ") ";
  body += "sums = MatMulInteger (at, bt, a_zero, b_zero) ";
  body += node.has(6) ? "all = Add (sums, bias) " : "all = Identity (sums) ";
  body += "real = Cast <to = 1> (all) scale = Mul (a_scale, b_scale) "
          "alpha = Constant <value_float: float = " +
          alpha + "> () from = Mul (scale, alpha) ";
  if (node.has(7))
    body += "factor = Div (from, y_scale) moved = Mul (real, factor) "
            "one = Constant <value_float: float = 1.0> () "
            "y = QuantizeLinear (moved, one, y_zero) }";
  else
    body += "y = Mul (real, from) }";
  return "(a, a_scale, a_zero, b, b_scale, b_zero, bias, y_scale, y_zero) => "
         "(y) {" +
         body;
}

/// Returns the body of QAttention: a product of integers with the weights of
/// queries, keys and values, and attention on floats. The mask has two axes; it
/// adds `mask_filter_value` where it is 0.
static std::string printAttention(const MicrosoftNode &node) {
  std::string heads = std::to_string(node.getInt("num_heads", 0));
  std::string body =
      "sums = MatMulInteger (x, w, x_zero, w_zero) "
      "real = Cast <to = 1> (sums) factor = Mul (x_scale, w_scale) "
      "product = Mul (real, factor) all = Add (product, bias) "
      "q, k, v = Split <axis = -1, num_outputs = 3> (all) ";
  bool hasMask = node.has(5);
  if (hasMask)
    body += "kept = Cast <to = 1> (mask) "
            "one = Constant <value_float: float = 1.0> () "
            "filter = Constant <value_float: float = " +
            print(node.getFloat("mask_filter_value", -10000)) +
            "> () dropped = Sub (one, kept) row = Mul (dropped, filter) "
            "axes = Constant <value_ints: ints = [1, 2]> () "
            "added = Unsqueeze (row, axes) ";
  body += "y = Attention <q_num_heads = " + heads +
          ", kv_num_heads = " + heads +
          ", is_causal = " + std::to_string(node.getInt("unidirectional", 0));
  if (double scale = node.getFloat("scale", 0))
    body += ", scale: float = " + print(scale);
  return "(x, w, bias, x_scale, w_scale, mask, x_zero, w_zero) => (y) {" +
         body + "> (q, k, v" + (hasMask ? ", added" : "") + ") }";
}

/// Returns the body of QEmbedLayerNormalization: the sum of quantized
/// embeddings of words, places and, optionally, segments, normalized.
static std::string printEmbedding(const MicrosoftNode &node) {
  std::string text =
      "(ids, segments, word, place, segment, gamma, beta, mask, word_scale, "
      "place_scale, segment_scale, gamma_scale, beta_scale, word_zero, "
      "place_zero, segment_zero, gamma_zero, beta_zero) => (y, lengths) {"
      "rows = Gather (word, ids) size = Shape <start = 1, end = 2> (ids) "
      "first = Constant <value_ints: ints = [0]> () "
      "places = Slice (place, first, size) "
      "a = DequantizeLinear (rows, word_scale, word_zero) "
      "b = DequantizeLinear (places, place_scale, place_zero) "
      "two = Add (a, b) ";
  text += node.has(1) && node.has(4)
              ? "more = Gather (segment, segments) "
                "c = DequantizeLinear (more, segment_scale, segment_zero) "
                "sum = Add (two, c) "
              : "sum = Identity (two) ";
  text += node.has(7)
              ? "axis = Constant <value_ints: ints = [1]> () "
                "lengths = ReduceSum <keepdims = 0> (mask, axis) "
              : "count = Shape <start = 0, end = 1> (ids) "
                "lengths = ConstantOfShape <value = int32[1] {0}> (count) ";
  return text +
         "g = DequantizeLinear (gamma, gamma_scale, gamma_zero) "
         "h = DequantizeLinear (beta, beta_scale, beta_zero) "
         "y = LayerNormalization <axis = -1, epsilon: float = " +
         print(node.getFloat("epsilon", 1e-12)) + "> (sum, g, h) }";
}

llvm::ArrayRef<StringLiteral> nnc::onnx::getMicrosoftOps() {
  static const auto names = [] {
    llvm::SmallVector<StringLiteral> names = {
        "DynamicQuantizeLSTM", "QAttention", "QEmbedLayerNormalization",
        "QGemm", "QLinearConcat"};
    llvm::append_range(names, getFusedOps());
    llvm::append_range(names, getAttentionOps());
    for (const Line &line : kLines)
      if (!llvm::is_contained(names, line.name))
        names.push_back(line.name);
    llvm::sort(names);
    return names;
  }();
  return names;
}

/// Returns the signature and body of a node; empty if there is none.
static std::string findBody(const MicrosoftNode &node, std::string &why) {
  StringRef name = node.getName();
  if (llvm::is_contained(getFusedOps(), name))
    return printFused(node, why);
  if (llvm::is_contained(getAttentionOps(), name))
    return printAttentionOp(node, why);
  if (name == "QLinearConcat") {
    if (node.countInputs() >= 5 && node.countInputs() % 3 == 2)
      return printConcat(node);
    why = "needs a scale and a zero point for its result and for each part";
    return "";
  }
  if (name == "DynamicQuantizeLSTM")
    return printQuantizedLstm(node, why);
  if (name == "QGemm")
    return printGemm(node);
  if (name == "QEmbedLayerNormalization")
    return printEmbedding(node);
  if (name == "QAttention") {
    if (node.countInputs() > 8 || node.hasResult(1))
      why = "with past or present keys and values is not supported";
    else if (node.has(5) && node.getRank(5) != 2)
      why = "with a mask of another number of axes than two is not supported";
    else if (node.getInt("do_rotary", 0) != 0)
      why = "with do_rotary is not supported";
    else
      return printAttention(node);
    return "";
  }
  for (const Line &line : kLines) {
    if (line.name != name)
      continue;
    StringRef inputs = StringRef(line.body).split(')').first;
    if (inputs.count(',') + 1 < size_t(node.countInputs()))
      continue;
    if (!line.zero.empty() && node.getInt(line.zero, 0) != 0) {
      why = "with " + line.zero.str() + " is not supported";
      return "";
    }
    return line.body;
  }
  return "";
}

/// Returns the operator set that the body of a node is written for.
static int findBodyOpset(const MicrosoftNode &node) {
  StringRef name = node.getName();
  // Before opset 13, a softmax is over all axes from the attribute's axis on.
  if (name == "QLinearSoftmax" && node.getInt("opset", 13) < 13)
    return 12;
  // In later operator sets, ReduceMean has its axes as an input.
  bool isOld = name.starts_with("QLinear") || name == "QGemm" ||
               name == "QEmbedLayerNormalization" ||
               name == "DynamicQuantizeMatMul" ||
               name == "MatMulIntegerToFloat";
  return isOld ? 17 : 25;
}

std::unique_ptr<::onnx::FunctionProto>
nnc::onnx::makeMicrosoftBody(const ::onnx::NodeProto &proto,
                             llvm::ArrayRef<mlir::Value> operands,
                             std::string &why) {
  MicrosoftNode node(proto, operands);
  std::string body = findBody(node, why);
  if (body.empty())
    return nullptr;
  std::string text =
      "<opset_import: [\"\" : " + std::to_string(findBodyOpset(node)) +
      "], domain: \"com.microsoft\"> " + proto.op_type() + " " + body;
  auto function = std::make_unique<::onnx::FunctionProto>();
  ::onnx::OnnxParser parser(text.c_str());
  if (!parser.Parse(*function).IsOK())
    return nullptr;
  return function;
}
