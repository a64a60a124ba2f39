//===- layout_test.cpp - Physical shapes and packing ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/Nn.h"

#include <catch2/catch.hpp>

#include <chrono>
#include <cstring>
#include <random>

using namespace mlir;
using namespace nnc::nn;

namespace {
struct Context : MLIRContext {
  Context() { loadDialect<NnDialect>(); }
  RankedTensorType tensor(ArrayRef<int64_t> shape, Type element,
                          StringRef layout) {
    return withLayout(RankedTensorType::get(shape, element), layout);
  }
};
} // namespace

using Dims = SmallVector<int64_t>;

TEST_CASE("physical shapes round blocked axes up") {
  Context context;
  Type f32 = Float32Type::get(&context);
  auto physical = [&](ArrayRef<int64_t> shape, StringRef layout) {
    return getPhysicalShape(context.tensor(shape, f32, layout));
  };
  CHECK(physical({1, 40, 7, 7}, "NCHW16c") == Dims{1, 3, 7, 7, 16});
  CHECK(physical({2, 3, 5, 7}, "NHWC") == Dims{2, 5, 7, 3});
  CHECK(physical({64, 3, 7, 7}, "KCRS16k") == Dims{4, 3, 7, 7, 16});
  CHECK(physical({24, 20, 3, 1}, "KCRS16c16k") == Dims{2, 2, 3, 1, 16, 16});
  CHECK(physical({24, 20, 3, 1}, "KCRS4c16k2c") == Dims{2, 3, 3, 1, 4, 16, 2});
  CHECK(physical({768, 100}, "NK16n") == Dims{7, 768, 16});
  CHECK(physical({1, 20, 9}, "NCW8c") == Dims{1, 3, 9, 8});
  CHECK(physical({60, 20, 3, 3}, "KRSC16k_winograd4") == Dims{4, 6, 6, 20, 16});
  CHECK(physical({60, 20, 1, 7}, "KRSC8k_winograd2") == Dims{8, 1, 8, 20, 8});
  CHECK(physical({60, 20, 3, 3}, "KRSC16k_strided_winograd2") ==
        Dims{4, 5, 5, 20, 16});
  CHECK(physical({60, 20, 7, 7}, "KRSC8k_strided_winograd4") ==
        Dims{8, 13, 13, 20, 8});
  CHECK(physical({60, 3, 7, 7}, "KRSC16k_folded_winograd5") ==
        Dims{4, 8, 8, 12, 16});
  CHECK(physical({60, 5, 3, 4}, "KRSC4k_folded_winograd3") ==
        Dims{15, 4, 4, 20, 4});
  CHECK(physical({64, 128, 1, 1}, "KRSC16k_strassen") == Dims{2, 1, 7, 64, 16});
  CHECK(physical({64, 128, 1, 1}, "KRSC16k_strassen2") ==
        Dims{1, 1, 49, 32, 16});
  // A table of 16 floats, and half a byte a weight.
  CHECK(physical({1000, 20}, "NK16n_codebook16") == Dims{2, 16 + 500 * 4});
  CHECK(physical({20, 100}, "AB4a_codebook16") == Dims{5, 16 + 50});
}

TEST_CASE("bytes count padding, and i1 as a byte") {
  Context context;
  Type f32 = Float32Type::get(&context), i1 = IntegerType::get(&context, 1);
  CHECK(getPhysicalBytes(context.tensor({1, 3, 2, 2}, f32, "NCHW16c")) == 256);
  CHECK(getPhysicalBytes(context.tensor({3, 5}, i1, "plain")) == 15);
}

TEST_CASE("a plain layout is no encoding") {
  Context context;
  auto type = RankedTensorType::get({2, 3, 4, 5}, Float32Type::get(&context));
  CHECK(withLayout(type, "NCHW") == type);
  CHECK(withLayout(type, "any") == type);
  CHECK(withLayout(withLayout(type, "NHWC"), "plain") == type);
  CHECK(getLayoutName(withLayout(type, "NHWC")) == "NHWC");
  CHECK(getLayoutName(type) == "plain");
  CHECK(getLogicalType(withLayout(type, "NCHW4c")) == type);
}

