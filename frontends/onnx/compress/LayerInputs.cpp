//===- LayerInputs.cpp - What the weights of a layer multiply -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/compress/LayerInputs.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace nnc::onnx;
using llvm::ArrayRef;
using ::onnx::NodeProto;

static std::vector<int64_t> getInts(const NodeProto &node, llvm::StringRef name,
                                    size_t count, int64_t missing) {
  const auto *found = findAttribute(node, name);
  if (!found || static_cast<size_t>(found->ints_size()) != count)
    return std::vector<int64_t>(count, missing);
  return {found->ints().begin(), found->ints().end()};
}

/// Calls `visit` with at most `most` of the numbers below `count`, spread
/// evenly and without a period that could be one of the tensor's own.
template <class F>
static void forEachChosen(int64_t count, int64_t most, F visit) {
  if (count <= most) {
    for (int64_t i = 0; i < count; ++i)
      visit(i);
    return;
  }
  // One from each of `most` parts, at a place that follows the golden ratio.
  for (int64_t i = 0; i < most; ++i) {
    int64_t begin = count / most * i + count % most * i / most;
    int64_t end = count / most * (i + 1) + count % most * (i + 1) / most;
    double share = static_cast<double>(i) * 0.6180339887498949;
    visit(begin + static_cast<int64_t>((share - std::floor(share)) *
                                       static_cast<double>(end - begin)));
  }
}

std::optional<LayerInputs> LayerInputs::get(const GraphIndex &index,
                                            const WeightUse &use,
                                            ArrayRef<int64_t> dims,
                                            std::string &reason) {
  const NodeProto &node = index.getNode(use.layer);
  llvm::StringRef op = node.op_type();
  LayerInputs inputs;
  int other = 1 - use.operand, zeroPoint = -1;
  if (op == "QLinearConv" || op == "QLinearMatMul") {
    other = use.operand == 3 ? 0 : 3;
    zeroPoint = other + 2;
  } else if (op == "ConvInteger" || op == "MatMulInteger") {
    zeroPoint = other + 2;
  } else if (op == "LSTM" || op == "GRU" || op == "RNN") {
    if (use.operand == 2) {
      reason = "multiplies states, which no other node reads";
      return std::nullopt;
    }
    inputs.kind = Kind::recurrent;
    other = 0;
  }
  inputs.tensor = node.input(other);
  if (index.isConstant(inputs.tensor)) {
    reason = "multiplies a constant";
    return std::nullopt;
  }
  if (zeroPoint >= 0 && hasInput(node, zeroPoint)) {
    const ::onnx::TensorProto *known = index.getConstant(node.input(zeroPoint));
    if (!known || !isOfBytes(*known) || getIntegers(*known).size() != 1) {
      reason = "multiplies integers whose zero point is not a constant number "
               "of 8 bits";
      return std::nullopt;
    }
    inputs.zeroPoint = static_cast<float>(getIntegers(*known).front());
  }
  if (op.contains("Conv")) {
    inputs.kind = op == "ConvTranspose" ? Kind::transposed : Kind::convolution;
    inputs.groups = getInt(node, "group", 1);
    if (inputs.groups < 1 || dims[0] % inputs.groups != 0) {
      reason = "has groups that do not divide its channels";
      return std::nullopt;
    }
    size_t axes = dims.size() - 2;
    inputs.kernel = dims.drop_front(2).vec();
    inputs.strides = getInts(node, "strides", axes, 1);
    inputs.dilations = getInts(node, "dilations", axes, 1);
    inputs.pads = getInts(node, "pads", 2 * axes, 0);
    if (const auto *mode = findAttribute(node, "auto_pad"))
      inputs.padding = mode->s();
  } else if (inputs.kind == Kind::product) {
    if (dims.size() > 2)
      inputs.batch = dims.drop_back(2).vec();
    inputs.groups = getProduct(inputs.batch);
    // A left factor's rows are multiplied by columns, a right one's columns by
    // rows, unless a Gemm exchanges those of the other factor.
    bool isTurned = getInt(node, other == 0 ? "transA" : "transB", 0) != 0;
    inputs.alongColumns = (other != 0) != isTurned;
  }
  return inputs;
}

