//===- BlockWeights.cpp - Products with weights in blocks -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/tensors/TensorData.h"
#include "frontends/onnx/graph/CarrierTypes.h"
#include "frontends/onnx/graph/Node.h"

#include "llvm/ADT/bit.h"

#include <cmath>

using namespace mlir;
using namespace nnc;

namespace nnc::onnx {

namespace {
/// The attributes of MatMulNBits and values derived from them.
struct BlockShape {
  int64_t k, n, bits, block;
  int64_t groups; ///< number of blocks per column
};
} // namespace

/// Reads and checks the attributes. Returns nullopt after an error.
static std::optional<BlockShape> readShape(Node &node) {
  BlockShape s{node.getInt("K"), node.getInt("N"), node.getInt("bits", 4),
               node.getInt("block_size"), 0};
  auto fail = [&](const Twine &why) {
    node.broken(why);
    return std::nullopt;
  };
  if (s.bits != 4 && s.bits != 8) {
    node.unsupported("has weights of " + Twine(s.bits) +
                     " bits; nnc handles 4 and 8 bits");
    return std::nullopt;
  }
  if (s.block < 16 || !llvm::has_single_bit(uint64_t(s.block)))
    return fail("has a block_size of " + Twine(s.block) +
                ", which must be a power of two from 16 on");
  if (s.k < 1 || s.n < 1 || s.k > kMaxDim || s.n > kMaxDim || s.block > kMaxDim)
    return fail("has weights of " + Twine(s.n) + " x " + Twine(s.k) +
                " elements in blocks of " + Twine(s.block));
  s.groups = llvm::divideCeil(s.k, s.block);
  return s;
}

/// Returns operand `i`, which must be a constant of `count` elements of any
/// shape; nullopt after an error.
static std::optional<TensorData> readConstant(Node &node, int i, StringRef what,
                                              int64_t count) {
  std::optional<TensorData> data = TensorData::get(node.getOperand(i));
  if (!data) {
    node.unsupported("needs " + what + " that are known when compiling");
    return std::nullopt;
  }
  if (data->getNumElements() != count) {
    node.broken("needs " + Twine(count) + " " + what + ", not " +
                Twine(data->getNumElements()) + " (of shape " +
                toString(data->getShape()) + ")");
    return std::nullopt;
  }
  return data;
}

/// Returns the unsigned integers in a constant of packed integers, one per
/// byte.
static std::vector<char> unpackAll(const TensorData &packed, int64_t bits) {
  ArrayRef<char> bytes = packed.getBytes();
  return unpackIntegers(static_cast<unsigned>(bits), /*isUnsigned=*/true, bytes,
                        int64_t(bytes.size()) * 8 / bits);
}

/// Returns the zero points: one for each block, or a single one for all blocks.
static Value readZeroPoints(Node &node, const BlockShape &s) {
  Type byte = node.getBuilder().getIntegerType(8, /*isSigned=*/false);
  int64_t count = s.n * s.groups;
  std::vector<uint8_t> zeros(count, uint8_t(1 << (s.bits - 1)));
  Value given = node.getOperand(3);
  if (given && getElement(given) == byte) {
    int64_t row = llvm::divideCeil(s.groups * s.bits, 8);
    auto packed = readConstant(node, 3, "bytes of zero points", s.n * row);
    if (!packed)
      return {};
    std::vector<char> all = unpackAll(*packed, s.bits);
    for (int64_t i = 0; i < count; ++i)
      zeros[i] = uint8_t(all[i / s.groups * (row * 8 / s.bits) + i % s.groups]);
  } else if (given) {
    auto reals = readConstant(node, 3, "zero points", count);
    if (!reals)
      return {};
    for (int64_t i = 0; i < count; ++i) {
      double zero = reals->getReal(i);
      if (!(zero >= 0) || zero > (1 << s.bits) - 1 || zero != std::trunc(zero))
        return node.unsupported("has a zero point of " + toString(zero) +
                                "; nnc handles integers "
                                "from 0 to " +
                                Twine((1 << s.bits) - 1));
      zeros[i] = uint8_t(zero);
    }
  }
  bool isShared = llvm::all_equal(zeros);
  auto type = isShared ? RankedTensorType::get({1, 1}, byte)
                       : RankedTensorType::get({s.n, s.groups}, byte);
  TensorData data = TensorData::allocate(type);
  std::copy_n(zeros.begin(), type.getNumElements(), data.getMutable<uint8_t>());
  return node.constant(data.toAttribute("zero_points"));
}

/// Converts MatMulNBits: a product of floats with weights of 4 or 8 bits that
/// share scales in blocks. Weights, scales and zero points have a row for each
/// column of the result; blocks are padded.
Value convertMatMulNBits(Node &node) {
  auto s = readShape(node);
  if (!s)
    return {};
  Value x = node.getOperand(0), bias = node.getOperand(5);
  if (node.getOperand(4))
    return node.unsupported(
        "with g_idx, which assigns weights to blocks in another order, is not "
        "supported; export the model without reordered weights (act_order)");
  if (!getElement(x).isF32() || !getElement(node.getOperand(2)).isF32())
    return node.unsupported("computes with numbers other than float");
  if (getRank(x) < 1 || getShape(x).back() != s->k)
    return node.broken("multiplies a tensor of shape " + toString(getShape(x)) +
                       " by weights for rows of K = " + Twine(s->k));
  int64_t blob = s->block * s->bits / 8;
  auto packed =
      readConstant(node, 1, "bytes of weights", s->n * s->groups * blob);
  auto scales =
      packed ? readConstant(node, 2, "scales", s->n * s->groups) : std::nullopt;
  if (!scales)
    return {};
  for (float scale : scales->getAs<float>())
    if (!std::isfinite(scale))
      return node.broken("has a scale of " + toString(scale) +
                         "; needs finite scales");
  Value zeros = readZeroPoints(node, *s);
  if (!zeros)
    return {};
  Type byte = node.getBuilder().getIntegerType(8, /*isSigned=*/false);
  TensorData q =
      TensorData::allocate(RankedTensorType::get({s->n, s->k}, byte));
  std::vector<char> all = unpackAll(*packed, s->bits);
  char *to = q.getMutable<char>();
  for (int64_t column = 0; column < s->n; ++column)
    to = std::copy_n(all.data() + column * s->groups * s->block, s->k, to);
  bool isRow = getRank(x) == 1;
  if (isRow)
    x = node.reshape(x, {1, s->k});
  Value y = node.create<nn::BlockMatMulOp>(
      x, node.constant(q.toAttribute("weight")),
      node.reshape(node.getOperand(2), {s->n, s->groups}), zeros, s->bits,
      s->groups == 1 ? s->k : s->block);
  if (isRow)
    y = node.reshape(y, {s->n});
  if (bias && getNumElements(bias) != s->n)
    return node.broken("needs a bias of " + Twine(s->n) +
                       " elements, not one of shape " +
                       toString(getShape(bias)));
  if (bias)
    y = node.createElementwise("add", {y, node.reshape(bias, {s->n})});
  return node.asModelType(y, node.getModelType(0));
}

} // namespace nnc::onnx
