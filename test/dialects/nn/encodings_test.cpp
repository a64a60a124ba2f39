//===- encodings_test.cpp - What is stored in the place of weights --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Each encoding against its definition, in float64 and element by element, on
// weights of random odd shapes.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/encodings/WeightEncoding.h"
#include "runtime/routines/convolution/conv2d/implicit_gemm_plan.h"
#include "runtime/routines/tiles/ordered_weights.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <random>

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

using Dims = SmallVector<int64_t>;
using Doubles = std::vector<double>;

static MLIRContext &getContext() {
  static MLIRContext context;
  context.loadDialect<NnDialect>();
  return context;
}

static RankedTensorType makeType(ArrayRef<int64_t> shape, StringRef layout,
                                 bool halves = false) {
  Type f32 = Float32Type::get(&getContext());
  Type f16 = Float16Type::get(&getContext());
  return withLayout(RankedTensorType::get(shape, halves ? f16 : f32), layout);
}

namespace {
struct Random {
  std::mt19937 engine{1};

  int64_t between(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(engine);
  }
  TensorData weight(RankedTensorType type) {
    TensorData data = TensorData::allocate(type);
    std::normal_distribution<float> normal(0, 0.1f);
    for (int64_t i = 0; i < data.getNumElements(); ++i) {
      llvm::APFloat value(normal(engine));
      if (type.getElementType().isF32()) {
        data.getMutable<float>()[i] = value.convertToFloat();
        continue;
      }
      bool lost;
      value.convert(llvm::APFloat::IEEEhalf(),
                    llvm::APFloat::rmNearestTiesToEven, &lost);
      data.getMutable<uint16_t>()[i] = value.bitcastToAPInt().getZExtValue();
    }
    return data;
  }
};
} // namespace

/// Returns the bytes that storeWeight() writes for a weight.
static std::vector<char> store(RankedTensorType type,
                               const TensorData &weight) {
  // Whatever lay there before must be gone, padding included.
  std::vector<char> bytes(getPhysicalBytes(type), 0x55);
  storeWeight(type, weight, bytes.data());
  return bytes;
}

/// Returns the elements that storeWeight() writes for a weight as real numbers.
static Doubles storeReals(RankedTensorType type, const TensorData &weight) {
  std::vector<char> bytes = store(type, weight);
  auto flat =
      RankedTensorType::get({getPhysicalElements(type)}, type.getElementType());
  TensorData data = TensorData::borrow(flat, bytes);
  Doubles values;
  for (int64_t i = 0; i < data.getNumElements(); ++i)
    values.push_back(data.getReal(i));
  return values;
}

/// Returns the stored element with the given indices along the axes in memory.
static double at(const Doubles &values, RankedTensorType type,
                 ArrayRef<int64_t> index) {
  int64_t offset = 0;
  for (auto [size, i] : llvm::zip_equal(getPhysicalShape(type), index))
    offset = offset * size + i;
  return values[offset];
}

