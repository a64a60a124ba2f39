//===- Stateless.cpp - Random numbers that follow from a seed -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Philox 4x32-10 (Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3),
// as TensorFlow's CPU kernels use it: the constants of the module are the
// numbers that TensorFlow computes from the same seed.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Fourier.h"
#include "frontends/tensorflow/constants/Random.h"

#include <array>
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace nnc;

namespace nnc::tensorflow {

namespace {
/// A generator: number i of a block of four follows from the counter and the
/// key.
struct Philox {
  std::array<uint32_t, 4> counter = {};
  std::array<uint32_t, 2> key = {};

  std::array<uint32_t, 4> draw();
};
} // namespace

static uint32_t getHalf(uint64_t number, bool isHigh) {
  return static_cast<uint32_t>(isHigh ? number >> 32 : number);
}

/// Returns the four numbers of the counter, which is increased.
std::array<uint32_t, 4> Philox::draw() {
  std::array<uint32_t, 4> x = counter;
  std::array<uint32_t, 2> k = key;
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t(x[0]) * 0xD2511F53, b = uint64_t(x[2]) * 0xCD9E8D57;
    x = {getHalf(b, true) ^ x[1] ^ k[0], getHalf(b, false),
         getHalf(a, true) ^ x[3] ^ k[1], getHalf(a, false)};
    k = {k[0] + 0x9E3779B9, k[1] + 0xBB67AE85};
  }
  for (uint32_t &part : counter)
    if (++part != 0)
      break;
  return x;
}

/// Returns the generator that TensorFlow makes of the two numbers of a seed.
static std::optional<Philox> makeGenerator(Layer &layer, Value value) {
  auto seed = layer.readInts(value, "a seed");
  if (!seed)
    return std::nullopt;
  if (seed->size() != 2) {
    layer.broken("needs a seed of two numbers");
    return std::nullopt;
  }
  uint64_t first = uint64_t((*seed)[0]), second = uint64_t((*seed)[1]);
  // The key of the generator that scrambles seeds is TensorFlow's.
  Philox scrambler = {{getHalf(first, false), getHalf(first, true),
                       getHalf(second, false), getHalf(second, true)},
                      {0x3ec8f720, 0x02461e29}};
  std::array<uint32_t, 4> mixed = scrambler.draw();
  return Philox{{0, 0, mixed[2], mixed[3]}, {mixed[0], mixed[1]}};
}

static int64_t joinHalves(uint32_t low, uint32_t high) {
  return static_cast<int64_t>(uint64_t(high) << 32 | low);
}

/// Converts StatelessRandomGetKeyCounter: the key and the counter of the
/// generator as 64-bit numbers.
Value convertKeyCounter(Layer &layer) {
  auto generator = makeGenerator(layer, layer.getInput(0));
  if (!generator)
    return {};
  const auto &[counter, key] = *generator;
  layer.setResult(1, layer.constant(Sizes{joinHalves(counter[0], counter[1]),
                                          joinHalves(counter[2], counter[3])}));
  return layer.constant(Sizes{joinHalves(key[0], key[1])});
}

/// Returns the generator of a node: of a seed, or of a key and a counter.
static std::optional<Philox> takeGenerator(Layer &layer) {
  if (layer.getNumInputs() == 2)
    return makeGenerator(layer, layer.getInput(1));
  auto key = layer.readInts(layer.getInput(1), "a key");
  auto counter = layer.readInts(layer.getInput(2), "a counter");
  auto algorithm = layer.readInts(layer.getInput(3), "an algorithm");
  if (!key || !counter || !algorithm)
    return std::nullopt;
  if (key->size() != 1 || counter->size() != 2 || algorithm->size() != 1) {
    layer.broken("needs a key, a counter of two numbers and an algorithm");
    return std::nullopt;
  }
  // 1 is Philox, 3 the one that the device prefers.
  if ((*algorithm)[0] != 1 && (*algorithm)[0] != 3) {
    layer.unsupported("draws numbers by another algorithm than Philox");
    return std::nullopt;
  }
  auto split = [](int64_t number, bool isHigh) {
    return getHalf(uint64_t(number), isHigh);
  };
  return Philox{{split((*counter)[0], false), split((*counter)[0], true),
                 split((*counter)[1], false), split((*counter)[1], true)},
                {split((*key)[0], false), split((*key)[0], true)}};
}

/// Returns a number in [0, 1) that has the 23 lowest of `bits`.
static float toUnit(uint32_t bits) {
  uint32_t one = (bits & 0x7fffff) | 0x3f800000;
  float number = 0;
  std::memcpy(&number, &one, sizeof number);
  return number - 1.0f;
}

/// Adds two normally distributed numbers: the Box-Muller transform, in floats.
static void addNormals(uint32_t a, uint32_t b, SmallVectorImpl<double> &to) {
  float radius = std::sqrt(-2.0f * std::log(std::max(toUnit(a), 1.0e-7f)));
  float angle = 2.0f * static_cast<float>(M_PI) * toUnit(b);
  to.push_back(std::sin(angle) * radius);
  to.push_back(std::cos(angle) * radius);
}

static Value drawStateless(Layer &layer, bool isNormal) {
  RankedTensorType type = readDrawnType(layer);
  if (!type)
    return {};
  Type element = type.getElementType();
  if (!element.isF32() || layer.getHalf("dtype"))
    return layer.unsupported("draws " + getTypeName(element) +
                             "; nnc handles float32");
  auto generator = takeGenerator(layer);
  if (!generator)
    return {};
  size_t count = size_t(type.getNumElements());
  SmallVector<double> values;
  while (values.size() < count) {
    std::array<uint32_t, 4> drawn = generator->draw();
    if (isNormal) {
      addNormals(drawn[0], drawn[1], values);
      addNormals(drawn[2], drawn[3], values);
    } else {
      for (uint32_t bits : drawn)
        values.push_back(toUnit(bits));
    }
  }
  values.resize(count);
  return makeReals(layer, type.getShape(), element, values);
}

Value convertStatelessUniform(Layer &layer) {
  return drawStateless(layer, /*isNormal=*/false);
}
Value convertStatelessNormal(Layer &layer) {
  return drawStateless(layer, /*isNormal=*/true);
}

} // namespace nnc::tensorflow
