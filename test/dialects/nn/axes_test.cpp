//===- axes_test.cpp - How ops treat the axes of their operands -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Besides the answers of some ops, this checks for an example of every kind of
// op that its answers are true: one element of an operand is changed at a time,
// and only those elements of the result may change that depend on it.
//
//===----------------------------------------------------------------------===//

#include "dialects/evaluate/Evaluate.h"
#include "dialects/qnn/Qnn.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

#include <catch2/catch.hpp>

#include <numeric>
#include <random>

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

namespace {
/// Returns the kind and the axes of the operands, such as "elements 0 -1", and
/// the windows as "kernel / stride / dilation / before / after".
std::string print(const AxisUse &use) {
  static const char *const kinds[] = {"mixed", "apart", "elements", "padded",
                                      "windows"};
  std::string text = kinds[static_cast<int>(use.kind)];
  for (int64_t axis : use.axes)
    text += " " + std::to_string(axis);
  const AxisWindows &windows = use.windows;
  if (use.hasWindows())
    text += llvm::formatv(": {0} / {1} / {2} / {3} / {4}", windows.kernel,
                          windows.stride, windows.dilation, windows.before,
                          windows.after);
  return text;
}

/// An op that is parsed on the arguments of a function.
struct Parsed {
  Parsed(StringRef arguments, StringRef op, StringRef result) {
    context.loadDialect<NnDialect, qnn::QnnDialect>();
    std::string text =
        ("func.func @main(" + arguments + ") -> " + result +
         " {\n  %y = " + op + "\n  return %y : " + result + "\n}")
            .str();
    INFO(text);
    module = parseSourceString<ModuleOp>(text, &context);
    REQUIRE(module);
  }
  func::FuncOp getFunction() { return *module->getOps<func::FuncOp>().begin(); }
  Operation *getOp() { return &getFunction().getBody().front().front(); }
  std::string ask(int64_t axis) { return print(getAxisUse(getOp(), axis)); }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

/// Returns the range [begin, end) of elements of a result's axis of `size`
/// elements that may depend on element `i` of `count` of an operand's axis.
std::pair<int64_t, int64_t> findReaders(const AxisUse &use, int64_t i,
                                        int64_t count, int64_t size) {
  const AxisWindows &windows = use.windows;
  switch (use.kind) {
  case AxisKind::mixed:
    break;
  case AxisKind::apart: {
    // With the most parts, which have the fewest elements.
    int64_t parts = std::gcd(count, size);
    int64_t part = i / (count / parts), length = size / parts;
    return {part * length, (part + 1) * length};
  }
  case AxisKind::elements:
    return {i, i + 1};
  case AxisKind::padded:
  case AxisKind::windows:
    if (windows.repeatsElements)
      break;
    // The windows that begin at or before the element and end behind it.
    int64_t place = i + windows.before;
    return {
        llvm::divideCeilSigned(place - windows.getExtent() + 1, windows.stride),
        llvm::divideFloorSigned(place, windows.stride) + 1};
  }
  return {0, size};
}

/// Returns the index along axis `axis` of element number `element`.
int64_t getIndex(ArrayRef<int64_t> shape, int64_t axis, int64_t element) {
  return element / product(shape.drop_front(axis + 1)) % shape[axis];
}

/// Checks the answer of `op` for axis `axis` against what the op computes.
void checkAnswer(Operation *op, int64_t axis, std::mt19937 &random) {
  AxisUse use = getAxisUse(op, axis);
  if (use.kind == AxisKind::mixed)
    return;
  REQUIRE(use.axes.size() == op->getNumOperands());
  SmallVector<TensorData> operands;
  for (Value operand : op->getOperands()) {
    TensorData data = TensorData::allocate(getTensorType(operand));
    // Indices and bits are small numbers of any type.
    for (char &byte :
         MutableArrayRef(data.getMutableBytes(), data.getBytes().size()))
      byte = 0;
    for (int64_t i = 0;
         data.getElementType().isF32() && i < data.getNumElements(); ++i)
      data.getMutable<float>()[i] = 0.25f + float(random() % 1000) / 1000;
    operands.push_back(data);
  }
  auto before = evaluate(op, operands);
  REQUIRE(succeeded(before));
  ArrayRef<int64_t> result = before->getShape();
  size_t width = before->getBytes().size() / before->getNumElements();
  for (auto [number, own] : llvm::enumerate(use.axes)) {
    TensorData &data = operands[number];
    if (own < 0 || !data.getElementType().isF32())
      continue;
    for (int64_t i = 0; i < data.getNumElements(); ++i) {
      float &element = data.getMutable<float>()[i];
      const float old = std::exchange(element, element + 3);
      auto after = evaluate(op, operands);
      element = old;
      REQUIRE(succeeded(after));
      auto [begin, end] = findReaders(use, getIndex(data.getShape(), own, i),
                                      data.getShape()[own], result[axis]);
      for (int64_t j = 0; j < before->getNumElements(); ++j) {
        int64_t place = getIndex(result, axis, j);
        if (before->getBytes().slice(j * width, width) ==
            after->getBytes().slice(j * width, width))
          continue;
        INFO(op->getName().getStringRef().str()
             << ": element " << i << " of operand " << number
             << " changes element " << place << " of axis " << axis);
        CHECK((begin <= place && place < end));
      }
    }
  }
}
} // namespace

TEST_CASE("an elementwise op treats every axis element by element") {
  Parsed add("%a: tensor<2x3x4xf32>, %b: tensor<3x1xf32>",
             "nn.add %a, %b : tensor<2x3x4xf32>, tensor<3x1xf32>",
             "tensor<2x3x4xf32>");
  CHECK(add.ask(0) == "elements 0 -1");
  CHECK(add.ask(1) == "elements 1 0");
  CHECK(add.ask(2) == "elements 2 -1");
  CHECK(findResultAxis(add.getOp(), 1, 0) == 1);
  CHECK(!findResultAxis(add.getOp(), 1, 1));
  Parsed quantize("%x: tensor<2x3xf32>",
                  "qnn.quantize half_even %x : tensor<2x3xf32> -> "
                  "tensor<2x3x!quant.uniform<u8:f32, 0.5:128>>",
                  "tensor<2x3x!quant.uniform<u8:f32, 0.5:128>>");
  CHECK(quantize.ask(1) == "elements 1");
}

TEST_CASE("a convolution has windows along spatial axes, and keeps samples") {
  StringRef attributes = "{strides = array<i64: 2, 1>, dilations = array<i64: "
                         "1, 2>, pads = array<i64: 1, 0, 2, 3>, groups = 1 : "
                         "i64} : ";
  std::string types = "(tensor<4x3x9x9xf32>, tensor<2x3x3x3xf32>) -> "
                      "tensor<4x2x5x8xf32>";
  Parsed conv("%x: tensor<4x3x9x9xf32>, %w: tensor<2x3x3x3xf32>",
              ("nn.conv %x, %w " + attributes + types).str(),
              "tensor<4x2x5x8xf32>");
  CHECK(conv.ask(0) == "apart 0 -1");
  CHECK(conv.ask(1) == "mixed");
  CHECK(conv.ask(2) == "windows 2 -1: 3 / 2 / 1 / 1 / 2");
  CHECK(conv.ask(3) == "windows 3 -1: 3 / 1 / 2 / 0 / 3");
  CHECK(conv.ask(4) == "mixed"); // no such axis
  cast<AxisOpInterface>(conv.getOp()).setAxisPadding(3, 5, 0);
  CHECK(cast<ConvOp>(conv.getOp()).getPads() == ArrayRef<int64_t>{1, 5, 2, 0});
}

TEST_CASE("padding is distinct from windows, and from elements") {
  StringRef types = "{pads = array<i64: 0, 1, 0, -1>, value = 0.0 : f64} : "
                    "(tensor<2x3xf32>) -> tensor<2x3xf32>";
  Parsed pad("%x: tensor<2x3xf32>", ("nn.pad constant %x " + types).str(),
             "tensor<2x3xf32>");
  CHECK(pad.ask(0) == "elements 0");
  CHECK(pad.ask(1) == "padded 1: 1 / 1 / 1 / 1 / -1");
  CHECK(!getAxisUse(pad.getOp(), 1).windows.repeatsElements);
  Parsed edge("%x: tensor<2x3xf32>", ("nn.pad edge %x " + types).str(),
              "tensor<2x3xf32>");
  CHECK(getAxisUse(edge.getOp(), 1).windows.repeatsElements);
}

TEST_CASE("axes move where an op moves them") {
  Parsed transpose("%x: tensor<2x3x4xf32>",
                   "nn.transpose %x {permutation = array<i64: 2, 0, 1>} : "
                   "(tensor<2x3x4xf32>) -> tensor<4x2x3xf32>",
                   "tensor<4x2x3xf32>");
  CHECK(transpose.ask(0) == "elements 2");
  CHECK(findResultAxis(transpose.getOp(), 0, 1) == 2);
  Parsed reshape("%x: tensor<6x5x4xf32>",
                 "nn.reshape %x : tensor<6x5x4xf32> -> tensor<1x6x2x10xf32>",
                 "tensor<1x6x2x10xf32>");
  CHECK(reshape.ask(0) == "apart 0");
  CHECK(reshape.ask(1) == "elements 0");
  CHECK(reshape.ask(2) == "mixed");
  CHECK(findResultAxis(reshape.getOp(), 0, 0) == 1);
  Parsed rows("%x: tensor<6x5xf32>",
              "nn.reshape %x : tensor<6x5xf32> -> tensor<3x10xf32>",
              "tensor<3x10xf32>");
  CHECK(rows.ask(0) == "apart 0");
  Parsed reduce("%x: tensor<2x3x4x5xf32>",
                "nn.reduce sum %x {axes = array<i64: 0, 2>, keepdims = false} "
                ": (tensor<2x3x4x5xf32>) -> tensor<3x5xf32>",
                "tensor<3x5xf32>");
  CHECK(reduce.ask(0) == "elements 1");
  CHECK(reduce.ask(1) == "elements 3");
}

TEST_CASE("operands may come together along an axis, or be read whole") {
  Parsed concat("%a: tensor<2x3xf32>, %b: tensor<2x4xf32>",
                "nn.concat %a, %b {axis = 1 : i64} : (tensor<2x3xf32>, "
                "tensor<2x4xf32>) -> tensor<2x7xf32>",
                "tensor<2x7xf32>");
  CHECK(concat.ask(0) == "elements 0 0");
  CHECK(concat.ask(1) == "mixed");
  Parsed table("%x: tensor<5x3xf32>, %i: tensor<4xi64>",
               "nn.gather %x, %i {axis = 0 : i64} : (tensor<5x3xf32>, "
               "tensor<4xi64>) -> tensor<4x3xf32>",
               "tensor<4x3xf32>");
  CHECK(table.ask(0) == "apart -1 0");
  StringRef flags = "{transpose_a = false, transpose_b = false} : ";
  Parsed dense("%a: tensor<2x3x4xf32>, %b: tensor<4x5xf32>",
               ("nn.matmul %a, %b " + flags +
                "(tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>")
                   .str(),
               "tensor<2x3x5xf32>");
  CHECK(dense.ask(0) == "elements 0 -1");
  CHECK(dense.ask(1) == "elements 1 -1");
  CHECK(dense.ask(2) == "mixed");
  Parsed batch("%a: tensor<2x3x4xf32>, %b: tensor<1x4x5xf32>",
               ("nn.matmul %a, %b " + flags +
                "(tensor<2x3x4xf32>, tensor<1x4x5xf32>) -> tensor<2x3x5xf32>")
                   .str(),
               "tensor<2x3x5xf32>");
  CHECK(batch.ask(0) == "apart 0 -1");
  CHECK(batch.ask(1) == "mixed");
}

TEST_CASE("a slice has the size of an axis that it takes whole") {
  Parsed slice("%x: tensor<6x5xf32>",
               "nn.slice %x {starts = array<i64: 0, 1>, sizes = array<i64: 6, "
               "3>, steps = array<i64: 1, 1>} : (tensor<6x5xf32>) -> "
               "tensor<6x3xf32>",
               "tensor<6x3xf32>");
  CHECK(slice.ask(0) == "elements 0");
  CHECK(slice.ask(1) == "mixed");
  auto op = cast<SliceOp>(slice.getOp());
  auto f32 = Float32Type::get(&slice.context);
  op.getX().setType(RankedTensorType::get({2, 5}, f32));
  op.updateAxisSize(0);
  CHECK(op.getSizes() == ArrayRef<int64_t>{2, 3});
}

TEST_CASE("an op without the interface mixes all axes") {
  Parsed det("%x: tensor<2x3x3xf32>",
             "nn.det %x : (tensor<2x3x3xf32>) -> tensor<2xf32>",
             "tensor<2xf32>");
  CHECK(det.ask(0) == "mixed");
  CHECK(!findResultAxis(det.getOp(), 0, 0));
}

namespace {
struct Example {
  StringRef arguments, op, result;
};
} // namespace

TEST_CASE("what ops say about axes is true") {
  const Example examples[] = {
      {"%a: tensor<2x3x4xf32>, %b: tensor<3x1xf32>",
       "nn.mul %a, %b : tensor<2x3x4xf32>, tensor<3x1xf32>",
       "tensor<2x3x4xf32>"},
      {"%a: tensor<1x4xf32>, %b: tensor<3x1xf32>",
       "nn.sub %a, %b : tensor<1x4xf32>, tensor<3x1xf32>", "tensor<3x4xf32>"},
      {"%x: tensor<2x4x7x6xf32>, %w: tensor<6x2x3x2xf32>",
       "nn.conv %x, %w {strides = array<i64: 2, 1>, dilations = array<i64: 1, "
       "2>, pads = array<i64: 1, 0, 2, 3>, groups = 2 : i64} : "
       "(tensor<2x4x7x6xf32>, tensor<6x2x3x2xf32>) -> tensor<2x6x4x7xf32>",
       "tensor<2x6x4x7xf32>"},
      {"%x: tensor<2x3x4xf32>, %w: tensor<3x2x3xf32>",
       "nn.conv_transpose %x, %w {strides = array<i64: 2>, dilations = "
       "array<i64: 1>, pads = array<i64: 0, 0>, output_padding = array<i64: "
       "0>, groups = 1 : i64} : (tensor<2x3x4xf32>, tensor<3x2x3xf32>) -> "
       "tensor<2x2x9xf32>",
       "tensor<2x2x9xf32>"},
      {"%x: tensor<2x2x7x5xf32>",
       "nn.max_pool %x {kernel = array<i64: 3, 2>, strides = array<i64: 2, 3>, "
       "dilations = array<i64: 1, 1>, pads = array<i64: 1, 0, 0, 0>, ceil_mode "
       "= true} : (tensor<2x2x7x5xf32>) -> tensor<2x2x4x2xf32>",
       "tensor<2x2x4x2xf32>"},
      {"%x: tensor<2x2x6x5xf32>",
       "nn.avg_pool %x {kernel = array<i64: 2, 3>, strides = array<i64: 2, 1>, "
       "dilations = array<i64: 1, 1>, pads = array<i64: 0, 1, 0, 1>, ceil_mode "
       "= false, count_include_pad = false} : (tensor<2x2x6x5xf32>) -> "
       "tensor<2x2x3x5xf32>",
       "tensor<2x2x3x5xf32>"},
      {"%x: tensor<3x5xf32>",
       "nn.pad constant %x {pads = array<i64: 0, 2, 0, -1>, value = 1.0 : f64} "
       ": (tensor<3x5xf32>) -> tensor<3x6xf32>",
       "tensor<3x6xf32>"},
      {"%x: tensor<3x5xf32>",
       "nn.pad reflect %x {pads = array<i64: 0, 2, 0, 1>, value = 0.0 : f64} : "
       "(tensor<3x5xf32>) -> tensor<3x8xf32>",
       "tensor<3x8xf32>"},
      {"%x: tensor<2x3x4xf32>",
       "nn.transpose %x {permutation = array<i64: 2, 0, 1>} : "
       "(tensor<2x3x4xf32>) -> tensor<4x2x3xf32>",
       "tensor<4x2x3xf32>"},
      {"%x: tensor<3x2xf32>",
       "nn.expand %x : tensor<3x2xf32> -> tensor<3x2xf32>", "tensor<3x2xf32>"},
      {"%x: tensor<3x1xf32>",
       "nn.expand %x : tensor<3x1xf32> -> tensor<2x3x4xf32>",
       "tensor<2x3x4xf32>"},
      {"%a: tensor<2x3xf32>, %b: tensor<2x4xf32>",
       "nn.concat %a, %b {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) "
       "-> tensor<2x7xf32>",
       "tensor<2x7xf32>"},
      {"%x: tensor<4x5xf32>",
       "nn.slice %x {starts = array<i64: 0, 4>, sizes = array<i64: 4, 5>, "
       "steps = array<i64: 1, -1>} : (tensor<4x5xf32>) -> tensor<4x5xf32>",
       "tensor<4x5xf32>"},
      {"%x: tensor<3x5xf32>, %i: tensor<2xi64>",
       "nn.gather %x, %i {axis = 1 : i64} : (tensor<3x5xf32>, tensor<2xi64>) "
       "-> tensor<3x2xf32>",
       "tensor<3x2xf32>"},
      {"%x: tensor<3x4xf32>",
       "nn.softmax %x {axis = 1 : i64, log = false} : (tensor<3x4xf32>) -> "
       "tensor<3x4xf32>",
       "tensor<3x4xf32>"},
      {"%x: tensor<2x3x4xf32>, %s: tensor<4xf32>, %b: tensor<4xf32>",
       "nn.layer_norm %x, %s, %b {axis = 2 : i64, epsilon = 1.0e-5 : f64} : "
       "(tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>",
       "tensor<2x3x4xf32>"},
      {"%x: tensor<2x3x4x5xf32>",
       "nn.reduce sum %x {axes = array<i64: 0, 2>, keepdims = false} : "
       "(tensor<2x3x4x5xf32>) -> tensor<3x5xf32>",
       "tensor<3x5xf32>"},
      {"%x: tensor<2x3x4xf32>",
       "nn.reduce max %x {axes = array<i64: 1>, keepdims = true} : "
       "(tensor<2x3x4xf32>) -> tensor<2x1x4xf32>",
       "tensor<2x1x4xf32>"},
      {"%x: tensor<3x4xf32>",
       "nn.cumsum %x {axis = 1 : i64, exclusive = false, reverse = false} : "
       "(tensor<3x4xf32>) -> tensor<3x4xf32>",
       "tensor<3x4xf32>"},
      {"%x: tensor<3x4xf32>",
       "nn.argmax %x {axis = 1 : i64, keepdims = false, select_last = false} : "
       "(tensor<3x4xf32>) -> tensor<3xi64>",
       "tensor<3xi64>"},
      {"%a: tensor<2x3x4xf32>, %b: tensor<4x5xf32>",
       "nn.matmul %a, %b {transpose_a = false, transpose_b = false} : "
       "(tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>",
       "tensor<2x3x5xf32>"},
      {"%a: tensor<4x3xf32>, %b: tensor<2x4x5xf32>",
       "nn.matmul %a, %b {transpose_a = true, transpose_b = false} : "
       "(tensor<4x3xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>",
       "tensor<2x3x5xf32>"},
      {"%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>",
       "nn.matmul %a, %b {transpose_a = false, transpose_b = false} : "
       "(tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>",
       "tensor<2x3x5xf32>"},
  };
  std::mt19937 random(1);
  for (const Example &example : examples) {
    Parsed parsed(example.arguments, example.op, example.result);
    int64_t rank = getTensorType(parsed.getOp()->getResult(0)).getRank();
    for (int64_t axis = 0; axis < rank; ++axis)
      checkAnswer(parsed.getOp(), axis, random);
  }
}