static bool isClose(double got, double want, bool halves) {
  double tolerance = halves ? 1e-3 : 1e-6; // relative to weights of 0.1
  return std::abs(got - want) <= tolerance * (0.1 + std::abs(want));
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

TEST_CASE("an encoding is known by its spelling alone") {
  for (const char *spelling :
       {"winograd2", "winograd8", "strided_winograd2", "folded_winograd5",
        "strassen", "strassen2", "int4", "integer_winograd2", "codebook16",
        "bounded2", "bounded4", "ordered2", "phases2", "phases4",
        "signed_pairs"}) {
    const WeightEncoding *encoding = WeightEncoding::get(spelling);
    REQUIRE(encoding);
    CHECK(encoding->getSpelling() == spelling);
    CHECK(WeightEncoding::get(spelling) == encoding);
  }
  for (const char *spelling : {"",
                               "winograd",
                               "winograd0",
                               "winograd9",
                               "winograd04",
                               "winograd-2",
                               "winograd4x",
                               "strassen1",
                               "strassen3",
                               "int16",
                               "int24",
                               "Int4",
                               "folded",
                               "strided_folded_winograd2",
                               "strided_strassen",
                               "24",
                               "codebook17",
                               "bounded",
                               "bounded3",
                               "phases1",
                               "phases5"}) {
    INFO(spelling);
    CHECK(!WeightEncoding::get(spelling));
  }
  CHECK(WeightEncoding::listSpellings() ==
        "bounded2, bounded4, ordered2, codebook16, fragments, grouped, "
        "integer_winograd2, int4, phases<s>, pixels, signed_pairs, "
        "strassen, strassen2, "
        "winograd<m>, strided_winograd<m>, "
        "folded_winograd<m>");
}

TEST_CASE("integer_winograd2 stores numbers of 16 bits in points") {
  Random random;
  // 2 G of F(2, 3): a polynomial of degree 2 at 0, 1 and -1, and its last
  // coefficient.
  const int points[4][3] = {{2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}};
  for (bool isUnsigned : {false, true}) {
    auto element = IntegerType::get(&getContext(), 8,
                                    isUnsigned ? IntegerType::Unsigned
                                               : IntegerType::Signless);
    const int64_t filters = random.between(1, 20),
                  channels = random.between(1, 9);
    auto type =
        withLayout(RankedTensorType::get({filters, channels, 3, 3}, element),
                   "KRSC8k4c_integer_winograd2");
    TensorData weight = TensorData::allocate(getLogicalType(type));
    for (int64_t i = 0; i < weight.getNumElements(); ++i)
      weight.getMutableBytes()[i] =
          static_cast<char>(random.between(-128, 127));
    std::vector<char> stored = store(type, weight);
    const int64_t pairs = llvm::divideCeil(channels, 2);
    REQUIRE(stored.size() ==
            size_t(llvm::divideCeil(filters, 8) * 16 * pairs * 8 * 2 * 2));
    for (int64_t k = 0; k < static_cast<int64_t>(llvm::alignTo(filters, 8));
         ++k)
      for (int64_t c = 0; c < 2 * pairs; ++c)
        for (int point = 0; point < 16; ++point) {
          int want = 0;
          for (int r = 0; r < 3 && k < filters && c < channels; ++r)
            for (int s = 0; s < 3; ++s)
              want += points[point / 4][r] * points[point % 4][s] *
                      int(weight.getReal(((k * channels + c) * 3 + r) * 3 + s));
          int16_t got;
          const int64_t index =
              (((k / 8 * 16 + point) * pairs + c / 2) * 8 + k % 8) * 2 + c % 2;
          std::memcpy(&got, stored.data() + 2 * index, sizeof got);
          REQUIRE(got == want);
        }
  }
}

TEST_CASE("signed_pairs stores channels two by two") {
  Random random;
  Type element = IntegerType::get(&getContext(), 8);
  for (const bool isMatrix : {false, true}) {
    const int64_t columns = 10, rows = 7, taps = isMatrix ? 1 : 6;
    auto type =
        isMatrix
            ? withLayout(RankedTensorType::get({rows, columns}, element),
                         "NK4n4k_signed_pairs")
            : withLayout(RankedTensorType::get({columns, rows, 2, 3}, element),
                         "KCRS4k4c_signed_pairs");
    TensorData weight = TensorData::allocate(getLogicalType(type));
    for (int64_t i = 0; i < weight.getNumElements(); ++i)
      weight.getMutableBytes()[i] =
          static_cast<char>(random.between(-127, 127));
    std::vector<char> stored = store(type, weight);
    REQUIRE(stored.size() == size_t(3 * 2 * taps * 16));
    for (int64_t k = 0; k < 12; ++k)
      for (int64_t c = 0; c < 8; ++c)
        for (int64_t tap = 0; tap < taps; ++tap) {
          const int64_t at =
              isMatrix ? c * columns + k : (k * rows + c) * taps + tap;
          const int want =
              k < columns && c < rows ? int(weight.getReal(at)) : 0;
          // Blocks of columns, blocks of channels, taps, halves of a block.
          const int64_t half =
              ((k / 4 * 2 + c / 4) * taps + tap) * 2 + c / 2 % 2;
          const char got = stored[(half * 4 + k % 4) * 2 + c % 2];
          REQUIRE(int(static_cast<signed char>(got)) == want);
        }
    // Products with two weights of -128 may not fit in 16 bits.
    const WeightEncoding *encoding = WeightEncoding::get("signed_pairs");
    const int64_t step = isMatrix ? columns : taps;
    CHECK(encoding->getError(type, weight) == 0);
    weight.getMutableBytes()[0] = weight.getMutableBytes()[step] = char(-128);
    CHECK(encoding->getError(type, weight) == 0);
    weight.getMutableBytes()[2 * step] = char(-128);
    CHECK(std::isinf(encoding->getError(type, weight)));
  }
}

TEST_CASE("ordered2 keeps large weights of adjacent channels apart") {
  Random random;
  Type element = IntegerType::get(&getContext(), 8);
  for (int size : {1, 3}) {
    const int filters = random.between(17, 80), channels = 88;
    auto type = withLayout(
        RankedTensorType::get({filters, channels, size, size}, element),
        "KCRS8k8c_ordered2");
    TensorData weight = TensorData::allocate(getLogicalType(type));
    auto at = [&](int64_t k, int64_t c, int r, int s) {
      return ((k * channels + c) * size + r) * size + s;
    };
    // Large weights in two of four channels, and 0 or 1 in the others.
    for (int64_t i = 0; i < weight.getNumElements(); ++i)
      weight.getMutableBytes()[i] = i / (size * size) % 4 < 2
                                        ? random.between(-128, 127)
                                        : random.between(0, 1);
    const WeightEncoding *encoding = WeightEncoding::get("ordered2");
    CHECK(encoding->getError(type, weight) == 0);
    std::vector<char> stored = store(type, weight);
    const ordered_weights form{{8, channels / 8, size, size, 2, true},
                               static_cast<int>(llvm::divideCeil(filters, 8))};
    REQUIRE(stored.size() == size_t(form.bytes()));
    for (int k = 0; k < filters; ++k) {
      const char *order = stored.data() + form.orders(k / 8);
      const char *block = stored.data() + form.block(k / 8);
      REQUIRE(block[form.form.count()] == 0);
      for (int place = 0; place < channels; ++place)
        for (int tap = 0; tap < size * size; ++tap) {
          const int c = place / 16 * 16 + order[place];
          const int step = place / 8 * size * size + tap;
          const char got =
              block[(step * 2 + place % 8 / 4) * 32 + k % 8 * 4 + place % 4];
          REQUIRE(got == weight.getReal(at(k, c, tap / size, tap % size)));
        }
    }
    // Weights that are all large cannot be kept apart.
    std::fill_n(weight.getMutableBytes(), weight.getNumElements(), 99);
    CHECK(std::isinf(encoding->getError(type, weight)));
  }
}

TEST_CASE("fragments keep bf16 as they are, and round floats to tf32") {
  Random random;
  const int64_t terms = 37, columns = 45;
  for (const bool areFloats : {false, true}) {
    INFO((areFloats ? "floats" : "bf16"));
    Type element = areFloats ? Type(Float32Type::get(&getContext()))
                             : Type(BFloat16Type::get(&getContext()));
    auto type = withLayout(RankedTensorType::get({terms, columns}, element),
                           "NK32n_fragments");
    TensorData weight = TensorData::allocate(getLogicalType(type));
    const int64_t bytes = areFloats ? 4 : 2;
    std::vector<uint32_t> bits(terms * columns);
    for (int64_t i = 0; i < terms * columns; ++i) {
      // Numbers of all magnitudes, many of them halfway between two of tf32.
      bits[i] = uint32_t(random.between(0, 1) << 31 | random.between(1, 0x7dfff)
                                                          << 12) |
                uint32_t(random.between(0, 2) ? 0 : random.between(0, 0xfff));
      bits[i] = areFloats ? bits[i] : bits[i] >> 16;
      std::memcpy(weight.getMutableBytes() + i * bytes, &bits[i], bytes);
    }
    std::vector<char> stored = store(type, weight);
    const char *next = stored.data();
    visit_gemm_weights(matmul_as_conv2d(1, columns, terms), bytes,
                       [&](int column, int term) {
                         uint32_t got = 0, want = 0;
                         std::memcpy(&got, next, bytes);
                         next += bytes;
                         if (column >= 0)
                           want = bits[int64_t(term) * columns + column];
                         if (areFloats)
                           want = (want + 0x1000) & ~uint32_t(0x1fff);
                         REQUIRE(got == want);
                       });
    CHECK(next == stored.data() + stored.size());
  }
}

TEST_CASE("a layout is its blocks and its encoding") {
  MLIRContext *context = &getContext();
  auto layout = LayoutAttr::get(context, "KRSC16k_strided_winograd2");
  CHECK(layout.getBlocked() == "KRSC16k");
  CHECK(layout.getEncoding() ==
        EncodingAttr::get(context, WeightEncoding::get("strided_winograd2")));
  CHECK(layout.getName() == "KRSC16k_strided_winograd2");
  CHECK(layout == LayoutAttr::get(context, "KRSC16k", layout.getEncoding()));
  CHECK(layout.dropEncoding() == LayoutAttr::get(context, "KRSC16k"));
  CHECK(!layout.dropEncoding().getEncoding());
  CHECK(!LayoutAttr::get(context, "KCRS_winograd2").isPlain());
  auto columns = makeType({64, 32}, "NK16n_codebook16");
  CHECK(renameAxes("NK16n_codebook16", {1, 0}, 2, context) ==
        "AB16a_codebook16");
  CHECK(getLayoutName(columns) == "NK16n_codebook16");
  CHECK(spellImageLayout("KRSC16k_winograd4", makeType({4, 4, 3}, "")) ==
        "KSC16k_winograd4");
}

//===----------------------------------------------------------------------===//
// Stored shapes
//===----------------------------------------------------------------------===//

TEST_CASE("what is stored is a tensor of its own, and no one's view") {
  auto getStored = [](ArrayRef<int64_t> shape, StringRef layout) {
    RankedTensorType type = makeType(shape, layout);
    CHECK(isEncoded(type));
    return getLayout(type).getEncoding()->getStoredType(type);
  };
  CHECK(getStored({60, 20, 3, 3}, "KRSC16k_winograd4") ==
        makeType({60, 20, 6, 6}, "KRSC16k"));
  CHECK(getStored({60, 20, 3}, "KSC16k_winograd4") ==
        makeType({60, 20, 6}, "KSC16k"));
  CHECK(getStored({60, 20, 7, 7}, "KRSC16k_strided_winograd4") ==
        makeType({60, 20, 13, 13}, "KRSC16k"));
  CHECK(getStored({60, 3, 7, 6}, "KRSC16k_folded_winograd5") ==
        makeType({60, 12, 8, 7}, "KRSC16k"));
  CHECK(getStored({60, 20, 1, 1}, "KRSC16k_strassen") ==
        makeType({30, 10, 1, 7}, "KRSC16k"));
  CHECK(getStored({60, 20}, "NK8n_strassen2") ==
        makeType({5, 15, 1, 49}, "KRSC8k"));
  CHECK(getStored({101, 20}, "NK16n_codebook16") ==
        makeType({2, 16 + 51 * 4}, ""));
  CHECK(getStored({20, 100}, "AB4a_codebook16") == makeType({5, 16 + 50}, ""));
  Type byte = IntegerType::get(&getContext(), 8, IntegerType::Unsigned);
  auto nibbles = cast<RankedTensorType>(makeType({70, 101}, "").clone(byte));
  nibbles = withLayout(nibbles, "AB32a_int4");
  CHECK(getLayout(nibbles).getEncoding()->getStoredType(nibbles) ==
        RankedTensorType::get({3, 13 * 128}, byte));

  RankedTensorType taps = makeType({60, 20, 3, 3}, "KRSC16k");
  RankedTensorType points = makeType({60, 20, 3, 3}, "KRSC16k_winograd4");
  CHECK(!isEncoded(taps));
  CHECK(!isViewOf(taps, points));
  CHECK(!getAdaptCall(taps, points));
  CHECK(!getAdaptCall(points, taps));
}

//===----------------------------------------------------------------------===//
// Winograd
//===----------------------------------------------------------------------===//

/// Returns the finite points at which Winograd's method evaluates polynomials
/// of n - 1 coefficients: 0, q and -q for each q, and for an odd n one without
/// a partner.
static Doubles getPoints(int64_t n) {
  Doubles pairs = n == 4   ? Doubles{1}
                  : n == 5 ? Doubles{0.75}
                  : n == 6 ? Doubles{0.625, 1.5}
                  : n == 7 ? Doubles{0.5, 1}
                  : n == 8 ? Doubles{0.5, 1, 2}
                           : Doubles{};
  Doubles points = {0};
  for (double q : pairs)
    points.insert(points.end(), {q, -q});
  if (n % 2)
    points.push_back(n == 3 ? 1 : 2);
  return points;
}

/// Returns Winograd's matrix G. The row of a point has the powers of the point
/// for all taps, divided by the product of its distances to all other points;
/// the row of infinity selects the last tap.
static std::vector<Doubles> getFilterMatrix(int64_t outputs, int64_t taps) {
  if (taps == 1)
    return {{1}};
  Doubles points = getPoints(outputs + taps - 1);
  std::vector<Doubles> rows;
  for (double point : points) {
    double product = 1;
    for (double other : points)
      product *= other == point ? 1 : point - other;
    Doubles row;
    for (int64_t tap = 0; tap < taps; ++tap)
      row.push_back(std::pow(point, double(tap)) / product);
    rows.push_back(row);
  }
  rows.push_back(Doubles(taps, 0));
  rows.back().back() = 1;
  return rows;
}

/// Returns the matrix for the taps along an axis of stride 2: G of the taps at
/// even positions, followed by G of those at odd positions. A single tap has
/// one product for each output.
static std::vector<Doubles> getStridedMatrix(int64_t outputs, int64_t taps) {
  std::vector<Doubles> rows;
  for (int64_t first = 0; first < 2; ++first) {
    int64_t own = (taps - first + 1) / 2;
    std::vector<Doubles> part = getFilterMatrix(outputs, own);
    if (own == 1)
      part.assign(outputs, {1});
    for (const Doubles &row : part) {
      rows.push_back(Doubles(taps, 0));
      for (int64_t tap = 0; tap < own; ++tap)
        rows.back()[first + 2 * tap] = row[tap];
    }
  }
  return rows;
}

namespace {
struct Case {
  Dims shape;
  std::string layout;
  bool halves = false;
};
} // namespace

/// Checks all stored elements of a weight K x C x R x S against the filters
/// w(k, c, r, s) transformed by the matrices `rows` and `columns`.
template <class F>
static void checkPoints(const Case &one, const Doubles &stored,
                        RankedTensorType type, int64_t channels,
                        const std::vector<Doubles> &rows,
                        const std::vector<Doubles> &columns, F w) {
  int64_t width = getLayout(type).getBlocks().front().size, wrong = 0;
  REQUIRE(getPhysicalShape(type) ==
          Dims{int64_t(llvm::divideCeil(one.shape[0], width)),
               int64_t(rows.size()), int64_t(columns.size()), channels, width});
  for (int64_t k = 0; k < int64_t(llvm::alignTo(one.shape[0], width)); ++k)
    for (int64_t c = 0; c < channels; ++c)
      for (size_t i = 0; i < rows.size(); ++i)
        for (size_t j = 0; j < columns.size(); ++j) {
          double want = 0;
          for (size_t r = 0; r < rows[i].size() && k < one.shape[0]; ++r)
            for (size_t s = 0; s < columns[j].size(); ++s)
              want += rows[i][r] * columns[j][s] * w(k, c, r, s);
          double got = at(stored, type,
                          {k / width, int64_t(i), int64_t(j), c, k % width});
          wrong += k < one.shape[0] ? !isClose(got, want, one.halves)
                                    : got != 0; // padding
        }
  CHECK(wrong == 0);
}

TEST_CASE("winograd<m> stores the values of filters in points") {
  Random random;
  for (int64_t outputs = 1; outputs <= 8; ++outputs)
    for (int64_t taps = 1; taps + outputs - 1 <= 8; ++taps) {
      std::string layout = "KRSC4k_winograd" + std::to_string(outputs);
      int64_t other = random.between(1, 9 - outputs);
      Case one = {{random.between(1, 11), random.between(1, 5), other, taps},
                  layout,
                  taps == 3};
      INFO(layout << " of " << other << " x " << taps << " taps");
      RankedTensorType type = makeType(one.shape, layout, one.halves);
      TensorData weight = random.weight(type);
      checkPoints(one, storeReals(type, weight), type, one.shape[1],
                  getFilterMatrix(outputs, other),
                  getFilterMatrix(outputs, taps),
                  [&](int64_t k, int64_t c, int64_t r, int64_t s) {
                    return weight.getReal(
                        ((k * one.shape[1] + c) * other + r) * taps + s);
                  });
    }
}

TEST_CASE("strided_winograd<m> parts taps at even and at odd places") {
  Random random;
  for (int64_t outputs : {2, 3, 4})
    for (int64_t taps : {2, 3, 5, 7}) {
      std::string layout = "KRSC8k_strided_winograd" + std::to_string(outputs);
      int64_t other = taps == 7 ? 3 : taps + 1;
      Case one = {{random.between(1, 19), random.between(1, 5), taps, other},
                  layout,
                  taps == 3};
      INFO(layout << " of " << taps << " x " << other << " taps");
      RankedTensorType type = makeType(one.shape, layout, one.halves);
      TensorData weight = random.weight(type);
      checkPoints(one, storeReals(type, weight), type, one.shape[1],
                  getStridedMatrix(outputs, taps),
                  getStridedMatrix(outputs, other),
                  [&](int64_t k, int64_t c, int64_t r, int64_t s) {
                    return weight.getReal(
                        ((k * one.shape[1] + c) * taps + r) * other + s);
                  });
    }
}

TEST_CASE("folded_winograd<m> makes four channels of each") {
  Random random;
  for (int64_t taps : {1, 2, 3, 4, 5, 7}) {
    int64_t outputs = random.between(2, 5), other = random.between(1, 7);
    std::string layout = "KRSC8k_folded_winograd" + std::to_string(outputs);
    Case one = {{random.between(1, 19), random.between(1, 5), taps, other},
                layout,
                taps == 7};
    INFO(layout << " of " << taps << " x " << other << " taps");
    RankedTensorType type = makeType(one.shape, layout, one.halves);
    TensorData weight = random.weight(type);
    checkPoints(one, storeReals(type, weight), type, 4 * one.shape[1],
                getFilterMatrix(outputs, (taps + 1) / 2),
                getFilterMatrix(outputs, (other + 1) / 2),
                [&](int64_t k, int64_t c, int64_t r, int64_t s) {
                  int64_t row = 2 * r + c % 4 / 2, column = 2 * s + c % 2;
                  if (row >= taps || column >= other)
                    return 0.0;
                  return weight.getReal(
                      ((k * one.shape[1] + c / 4) * taps + row) * other +
                      column);
                });
  }
}

//===----------------------------------------------------------------------===//
// Strassen
//===----------------------------------------------------------------------===//

/// A matrix of channels by filters, in double.
struct Matrix {
  int64_t channels, filters;
  Doubles values;

  Matrix(int64_t channels, int64_t filters)
      : channels(channels), filters(filters), values(channels * filters) {}
  double &operator()(int64_t channel, int64_t filter) {
    return values[channel * filters + filter];
  }
  double operator()(int64_t channel, int64_t filter) const {
    return values[channel * filters + filter];
  }
};

/// Returns the right factors of the products of `b` by Strassen's method in
/// Winograd's form.
static std::vector<Matrix> getRightFactors(const Matrix &b, int levels) {
  if (levels == 0)
    return {b};
  auto add = [&](int b11, int b12, int b21, int b22) {
    Matrix sum(b.channels / 2, b.filters / 2);
    for (int64_t c = 0; c < sum.channels; ++c)
      for (int64_t f = 0; f < sum.filters; ++f)
        sum(c, f) = b11 * b(c, f) + b12 * b(c, f + sum.filters) +
                    b21 * b(c + sum.channels, f) +
                    b22 * b(c + sum.channels, f + sum.filters);
    return sum;
  };
  std::vector<Matrix> all;
  for (const Matrix &factor :
       {add(1, 0, 0, 0), add(0, 0, 1, 0), add(1, -1, 0, 1), add(0, -1, 0, 1),
        add(-1, 1, 1, -1), add(-1, 1, 0, 0), add(0, 0, 0, 1)})
    llvm::append_range(all, getRightFactors(factor, levels - 1));
  return all;
}

TEST_CASE("strassen and strassen2 store the right factors of products") {
  Random random;
  for (int levels : {1, 2})
    for (StringRef blocks : {"KRSC8k", "NK8n", "AB8a"})
      for (bool halves : {false, true}) {
        int64_t parts = 1 << levels;
        int64_t filters = parts * random.between(1, 11);
        int64_t channels = parts * random.between(1, 9);
        bool filtersFirst = blocks != "NK8n";
        Dims shape =
            filtersFirst ? Dims{filters, channels} : Dims{channels, filters};
        if (blocks == "KRSC8k")
          shape.append({1, 1});
        std::string layout =
            (blocks + (levels == 1 ? "_strassen" : "_strassen2")).str();
        INFO(layout << " of " << filters << " filters, " << channels
                    << " channels");
        RankedTensorType type = makeType(shape, layout, halves);
        TensorData weight = random.weight(type);
        Matrix b(channels, filters);
        for (int64_t c = 0; c < channels; ++c)
          for (int64_t f = 0; f < filters; ++f)
            b(c, f) = weight.getReal(filtersFirst ? f * channels + c
                                                  : c * filters + f);
        std::vector<Matrix> factors = getRightFactors(b, levels);
        Doubles stored = storeReals(type, weight);
        int64_t own = filters / parts, wrong = 0;
        REQUIRE(getPhysicalShape(type) ==
                Dims{int64_t(llvm::divideCeil(own, 8)), 1,
                     int64_t(factors.size()), channels / parts, 8});
        for (auto [point, factor] : llvm::enumerate(factors))
          for (int64_t c = 0; c < factor.channels; ++c)
            for (int64_t f = 0; f < int64_t(llvm::alignTo(own, 8)); ++f) {
              double got =
                  at(stored, type, {f / 8, 0, int64_t(point), c, f % 8});
              wrong += f < own ? !isClose(got, factor(c, f), halves) : got != 0;
            }
        CHECK(wrong == 0);
      }
}

//===----------------------------------------------------------------------===//
// Integers and tables
//===----------------------------------------------------------------------===//

TEST_CASE("transforms change no weight by storing it") {
  RankedTensorType type = makeType({8, 4, 3, 3}, "KRSC4k_winograd2");
  Random random;
  CHECK(getLayout(type).getEncoding()->getError(type, random.weight(type)) ==
        0);
}

TEST_CASE("int4 stores words of eight integers of a column") {
  Type byte = IntegerType::get(&getContext(), 8, IntegerType::Unsigned);
  for (auto [layout, columns, length] :
       {std::tuple("AB32a_int4", 40, 21), {"NK32n_int4", 33, 8}}) {
    bool isFirst = StringRef(layout).starts_with("A");
    SmallVector<int64_t> shape = {columns, length};
    if (!isFirst)
      std::swap(shape[0], shape[1]);
    auto type = withLayout(RankedTensorType::get(shape, byte), layout);
    TensorData weight =
        TensorData::allocate(RankedTensorType::get(shape, byte));
    for (int64_t i = 0; i < weight.getNumElements(); ++i)
      weight.getMutable<uint8_t>()[i] = i * 7 % 16;
    std::vector<char> stored(getPhysicalBytes(type));
    storeWeight(type, weight, stored.data());
    int64_t words = (length + 7) / 8;
    REQUIRE(int64_t(stored.size()) == 2 * words * 128);
    for (int64_t column = 0; column < 64; ++column)
      for (int64_t i = 0; i < words * 8; ++i) {
        int64_t at = ((column / 32 * words + i / 8) * 32 + column % 32) * 4;
        int found = uint8_t(stored[at + i % 8 / 2]) >> (i % 2 * 4) & 15;
        bool isThere = column < columns && i < length;
        int64_t index = isFirst ? column * length + i : i * columns + column;
        CHECK(found == (isThere ? index * 7 % 16 : 0));
      }
  }
}

TEST_CASE("codebook16 stores places in a table of each panel's values") {
  Random random;
  for (bool isFirst : {false, true})
    for (int64_t columns : {1, 16, 21, 48})
      for (int64_t length : {1, 2, 7, 300}) {
        INFO(isFirst << " " << columns << " " << length);
        auto type = isFirst ? makeType({columns, length}, "AB16a_codebook16")
                            : makeType({length, columns}, "NK16n_codebook16");
        const int64_t columnStep = isFirst ? length : 1,
                      step = isFirst ? 1 : columns;
        TensorData weight = TensorData::allocate(getLogicalType(type));
        // Each panel has 16 values of its own, a zero of each sign among them.
        for (int64_t n = 0; n < columns; ++n)
          for (int64_t k = 0; k < length; ++k) {
            int64_t value = random.between(0, 15);
            weight.getMutable<float>()[n * columnStep + k * step] =
                value == 0   ? 0.0f
                : value == 1 ? -0.0f
                             : float(value) + 100.0f * float(n / 16);
          }
        CHECK(getLayout(type).getEncoding()->getError(type, weight) == 0);
        std::vector<char> stored = store(type, weight);
        const int64_t panel = 64 + (length + 1) / 2 * 16;
        REQUIRE(int64_t(stored.size()) == (columns + 15) / 16 * panel);
        for (int64_t n = 0; n < columns; ++n)
          for (int64_t k = 0; k < length; ++k) {
            const char *of = stored.data() + n / 16 * panel;
            int place = uint8_t(of[64 + k / 2 * 16 + n % 16]) >> k % 2 * 4 & 15;
            float want = weight.getAs<float>()[n * columnStep + k * step];
            CHECK(std::memcmp(of + 4 * place, &want, sizeof want) == 0);
          }
      }
}

TEST_CASE("codebook16 is for panels of at most 16 values") {
  for (int64_t values : {16, 17}) {
    RankedTensorType type = makeType({40, 37}, "NK16n_codebook16");
    TensorData weight = TensorData::allocate(getLogicalType(type));
    for (int64_t i = 0; i < weight.getNumElements(); ++i)
      weight.getMutable<float>()[i] =
          float(i % 37 / 16 * 1000 + i / 37 % (values - 1));
    // Elements that are no numbers are values like others.
    for (int64_t column : {0, 16, 32})
      weight.getMutable<float>()[column] = NAN;
    const double error = getLayout(type).getEncoding()->getError(type, weight);
    CHECK(std::isinf(error) == (values == 17));
  }
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

TEST_CASE("a weight encoded in parts is the weight encoded whole") {
  Random random;
  std::pair<Dims, const char *> cases[] = {
      {{37, 5, 3, 3}, "KRSC16k_winograd4"},
      {{37, 5, 3}, "KSC8k_winograd2"},
      {{37, 5, 3, 5}, "KRSC8k_strided_winograd2"},
      {{21, 3, 7, 7}, "KRSC8k_folded_winograd4"},
      {{37, 5, 3, 3}, "CRSK16k_winograd4"},
      {{36, 8, 1, 1}, "KRSC8k_strassen2"},
      {{36, 9}, "AB8a_codebook16"},
      {{40, 36}, "NK8n_strassen"},
      {{700, 37}, "NK16n_codebook16"}};
  for (const auto &[shape, layout] : cases)
    for (bool halves : {false, true}) {
      INFO(layout << (halves ? " of halves" : ""));
      RankedTensorType type = makeType(shape, layout, halves);
      EncodingAttr encoding = getLayout(type).getEncoding();
      if (!encoding->takes(type.getElementType()))
        continue;
      TensorData weight = random.weight(type);
      int64_t step = encoding->getIndependentRows(type);
      REQUIRE(step > 0);
      RankedTensorType stored = encoding->getStoredType(type);
      std::vector<float> elements, values(stored.getNumElements());
      for (int64_t i = 0; i < weight.getNumElements(); ++i)
        elements.push_back(weight.getReal(i));
      encoding->encode(type, elements, values);
      std::vector<char> whole(getPhysicalBytes(type));
      if (halves) {
        std::vector<uint16_t> rounded;
        for (float value : values) {
          llvm::APFloat half(value);
          bool lost;
          half.convert(llvm::APFloat::IEEEhalf(),
                       llvm::APFloat::rmNearestTiesToEven, &lost);
          rounded.push_back(half.bitcastToAPInt().getZExtValue());
        }
        packElements(stored, reinterpret_cast<char *>(rounded.data()),
                     whole.data());
      } else {
        packElements(stored, reinterpret_cast<char *>(values.data()),
                     whole.data());
      }
      CHECK(store(type, weight) == whole);
    }
}

TEST_CASE("weights without an encoding are packed, or copied") {
  Random random;
  for (const char *layout : {"", "KRSC16k", "KCRS4c16k"}) {
    RankedTensorType type = makeType({37, 5, 3, 3}, layout);
    TensorData weight = random.weight(type);
    std::vector<char> packed(getPhysicalBytes(type));
    packElements(type, weight.getBytes().data(), packed.data());
    CHECK(store(type, weight) == packed);
  }
}