void LayerInputs::add(ArrayRef<int64_t> shape, ArrayRef<float> values,
                      int64_t most, compression::InputMoments &moments) const {
  if (values.empty())
    return;
  if (kind == Kind::convolution || kind == Kind::transposed)
    addPatches(shape, values, most, moments);
  else
    addVectors(shape, values, most, moments);
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// The places of the output, and of the input that each reads.
struct LayerInputs::Window {
  std::vector<int64_t> input, output, before; ///< pads
};

LayerInputs::Window LayerInputs::getWindow(ArrayRef<int64_t> shape) const {
  Window window;
  window.input = shape.drop_front(2).vec();
  size_t axes = kernel.size();
  for (size_t i = 0; i < axes; ++i) {
    int64_t extent = (kernel[i] - 1) * dilations[i] + 1;
    int64_t input = window.input[i];
    bool isSame = llvm::StringRef(padding).starts_with("SAME");
    int64_t before = isSame || padding == "VALID" ? 0 : pads[i];
    int64_t after = isSame || padding == "VALID" ? 0 : pads[axes + i];
    if (kind == Kind::transposed) {
      // Outputs that the pads of output_shape and auto_pad cut off count, too.
      window.output.push_back((input - 1) * strides[i] + extent - before -
                              after);
      window.before.push_back(before);
      continue;
    }
    if (isSame) {
      int64_t total = std::max<int64_t>(
          0, (llvm::divideCeil(input, strides[i]) - 1) * strides[i] + extent -
                 input);
      before = padding == "SAME_LOWER" ? total - total / 2 : total / 2;
      after = total - before;
    }
    window.output.push_back((input + before + after - extent) / strides[i] + 1);
    window.before.push_back(before);
  }
  return window;
}

void LayerInputs::addPatches(ArrayRef<int64_t> shape, ArrayRef<float> values,
                             int64_t most,
                             compression::InputMoments &moments) const {
  Window window = getWindow(shape);
  size_t axes = kernel.size();
  int64_t channels = shape[1] / groups, places = getProduct(window.output);
  int64_t size = getProduct(window.input), taps = getProduct(kernel);
  // The numbers in an image that the taps of the chosen places read, -1 in the
  // padding; and the images.
  std::vector<int64_t> read, images;
  forEachChosen(shape[0] * places, most, [&](int64_t chosen) {
    images.push_back(chosen / places);
    for (int64_t tap = 0; tap < taps; ++tap) {
      int64_t place = chosen % places, rest = tap, number = 0, stride = 1;
      for (size_t axis = axes; axis-- > 0;) {
        int64_t at = place % window.output[axis], k = rest % kernel[axis];
        place /= window.output[axis];
        rest /= kernel[axis];
        int64_t from;
        bool isRead = true;
        if (kind == Kind::transposed) {
          int64_t scaled = at + window.before[axis] - k * dilations[axis];
          from = scaled / strides[axis];
          isRead = scaled >= 0 && scaled % strides[axis] == 0;
        } else {
          from = at * strides[axis] - window.before[axis] + k * dilations[axis];
        }
        if (!isRead || from < 0 || from >= window.input[axis])
          number = -1;
        else if (number >= 0)
          number += from * stride;
        stride *= window.input[axis];
      }
      read.push_back(number);
    }
  });
  std::vector<float> patches(images.size() * taps * channels);
  for (int64_t group = 0; group < groups; ++group) {
    float *next = patches.data();
    for (size_t i = 0; i < images.size(); ++i)
      for (int64_t tap = 0; tap < taps; ++tap) {
        int64_t number = read[i * taps + tap];
        const float *image =
            values.data() + (images[i] * shape[1] + group * channels) * size;
        for (int64_t c = 0; c < channels; ++c)
          *next++ = number < 0 ? 0 : image[c * size + number] - zeroPoint;
      }
    moments.add(group, patches);
  }
}

//===----------------------------------------------------------------------===//
// Products of matrices
//===----------------------------------------------------------------------===//

void LayerInputs::addVectors(ArrayRef<int64_t> shape, ArrayRef<float> values,
                             int64_t most,
                             compression::InputMoments &moments) const {
  int64_t columns = moments.getNumColumns();
  int64_t outer = shape.size() < 2 ? 1 : shape[shape.size() - 2];
  // A tensor of one axis is a single vector.
  bool isTurned = alongColumns && shape.size() >= 2;
  int64_t vectors = isTurned ? shape.back() : outer;
  int64_t matrices =
      getProduct(shape) / std::max<int64_t>(1, vectors * columns);
  ArrayRef<int64_t> axes =
      shape.size() > 2 ? shape.drop_back(2) : ArrayRef<int64_t>();
  std::vector<float> chosen;
  for (int64_t group = 0; group < groups; ++group) {
    chosen.clear();
    forEachChosen(matrices * vectors, most, [&](int64_t number) {
      int64_t matrix = number / vectors, vector = number % vectors;
      // Leading axes of both factors are aligned at their ends.
      int64_t rest = matrix, ofGroup = group;
      for (size_t back = 1; back <= std::min(axes.size(), batch.size());
           ++back) {
        int64_t size = axes[axes.size() - back],
                own = batch[batch.size() - back];
        if (size != 1 && own != 1 && rest % size != ofGroup % own)
          return;
        rest /= size;
        ofGroup /= own;
      }
      const float *first = values.data() + matrix * vectors * columns;
      for (int64_t k = 0; k < columns; ++k)
        chosen.push_back((isTurned ? first[k * vectors + vector]
                                   : first[vector * columns + k]) -
                         zeroPoint);
    });
    moments.add(group, chosen);
  }
}
