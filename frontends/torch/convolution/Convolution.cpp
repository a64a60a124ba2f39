//===- Convolution.cpp - Convolutions and transposed convolutions --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/DeformConv.h"
#include "frontends/torch/graph/Node.h"

using namespace mlir;
using namespace nnc;

namespace nnc::torch {
namespace {

/// The largest number in an argument of a window. Products of larger ones may
/// not fit in 64 bits.
constexpr int64_t kMaxNumber = 1 << 30;

/// The operands of a convolution, and its arguments for each spatial axis.
struct Operands {
  Value x, w, bias;
  SmallVector<int64_t> strides, dilations, pads, more;
  bool isSingle = false; ///< the input lacks the axis of the batch
};

} // namespace

static bool areInside(Node &node, StringRef name, ArrayRef<int64_t> numbers,
                      int64_t least) {
  for (int64_t number : numbers)
    if (number < least || number > kMaxNumber) {
      node.broken("has " + Twine(number) + " in '" + name + "'");
      return false;
    }
  return true;
}

/// Reads the padding, which is a text or the number of elements at both ends of
/// each axis.
static bool readPads(Node &node, ArrayRef<int64_t> kernel, bool isText,
                     Operands &operands) {
  size_t axes = kernel.size();
  if (!isText) {
    operands.pads = node.getInts("padding", axes, 0);
    operands.pads.append(operands.pads.begin(), operands.pads.end());
    return areInside(node, "padding", operands.pads, 0);
  }
  StringRef padding = node.getString("padding", "valid");
  operands.pads.assign(2 * axes, 0);
  if (padding == "valid")
    return true;
  if (padding != "same") {
    node.broken("has the padding '" + padding + "'");
    return false;
  }
  for (size_t i = 0; i < axes; ++i) {
    int64_t total = operands.dilations[i] * (kernel[i] - 1);
    operands.pads[i] = total / 2;
    operands.pads[axes + i] = total - total / 2;
  }
  return true;
}

static std::optional<Operands> read(Node &node, bool padsByName = false) {
  Operands operands;
  operands.x = node.getTensor("input");
  operands.w = node.getTensor("weight");
  operands.bias = node.getOptionalTensor("bias");
  if (!operands.x || !operands.w)
    return std::nullopt;
  int64_t axes = getRank(operands.w) - 2;
  operands.isSingle = getRank(operands.x) == axes + 1;
  if (operands.isSingle)
    operands.x = node.unsqueeze(operands.x, 0);
  if (axes < 1 || getRank(operands.x) != axes + 2) {
    node.broken("has an input of " + Twine(getRank(operands.x)) +
                " axes and a weight of " + Twine(axes + 2));
    return std::nullopt;
  }
  if (axes > 3) {
    node.unsupported("works along " + Twine(axes) +
                     " spatial axes; nnc handles 1 to 3");
    return std::nullopt;
  }
  operands.strides = node.getInts("stride", axes, 1);
  operands.dilations = node.getInts("dilation", axes, 1);
  operands.more = node.getInts("output_padding", axes, 0);
  ArrayRef<int64_t> kernel = getShape(operands.w).drop_front(2);
  if (!areInside(node, "weight", kernel, 1) ||
      !areInside(node, "stride", operands.strides, 1) ||
      !areInside(node, "dilation", operands.dilations, 1) ||
      !areInside(node, "output_padding", operands.more, 0) ||
      !readPads(node, kernel, padsByName, operands))
    return std::nullopt;
  return operands;
}

/// Adds the bias, one value per channel, and removes the axis of a batch that
/// the input lacks.
static Value finish(Node &node, const Operands &operands, Value y) {
  if (!y)
    return {};
  if (operands.bias) {
    SmallVector<int64_t> shape(getRank(y), 1);
    shape[1] = getShape(y)[1];
    if (getShape(operands.bias) != ArrayRef<int64_t>(shape[1]))
      return node.broken("needs a bias of " + Twine(shape[1]) +
                         " elements, not one of shape " +
                         toString(getShape(operands.bias)));
    y = node.createElementwise("add", {y, node.reshape(operands.bias, shape)});
  }
  return y && operands.isSingle ? node.reshape(y, getShape(y).drop_front()) : y;
}

static Value convolve(Node &node, bool padsByName) {
  auto operands = read(node, padsByName);
  if (!operands)
    return {};
  return finish(node, *operands,
                node.create<nn::ConvOp>(operands->x, operands->w,
                                        operands->strides, operands->dilations,
                                        operands->pads,
                                        node.getInt("groups", 1), TypeAttr()));
}

Value convertConv(Node &node) { return convolve(node, /*padsByName=*/false); }
Value convertPaddedConv(Node &node) {
  return convolve(node, /*padsByName=*/true);
}

Value convertConvTranspose(Node &node) {
  auto operands = read(node);
  if (!operands)
    return {};
  return finish(node, *operands,
                node.create<nn::ConvTransposeOp>(
                    operands->x, operands->w, operands->strides,
                    operands->dilations, operands->pads, operands->more,
                    node.getInt("groups", 1), /*accumulator=*/TypeAttr()));
}

/// Converts convolution, to which all convolutions are decomposed.
Value convertConvolution(Node &node) {
  return node.getBool("transposed") ? convertConvTranspose(node)
                                    : convertConv(node);
}

/// Converts torchvision's deform_conv2d.
Value convertDeformConv2d(Node &node) {
  DeformConv conv;
  conv.x = node.getTensor("input");
  conv.w = node.getTensor("weight");
  conv.offsets = node.getTensor("offset");
  conv.bias = node.getOptionalTensor("bias");
  conv.mask = node.getBool("use_mask", true) ? node.getTensor("mask") : Value();
  conv.groups = node.getInt("groups", 1);
  conv.parts = node.getInt("offset_groups", 1);
  if (!conv.x || !conv.w || !conv.offsets || node.hasFailed())
    return {};
  if (getRank(conv.x) != 4 || getRank(conv.w) != 4)
    return node.broken("has an operand of shape " + toString(getShape(conv.x)) +
                       " and a weight of shape " + toString(getShape(conv.w)));
  int64_t pads[] = {node.getInt("pad_h"), node.getInt("pad_w")};
  for (StringRef name : {"stride_h", "stride_w", "dilation_h", "dilation_w",
                         "groups", "offset_groups", "pad_h", "pad_w"}) {
    int64_t least = name.starts_with("pad") ? 0 : 1,
            number = node.getInt(name, least);
    if (number < least || number > kMaxNumber)
      return node.broken("has a " + name + " of " + Twine(number));
  }
  conv.window = {SmallVector<int64_t>(getShape(conv.w).drop_front(2)),
                 {node.getInt("stride_h", 1), node.getInt("stride_w", 1)},
                 {node.getInt("dilation_h", 1), node.getInt("dilation_w", 1)},
                 {pads[0], pads[1], pads[0], pads[1]}};
  return convolveDeformed(node, conv);
}

} // namespace nnc::torch