TEST_CASE("a type stays on its device until it is moved") {
  Context context;
  auto type = RankedTensorType::get({2, 32, 4, 5}, Float32Type::get(&context));
  RankedTensorType blocked = withLayout(type, "NCHW16c"),
                   far = onDevice(type, "far"),
                   farBlocked = onDevice(blocked, "far");
  CHECK(getDevice(type).empty());
  CHECK(getDevice(far) == "far");
  CHECK(far != type);
  // The order is what it was.
  CHECK(!getLayout(far));
  CHECK(getLayoutName(far) == "plain");
  CHECK(getLayout(farBlocked) == getLayout(blocked));
  CHECK(getPhysicalShape(farBlocked) == getPhysicalShape(blocked));
  CHECK(withLayout(far, "NCHW16c") == farBlocked);
  CHECK(withLayout(far, "KCRS") == far);
  CHECK(withLayout(far, LayoutAttr()) == far);
  CHECK(inRowMajor(farBlocked) == far);
  CHECK(inRowMajor(blocked) == type);
  CHECK(withLayout(type, cast<LayoutAttr>(farBlocked.getEncoding())) ==
        farBlocked);
  // Back on the host.
  CHECK(onDevice(farBlocked, "") == blocked);
  CHECK(onDevice(far, "") == type);
  CHECK(getLogicalType(farBlocked) == type);
  // Memory of another device is no view.
  CHECK(isViewOf(far, far));
  CHECK(!isViewOf(far, type));
  CHECK(!isViewOf(type, far));
  CHECK(areRowMajor({far}, far));
  CHECK(!areRowMajor({farBlocked}, far));
  for (int64_t rank = 0; rank <= kMaxRank; ++rank) {
    auto each = RankedTensorType::get(SmallVector<int64_t>(rank, 2),
                                      Float32Type::get(&context));
    CHECK(getDevice(onDevice(each, "far")) == "far");
    CHECK(onDevice(onDevice(each, "far"), "") == each);
    CHECK(getPhysicalShape(onDevice(each, "far")) == getPhysicalShape(each));
  }
}

/// Packs a tensor by the definition of its layout, one logical element after
/// the other.
static std::vector<char> packByDefinition(RankedTensorType type,
                                          const std::vector<char> &source) {
  int64_t size = getElementBytes(type.getElementType());
  LayoutAttr layout = getLayout(type);
  Dims physical = getPhysicalShape(type);
  auto steps = layout.getPhysicalSteps();
  std::vector<char> target(getPhysicalBytes(type), 0);
  ArrayRef<int64_t> shape = type.getShape();
  Dims logical(shape.size(), 0);
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    Dims rest = logical;
    int64_t offset = 0;
    for (size_t d = 0; d < physical.size(); ++d) {
      auto [axis, step] = steps[d];
      offset = offset * physical[d] + rest[axis] / step;
      rest[axis] %= step;
    }
    std::memcpy(&target[offset * size], &source[i * size], size);
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++logical[axis] < shape[axis])
        break;
      logical[axis] = 0;
    }
  }
  return target;
}

TEST_CASE("packing puts every element where the layout says") {
  Context context;
  std::mt19937 random(1);
  auto upTo = [&](int64_t most) {
    return std::uniform_int_distribution<int64_t>(1, most)(random);
  };
  const char *layouts[] = {"NHWC",       "NCHW16c",   "NCHW4c",      "NHWC8c",
                           "KCRS16c16k", "KCRS16k",   "KCRS4c16k2c", "RSCK",
                           "NCW16c",     "NK16n",     "NK",          "KN4k8n",
                           "CBA",        "ABC3a2b5c", "NCHW4c4c"};
  Type elements[] = {IntegerType::get(&context, 8), Float16Type::get(&context),
                     Float32Type::get(&context), Float64Type::get(&context)};
  for (const char *name : layouts)
    for (int round = 0; round < 24; ++round) {
      auto layout = LayoutAttr::get(&context, name);
      Dims shape;
      for (unsigned axis = 0; axis < layout.getRank(); ++axis)
        shape.push_back(upTo(round % 3 == 0 ? 3 : 40));
      if (layout.getRank() == 4)
        shape[2] = upTo(4), shape[3] = upTo(5);
      RankedTensorType type = context.tensor(shape, elements[round % 4], name);
      std::vector<char> source(type.getNumElements() *
                               getElementBytes(type.getElementType()));
      for (char &byte : source)
        byte = static_cast<char>(random());
      // Whatever lay there before must be gone, padding included.
      std::vector<char> target(getPhysicalBytes(type), 0x55);
      packElements(type, source.data(), target.data());
      INFO(name << " " << round);
      CHECK(target == packByDefinition(type, source));
    }
}

TEST_CASE("packing the weights of a network takes no noticeable time") {
  Context context;
  struct {
    Dims shape;
    const char *layout;
  } weights[] = {{{512, 512, 3, 3}, "KCRS16c16k"},
                 {{2048, 1024, 1, 1}, "KCRS16c16k"},
                 {{3072, 768}, "NK16n"},
                 {{1024, 1, 3, 3}, "KCRS16k"}};
  for (const auto &weight : weights) {
    RankedTensorType type =
        context.tensor(weight.shape, Float32Type::get(&context), weight.layout);
    std::vector<char> source(getPhysicalBytes(type), 1), target(source.size());
    auto begin = std::chrono::steady_clock::now();
    packElements(type, source.data(), target.data());
    std::chrono::duration<double> time =
        std::chrono::steady_clock::now() - begin;
    double rate = static_cast<double>(source.size()) / time.count();
    INFO(weight.layout << ": " << rate * 1e-9 << " GB/s");
    // Far below what any machine does (1 to 8 GB/s), far above what a walk over
    // single elements did (0.05).
    CHECK(rate > 0.15e9);
  }
}
