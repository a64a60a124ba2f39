//===- quantize_test.cpp - Ranges, weights and biases as integers ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/quantize/Methods.h"
#include "compiler/quantize/Weights.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace nnc::quantize;

static Histogram count(const std::vector<float> &values) {
  Range range;
  for (float value : values)
    range.include(static_cast<double>(value));
  Histogram histogram(range);
  histogram.add(values.data(), values.size());
  return histogram;
}

/// Returns values with a bell-shaped distribution around 0, and one outlier.
static std::vector<float> makeBell(double outlier) {
  std::vector<float> values;
  for (int i = -1000; i <= 1000; ++i) {
    double x = i / 250.0;
    int times = static_cast<int>(100 * std::exp(-x * x / 2));
    values.insert(values.end(), times, static_cast<float>(x));
  }
  values.push_back(static_cast<float>(outlier));
  return values;
}

TEST_CASE("a range contains zero, and zero is an integer of its own") {
  for (Storage storage : {Storage::s8, Storage::u8})
    for (auto [low, high] : {std::pair(-1.0, 3.0),
                             {2.0, 5.0},
                             {-7.0, -1.0},
                             {-1e-3, 1e5},
                             {-1e10, 1e15}}) {
      Range range;
      range.include({low, high});
      CHECK(range.low <= 0);
      CHECK(range.high >= 0);
      Parameters parameters = getParameters(range, storage);
      CHECK(parameters.zeroPoint >= getMin(storage));
      CHECK(parameters.zeroPoint <= getMax(storage));
      CHECK(parameters.roundTrip(0) == 0);
      double half = 0.501 * static_cast<double>(parameters.scale);
      // The ends are off by the rounding of the zero point, too.
      for (double share : {0.0, 0.1, 0.5, 0.9, 1.0}) {
        double value = range.low + share * range.getExtent();
        CHECK(std::abs(parameters.roundTrip(value) - value) <=
              half * (share == 0 || share == 1 ? 2 : 1));
      }
    }
}

TEST_CASE("ranges that no scale fits") {
  double infinity = std::numeric_limits<double>::infinity();
  CHECK_FALSE(Range().hasScale());
  CHECK_FALSE(Range{0, 1e-17}.hasScale());
  CHECK_FALSE(Range{-infinity, 0}.hasScale());
  CHECK_FALSE(Range{-3e38, 3}.hasScale());
  CHECK(Range{0, 1e-15}.hasScale());
  CHECK(Range{-1e20, 1e20}.hasScale());
  CHECK(getParameters({0, 0}, Storage::u8).scale == 1);
}

TEST_CASE("all methods keep the range of even values and cut outliers") {
  std::vector<float> even;
  for (int i = 0; i <= 20000; ++i)
    even.push_back(static_cast<float>(i - 5000) / 1000);
  for (Method method : {Method::minmax, Method::percentile, Method::mse}) {
    Range range = chooseRange(count(even), method, 99.99, Storage::s8);
    CHECK(range.low == Approx(-5).epsilon(0.03));
    CHECK(range.high == Approx(15).epsilon(0.03));
  }
  Histogram bell = count(makeBell(24));
  CHECK(chooseRange(bell, Method::minmax, 0, Storage::s8).high == 24);
  for (Method method : {Method::percentile, Method::entropy}) {
    Range range = chooseRange(bell, method, 99.9, Storage::s8);
    CHECK(range.high < 5);
    CHECK(range.high > 1.5);
    CHECK(range.low < -1.5);
  }
  // Clipped, a single value far outside would be most of the squared error.
  CHECK(chooseRange(bell, Method::mse, 0, Storage::s8).high > 20);
  CHECK(chooseRange(count(makeBell(4.5)), Method::mse, 0, Storage::s8).high <
        4.4);
}

TEST_CASE("zeros do not count, and one-sided values stay one-sided") {
  std::vector<float> values = makeBell(0);
  for (float &value : values)
    value = std::max(value, 0.0f);
  Histogram histogram = count(values);
  CHECK(histogram.zeros > double(values.size()) / 3);
  std::vector<float> more = values;
  more.insert(more.end(), 1000000, 0.0f);
  for (Method method : {Method::entropy, Method::mse}) {
    Range range = chooseRange(histogram, method, 0, Storage::u8),
          same = chooseRange(count(more), method, 0, Storage::u8);
    CHECK(range.low == 0);
    CHECK(range.high == same.high);
  }
  // A percentile among the zeros says nothing.
  CHECK(chooseRange(count(more), Method::percentile, 60, Storage::u8).high ==
        Approx(3.03).epsilon(0.01));
}

TEST_CASE("weights") {
  // Axis 1 of shape [2, 3, 2].
  ChannelShape shape = ChannelShape::get({2, 3, 2}, 1);
  CHECK(shape.outer == 2);
  CHECK(shape.channels == 3);
  CHECK(shape.inner == 2);
  std::vector<float> weights = {1, -2, 0, 0, 1e-33f, 0, 2, 1, 0, 0, -1e-34f, 0};
  QuantizedWeights result = quantizeWeights(weights, shape, {});
  CHECK(result.values == std::vector<int8_t>{64, -127, 0, 0, 0, 0, //
                                             127, 64, 0, 0, 0, 0});
  CHECK(result.scales[0] == Approx(2.0 / 127));
  CHECK(result.scales[1] == Approx(2.0 / 127));
  for (float scale : result.scales)
    CHECK(std::isnormal(scale));
  std::vector<float> reals = result.getReals(shape);
  for (size_t i = 0; i < weights.size(); ++i)
    CHECK(reals[i] == Approx(weights[i]).margin(1.0 / 127));

  ChannelShape whole = ChannelShape::get({2, 3, 2}, -1);
  CHECK(whole.channels == 1);
  CHECK(quantizeWeights(std::vector<float>(12), whole, {}).scales ==
        std::vector<float>{1});
}

TEST_CASE("biases fit in 32 bits where the scale of the weights is raised") {
  std::vector<float> weights = {1e-9f, 1}, biases = {1000, 1};
  ChannelShape shape = ChannelShape::get({2, 1}, 0);
  std::vector<double> least = getLeastScales(biases, 2, 0.01f);
  QuantizedWeights result = quantizeWeights(weights, shape, least);
  std::vector<float> scales = getBiasScales(result.scales, 0.01f, 2);
  std::vector<int32_t> integers = quantizeBiases(biases, scales);
  for (size_t i = 0; i < biases.size(); ++i)
    CHECK(double(integers[i]) * double(scales[i]) ==
          Approx(biases[i]).epsilon(1e-6));
  CHECK(result.values[1] == 127);
  CHECK(quantizeBiases({1e30f, -1e30f}, {1.0f}) ==
        std::vector<int32_t>{2147483647, -2147483647});
}
