//===- Microsoft.cpp - onnxruntime's own quantized operators --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/Microsoft.h"

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
  StringLiteral zero; ///< attribute that has to be absent or 0, or empty
  const char *body;
};
} // namespace

static constexpr Line kLines[] = {
#define NNC_ONNX_MICROSOFT(name, zero, body) {#name, zero, body},
#include "frontends/onnx/Microsoft.inc"
};

static const ::onnx::AttributeProto *find(const ::onnx::NodeProto &node,
                                          StringRef name) {
  for (const auto &attribute : node.attribute())
    if (attribute.name() == name.str())
      return &attribute;
  return nullptr;
}

static int64_t getInt(const ::onnx::NodeProto &node, StringRef name,
                      int64_t otherwise) {
  const ::onnx::AttributeProto *attribute = find(node, name);
  return attribute ? attribute->i() : otherwise;
}

/// Returns the number of the node's inputs without absent ones at the end.
static int countInputs(const ::onnx::NodeProto &node) {
  int count = node.input_size();
  while (count > 0 && node.input(count - 1).empty())
    --count;
  return count;
}

/// Returns the body of a concatenation, whose inputs are a scale and a zero
/// point of the result, and a value, a scale and a zero point of each part.
static std::string printConcat(const ::onnx::NodeProto &node) {
  std::string inputs = "y_scale, y_zero", body, parts;
  for (int i = 0; i < (node.input_size() - 2) / 3; ++i) {
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
static std::string printGemm(const ::onnx::NodeProto &node) {
  auto has = [&](int i) {
    return i < node.input_size() && !node.input(i).empty();
  };
  std::string alpha =
      std::to_string(find(node, "alpha") ? find(node, "alpha")->f() : 1.0f);
  std::string body;
  for (auto [name, attribute] : {std::pair("a", "transA"), {"b", "transB"}})
    body += std::string(name) + "t = " +
            (getInt(node, attribute, 0) ? "Transpose <perm = [1, 0]> ("
                                        : "Identity (") +
            name + ") ";
  body += "sums = MatMulInteger (at, bt, a_zero, b_zero) ";
  body += has(6) ? "all = Add (sums, bias) " : "all = Identity (sums) ";
  body += "real = Cast <to = 1> (all) scale = Mul (a_scale, b_scale) "
          "alpha = Constant <value_float: float = " +
          alpha + "> () from = Mul (scale, alpha) ";
  if (has(7))
    body += "factor = Div (from, y_scale) moved = Mul (real, factor) "
            "one = Constant <value_float: float = 1.0> () "
            "y = QuantizeLinear (moved, one, y_zero) }";
  else
    body += "y = Mul (real, from) }";
  return "(a, a_scale, a_zero, b, b_scale, b_zero, bias, y_scale, y_zero) => "
         "(y) {" +
         body;
}

llvm::ArrayRef<StringLiteral> nnc::onnx::getMicrosoftOps() {
  static const auto names = [] {
    llvm::SmallVector<StringLiteral> names = {"QGemm", "QLinearConcat"};
    for (const Line &line : kLines)
      if (!llvm::is_contained(names, line.name))
        names.push_back(line.name);
    llvm::sort(names);
    return names;
  }();
  return names;
}

/// Returns the signature and body of a node; empty if there is none.
static std::string findBody(const ::onnx::NodeProto &node, std::string &why) {
  StringRef name = node.op_type();
  if (name == "QLinearConcat") {
    if (node.input_size() >= 5 && node.input_size() % 3 == 2)
      return printConcat(node);
    why = "needs a scale and a zero point for its result and for each part";
    return "";
  }
  if (name == "QGemm")
    return printGemm(node);
  for (const Line &line : kLines) {
    if (line.name != name)
      continue;
    StringRef inputs = StringRef(line.body).split(')').first;
    if (inputs.count(',') + 1 < size_t(countInputs(node)))
      continue;
    if (!line.zero.empty() && getInt(node, line.zero, 0) != 0) {
      why = "with " + line.zero.str() + " is not supported";
      return "";
    }
    return line.body;
  }
  return "";
}

std::unique_ptr<::onnx::FunctionProto>
nnc::onnx::makeMicrosoftBody(const ::onnx::NodeProto &node, std::string &why) {
  std::string body = findBody(node, why);
  if (body.empty())
    return nullptr;
  // A softmax of before opset 13 is one over all axes from its own on.
  bool isOld =
      node.op_type() == "QLinearSoftmax" && getInt(node, "opset", 13) < 13;
  std::string text = std::string("<opset_import: [\"\" : ") +
                     (isOld ? "12" : "17") + "], domain: \"com.microsoft\"> " +
                     node.op_type() + " " + body;
  auto function = std::make_unique<::onnx::FunctionProto>();
  ::onnx::OnnxParser parser(text.c_str());
  if (!parser.Parse(*function).IsOK())
    return nullptr;
  return function;
}
