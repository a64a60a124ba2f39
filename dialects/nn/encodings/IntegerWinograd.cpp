//===- IntegerWinograd.cpp - 8-bit Winograd filters -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// `integer_winograd2` stores each 3 x 3 filter of 8-bit integers as the 4 x 4
// 16-bit integers that runtime/routines/convolution/conv2d/integers_winograd.h
// multiplies: U = (2 G) w (2 G)^T, where G is the matrix of Winograd's method
// F(2, 3), whose elements are multiples of 1/2. Each channel is stored as two
// channels, the lower bytes and the upper bytes of U. A `64x64x3x3` as
// `KRSC8k4c_integer_winograd2` is `8 x 4 x 4 x 32 x 8 x 4` bytes.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/encodings/WeightEncoding.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

namespace {
class IntegerWinograd : public WeightEncoding {
public:
  using WeightEncoding::WeightEncoding;

  LogicalResult verifyBlocks(LayoutAttr layout,
                             EmitError emitError) const override {
    std::string axes = layout.getAxisLetters();
    if ((axes != "KCRS" && axes != "KCS") || layout.getBlockSize(1) != 4)
      return emitError() << "stores two numbers of 16 bits together: it needs "
                            "the axes KCRS and blocks of 4c";
    return success();
  }

  bool takes(Type element) const override { return element.isInteger(8); }

  LogicalResult verify(LayoutAttr, ArrayRef<int64_t> shape, Type,
                       EmitError emitError) const override {
    if (shape.size() != 4 || shape[2] != 3 || shape[3] != 3)
      return emitError() << "transforms only filters of 3 x 3 taps";
    return success();
  }

  RankedTensorType getStoredType(RankedTensorType type) const override {
    ArrayRef<int64_t> shape = type.getShape();
    return withLayout(RankedTensorType::get({shape[0], 2 * shape[1], 4, 4},
                                            type.getElementType()),
                      getLayout(type).dropEncoding());
  }

  void encode(RankedTensorType type, ArrayRef<float> weight,
              MutableArrayRef<float> stored) const override {
    static constexpr int kFilter[4][3] = {
        {2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}};
    const float *w = weight.data();
    float *lower = stored.data(), *upper = lower + 16;
    for (int64_t filter = 0; filter < type.getDimSize(0) * type.getDimSize(1);
         ++filter, w += 9, lower += 32, upper += 32) {
      int half[4][3] = {};
      for (int i = 0; i < 4; ++i)
        for (int r = 0; r < 3; ++r)
          for (int s = 0; s < 3; ++s)
            half[i][s] += kFilter[i][r] * static_cast<int>(w[r * 3 + s]);
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
          int sum = 0;
          for (int s = 0; s < 3; ++s)
            sum += half[i][s] * kFilter[j][s];
          // The lower or upper byte of U, as a number with the signedness of
          // the element type.
          auto getByte = [&](int bits) -> float {
            bool isUnsigned = type.getElementType().isUnsignedInteger();
            return isUnsigned ? float(uint8_t(bits)) : float(int8_t(bits));
          };
          lower[i * 4 + j] = getByte(sum & 0xff);
          upper[i * 4 + j] = getByte((sum >> 8) & 0xff);
        }
    }
  }
};
} // namespace

std::unique_ptr<WeightEncoding>
nn::makeIntegerWinogradEncoding(StringRef spelling) {
  if (spelling != "integer_winograd2")
    return nullptr;
  return std::make_unique<IntegerWinograd>(spelling);
}
