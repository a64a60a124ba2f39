//===- second_order_test.cpp - Weights by what they do to results ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/compression/Cholesky.h"
#include "compiler/compression/Clusters.h"
#include "compiler/compression/ColumnSweep.h"
#include "compiler/compression/SecondOrder.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <set>

using namespace nnc::compression;
using namespace nnc::stored;

static std::mt19937 &getRandom() {
  static std::mt19937 random(11);
  return random;
}

static std::vector<float> makeBell(size_t count) {
  std::normal_distribution<float> bell;
  std::vector<float> values(count);
  for (float &value : values)
    value = bell(getRandom());
  return values;
}

/// Returns random vectors whose elements are correlated and differ in size.
static std::vector<float> makeInputs(int64_t count, int64_t columns) {
  int64_t causes = std::max<int64_t>(1, columns / 2);
  std::vector<float> mix = makeBell(causes * columns),
                     sizes = makeBell(columns);
  std::vector<float> inputs = makeBell(count * columns);
  for (int64_t n = 0; n < count; ++n) {
    std::vector<float> cause = makeBell(causes);
    for (int64_t j = 0; j < columns; ++j) {
      float &input = inputs[n * columns + j];
      input *= 0.1f;
      for (int64_t c = 0; c < causes; ++c)
        input += cause[c] * mix[c * columns + j];
      input *= std::exp(sizes[j]);
    }
  }
  return inputs;
}

static InputMoments makeMoments(int64_t groups, int64_t columns,
                                int64_t count = 0) {
  InputMoments moments(groups, columns);
  for (int64_t group = 0; group < groups; ++group)
    moments.add(group, makeInputs(count ? count : 3 * columns, columns));
  return moments;
}

/// Returns the squared error of the products by its definition.
static double getNoise(llvm::ArrayRef<double> difference,
                       llvm::ArrayRef<double> hessian) {
  double noise = 0;
  size_t size = difference.size();
  for (size_t i = 0; i < size; ++i)
    for (size_t j = 0; j < size; ++j)
      noise += difference[i] * hessian[i * size + j] * difference[j];
  return noise;
}

TEST_CASE("products are subtracted, whatever their sizes") {
  for (int64_t rows : {1, 4, 7})
    for (int64_t inner : {1, 5, 64, 131})
      for (int64_t columns : {0, 1, 4, 9, 257, 300}) {
        std::vector<double> a(rows * inner), b(inner * columns),
            c(rows * columns);
        std::uniform_int_distribution<int> integer(-9, 9);
        for (auto *each : {&a, &b, &c})
          for (double &value : *each)
            value = integer(getRandom());
        std::vector<double> expected = c;
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < columns; ++j)
            for (int64_t k = 0; k < inner; ++k)
              expected[i * columns + j] -=
                  a[i * inner + k] * b[k * columns + j];
        subtractProduct({c.data(), columns}, {a.data(), inner},
                        {b.data(), columns}, rows, inner, columns);
        CHECK(c == expected); // integers of doubles are exact
      }
}

TEST_CASE("the factor is that of the inverse, and solves equations") {
  for (int64_t size : {1, 2, 5, 63, 64, 65, 200}) {
    InputMoments moments = makeMoments(1, size);
    std::vector<double> hessian = moments.getBlock(0, 0);
    for (int64_t i = 0; i < size; ++i)
      hessian[i * (size + 1)] += moments.getMeanSquare(0);
    std::vector<double> factor = hessian;
    REQUIRE(factorInverse(factor, size));
    // U^T U H is the identity.
    double worst = 0;
    for (int64_t j = 0; j < size; ++j) {
      std::vector<double> x(size);
      for (int64_t i = 0; i < size; ++i)
        x[i] = hessian[i * size + j];
      solveByFactor(factor, x);
      for (int64_t i = 0; i < size; ++i)
        worst = std::max(worst, std::abs(x[i] - (i == j)));
    }
    CHECK(worst < 1e-9);
    bool isUpper = true;
    for (int64_t i = 0; i < size; ++i)
      for (int64_t j = 0; j <= i; ++j)
        isUpper &=
            j == i ? factor[i * size + j] > 0 : factor[i * size + j] == 0;
    CHECK(isUpper);
  }
  for (std::vector<double> singular :
       {std::vector<double>{1, 1, 1, 1}, {0, 0, 0, 0}, {1, 2, 2, 1}}) {
    CHECK_FALSE(factorInverse(singular, 2));
  }
  std::vector<double> notNumbers = {1, 0, 0, std::nan("")};
  CHECK_FALSE(factorInverse(notNumbers, 2));
}

TEST_CASE("moments are sums of products, in groups and spans") {
  for (int64_t columns : {1, 7, 8, 20, 33})
    for (int64_t count : {1, 63, 64, 150}) {
      InputMoments moments(2, columns);
      std::vector<float> inputs = makeBell(count * columns);
      moments.add(1, llvm::ArrayRef(inputs).take_front(columns));
      moments.add(1, llvm::ArrayRef(inputs).drop_front(columns));
      std::vector<double> block = moments.getBlock(1, 0);
      for (int64_t i = 0; i < columns; ++i)
        for (int64_t j = 0; j < columns; ++j) {
          double sum = 0, magnitude = 0;
          for (int64_t n = 0; n < count; ++n) {
            double product =
                double(inputs[n * columns + i]) * inputs[n * columns + j];
            sum += product;
            magnitude += std::abs(product);
          }
          CHECK(std::abs(block[i * columns + j] - sum) <=
                4 * std::sqrt(double(count)) * 6e-8 * magnitude);
        }
      CHECK(moments.getSquare(1, columns - 1) == block.back());
      CHECK(moments.getMeanSquare(0) == 0);
      CHECK_FALSE(moments.isZero());
    }
  CHECK(InputMoments(3, 4).isZero());
}

TEST_CASE("wide layers keep blocks on the diagonal") {
  int64_t columns = InputMoments::kMostColumns + 5;
  InputMoments moments(1, columns, /*multiple=*/7);
  CHECK_FALSE(moments.isDense());
  int64_t all = 0;
  for (int64_t span = 0; span < moments.getNumSpans(); ++span) {
    CHECK(moments.getSpanBegin(span) == all);
    CHECK(moments.getSpanBegin(span) % 7 == 0);
    all += moments.getSpanSize(span);
  }
  CHECK(all == columns);
  std::vector<float> inputs = makeBell(2 * columns);
  moments.add(0, inputs);
  for (int64_t column : {int64_t(0), columns / 2, columns - 1}) {
    double first = inputs[column], second = inputs[columns + column];
    CHECK(moments.getSquare(0, column) ==
          Approx(first * first + second * second));
  }
  // Each span is solved by itself, and none is left out.
  std::vector<float> own = makeBell(columns), after = own;
  WeightGoal goal;
  goal.pattern = Pattern{1, 7};
  OutputErrors errors =
      compressBySecondOrder(after, {1, columns, 0}, {}, moments, goal);
  CHECK(errors.result <= errors.magnitude);
  for (int64_t start = 0; start < columns; start += 7) {
    auto group = llvm::ArrayRef(after).slice(start).take_front(
        std::min<int64_t>(7, columns - start));
    CHECK(group.size() - std::count(group.begin(), group.end(), 0.f) <= 1);
  }
  CHECK(InputMoments(1, InputMoments::kMostColumns).isDense());
}

TEST_CASE("columns that are left compensate as least squares say") {
  // The first weight becomes zero; the best others follow from the equations
  // H_oo d = -H_o0 e for the changes d of the others.
  for (int64_t columns : {2, 3, 8, 70}) {
    InputMoments moments = makeMoments(1, columns);
    std::vector<double> hessian = moments.getBlock(0, 0), factor = hessian;
    REQUIRE(factorInverse(factor, columns));
    std::vector<float> bell = makeBell(columns);
    std::vector<double> own(bell.begin(), bell.end()), after = own;
    sweepColumns(
        after, 1, columns, factor, 16, columns,
        [](int64_t, int64_t, MatrixPart<const double>) {},
        [](int64_t, int64_t column, double value) {
          return column == 0 ? 0 : value;
        });
    CHECK(after[0] == 0);
    // At the least error its derivatives by the others are zero.
    for (int64_t i = 1; i < columns; ++i) {
      double slope = 0, size = 0;
      for (int64_t j = 0; j < columns; ++j) {
        double part = hessian[i * columns + j] * (after[j] - own[j]);
        slope += part;
        size += std::abs(part);
      }
      CHECK(std::abs(slope) <= 1e-8 * size);
    }
    // The noise is what the factor predicts.
    std::vector<double> difference(columns);
    for (int64_t j = 0; j < columns; ++j)
      difference[j] = after[j] - own[j];
    CHECK(getNoise(difference, hessian) ==
          Approx(std::pow(own[0] / factor[0], 2)));
  }
}

TEST_CASE("the order of columns and rows does not mix up weights") {
  // Each column is rounded by itself if inputs are unrelated.
  int64_t rows = 300, columns = 90;
  InputMoments moments(1, columns);
  std::vector<float> unit(columns);
  for (int64_t j = 0; j < columns; ++j) {
    std::fill(unit.begin(), unit.end(), 0.f);
    unit[j] = 50 + float(j * 37 % columns);
    moments.add(0, unit);
  }
  MatrixShape shape{rows, columns, 0};
  std::vector<float> own = makeBell(rows * columns), after = own;
  WeightGoal goal;
  goal.sparsity = 0.6;
  compressBySecondOrder(after, shape, {}, moments, goal);
  // Exactly those of least squared error, |w| times the input, are zero; the
  // others are what they were.
  std::vector<float> costs(own.size());
  for (size_t i = 0; i < own.size(); ++i)
    costs[i] = std::abs(own[i]) * (50 + float(i % columns * 37 % columns));
  float dropped = 0, kept = std::numeric_limits<float>::infinity();
  int64_t zeros = 0;
  for (size_t i = 0; i < own.size(); ++i) {
    if (after[i] == 0) {
      ++zeros;
      dropped = std::max(dropped, costs[i]);
    } else {
      kept = std::min(kept, costs[i]);
      CHECK(after[i] == own[i]);
    }
  }
  CHECK(zeros == std::llround(0.6 * double(own.size())));
  // The damping makes small inputs count a little more than they are.
  CHECK(dropped <= kept * 1.05f);
}

namespace {
struct Layer {
  int64_t groups, rows, columns;
};
} // namespace

static const Layer kLayers[] = {{1, 1, 1},   {1, 5, 7},    {1, 16, 64},
                                {1, 300, 3}, {1, 9, 130},  {4, 8, 20},
                                {12, 12, 9}, {12, 24, 25}, {3, 9, 67}};

TEST_CASE("no result is worse than that by magnitudes, and goals are reached") {
  double logarithms = 0;
  int counted = 0;
  for (const Layer &layer : kLayers)
    for (int kind = 0; kind < 7; ++kind) {
      WeightGoal goal;
      if (kind == 0 || kind == 3 || kind == 6)
        goal.sparsity = 0.5;
      if (kind == 1 || kind == 4)
        goal.pattern = kind == 1 ? Pattern{2, 4} : Pattern{4, 8};
      if (kind == 5)
        goal.pattern = Pattern{1, 4};
      if (kind >= 2 && kind <= 4)
        goal.clusters = 8;
      if (kind == 6)
        goal.sparsity = 0.83;
      int64_t blockRows = kind == 2 && layer.rows > 4 ? 4 : 0;
      MatrixShape shape{layer.rows, layer.columns, blockRows};
      InputMoments moments = makeMoments(layer.groups, layer.columns);
      std::vector<float> own = makeBell(layer.rows * layer.columns);
      std::vector<float> after = own, plain = own;
      compressByMagnitude(plain, shape, {}, goal);
      OutputErrors errors =
          compressBySecondOrder(after, shape, {}, moments, goal);
      CHECK(errors.magnitude == getOutputError(own, plain, shape, {}, moments));
      CHECK(errors.result == getOutputError(own, after, shape, {}, moments));
      CHECK(errors.result <= errors.magnitude);
      // The error by its definition.
      double noise = 0, signal = 0;
      int64_t groupRows = layer.rows / layer.groups;
      for (int64_t row = 0; row < layer.rows; ++row) {
        std::vector<double> hessian = moments.getBlock(row / groupRows, 0);
        std::vector<double> weights, difference;
        for (int64_t j = 0; j < layer.columns; ++j) {
          weights.push_back(own[row * layer.columns + j]);
          difference.push_back(weights.back() -
                               double(after[row * layer.columns + j]));
        }
        noise += getNoise(difference, hessian);
        signal += getNoise(weights, hessian);
      }
      CHECK(errors.result == Approx(std::sqrt(noise / signal)).margin(1e-6));
      auto zeros = std::count(after.begin(), after.end(), 0.f);
      auto wanted =
          std::llround(goal.sparsity.value_or(0) * double(own.size()));
      if (goal.sparsity && goal.clusters == 0)
        CHECK(zeros == wanted);
      CHECK(zeros >= wanted);
      if (goal.pattern)
        for (int64_t row = 0; row < layer.rows; ++row)
          for (int64_t j = 0; j < layer.columns; j += goal.pattern->group) {
            auto group = llvm::ArrayRef(after)
                             .slice(row * layer.columns + j)
                             .take_front(std::min(goal.pattern->group,
                                                  layer.columns - j));
            CHECK(std::count_if(group.begin(), group.end(), [](float value) {
                    return value != 0;
                  }) <= goal.pattern->kept);
          }
      if (goal.clusters)
        forEachBlock(shape, [&](size_t start, size_t count) {
          std::set<float> values(after.begin() + start,
                                 after.begin() + start + count);
          CHECK(values.size() <= size_t(goal.clusters));
        });
      if (errors.result > 0 && layer.columns > 3) {
        logarithms += std::log(errors.result / errors.magnitude);
        ++counted;
      }
    }
  // On inputs that are related it is not just no worse.
  CHECK(counted >= 40);
  CHECK(std::exp(logarithms / counted) < 0.6);
}

TEST_CASE(
    "most masks are worse than the chosen one, even with their best weights") {
  // Every mask of the row is tried, with the best weights for it.
  int better = 0, tried = 0;
  for (int round = 0; round < 30; ++round) {
    constexpr int64_t columns = 8;
    InputMoments moments = makeMoments(1, columns);
    std::vector<double> hessian = moments.getBlock(0, 0);
    std::vector<float> own = makeBell(columns), after = own;
    WeightGoal goal;
    goal.sparsity = 0.5;
    OutputErrors errors =
        compressBySecondOrder(after, {1, columns, 0}, {}, moments, goal);
    double signal =
        getNoise(std::vector<double>(own.begin(), own.end()), hessian);
    double best = std::numeric_limits<double>::infinity();
    for (int mask = 0; mask < 1 << columns; ++mask) {
      std::vector<int64_t> kept;
      for (int64_t j = 0; j < columns; ++j)
        if (mask >> j & 1)
          kept.push_back(j);
      if (kept.size() != columns / 2)
        continue;
      // Least squares for the kept weights.
      auto size = int64_t(kept.size());
      std::vector<double> normal(size * size), solution(size);
      for (int64_t a = 0; a < size; ++a) {
        for (int64_t b = 0; b < size; ++b)
          normal[a * size + b] = hessian[kept[a] * columns + kept[b]];
        for (int64_t j = 0; j < columns; ++j)
          solution[a] += hessian[kept[a] * columns + j] * double(own[j]);
      }
      REQUIRE(factorInverse(normal, size));
      solveByFactor(normal, solution);
      std::vector<double> difference(own.begin(), own.end());
      for (int64_t a = 0; a < size; ++a)
        difference[kept[a]] -= solution[a];
      double error = std::sqrt(getNoise(difference, hessian) / signal);
      best = std::min(best, error);
      better += error < errors.result;
      ++tried;
    }
    CHECK(errors.result >= best * (1 - 1e-6));
  }
  CHECK(tried == 30 * 70);
  INFO(better << " of " << tried);
  CHECK(better < tried / 3);
}

TEST_CASE("inputs that are zero, or samples that are few, are no obstacle") {
  WeightGoal goal;
  goal.sparsity = 0.5;
  goal.clusters = 6;
  for (int64_t columns : {6, 70}) {
    MatrixShape shape{10, columns, 0};
    std::vector<float> own = makeBell(10 * columns);
    // No input at all: weights are chosen by their magnitudes.
    std::vector<float> after = own, plain = own;
    InputMoments none(1, columns);
    OutputErrors errors = compressBySecondOrder(after, shape, {}, none, goal);
    compressByMagnitude(plain, shape, {}, goal);
    CHECK(after == plain);
    CHECK((errors.magnitude == 0 && errors.result == 0));
    // One sample, of which every third input is zero.
    InputMoments few(1, columns);
    std::vector<float> input = makeBell(columns);
    for (int64_t j = 0; j < columns; j += 3)
      input[j] = 0;
    few.add(0, input);
    after = own;
    errors = compressBySecondOrder(after, shape, {}, few, goal);
    CHECK(errors.result <= errors.magnitude);
    CHECK(areFinite(after));
    CHECK(std::count(after.begin(), after.end(), 0.f) >= 5 * columns);
  }
  // Groups of which one reads nothing but zeros.
  InputMoments some(2, 5);
  some.add(1, makeInputs(20, 5));
  std::vector<float> after = makeBell(20);
  OutputErrors errors = compressBySecondOrder(after, {4, 5, 0}, {}, some, goal);
  CHECK(errors.result <= errors.magnitude);
  CHECK(areFinite(after));
}

TEST_CASE("zeros stay zero, and weights that reach the goal stay as they are") {
  InputMoments moments = makeMoments(1, 40);
  std::vector<float> own = makeBell(6 * 40);
  for (size_t i = 0; i < own.size(); i += 3)
    own[i] = 0;
  std::vector<float> after = own;
  WeightGoal goal;
  goal.clusters = 5;
  compressBySecondOrder(after, {6, 40, 0}, {}, moments, goal);
  for (size_t i = 0; i < own.size(); i += 3)
    CHECK(after[i] == 0);
  std::vector<float> again = after;
  OutputErrors errors =
      compressBySecondOrder(again, {6, 40, 0}, {}, moments, goal);
  CHECK(again == after);
  CHECK(errors.result == 0);
}

TEST_CASE("integers stay integers of their range") {
  for (const Layer &layer : kLayers)
    for (int clusters : {0, 6}) {
      MatrixShape shape{layer.rows, layer.columns, 0};
      InputMoments moments = makeMoments(layer.groups, layer.columns);
      std::uniform_int_distribution<int> integer(-100, 100);
      std::uniform_real_distribution<float> size(0.01f, 0.1f);
      std::vector<float> own(layer.rows * layer.columns), scales(own.size());
      for (float &value : own)
        value = float(integer(getRandom()));
      for (float &scale : scales)
        scale = size(getRandom());
      std::vector<float> after = own;
      WeightGoal goal;
      goal.sparsity = 0.4;
      goal.clusters = clusters;
      OutputErrors errors =
          compressBySecondOrder(after, shape, scales, moments, goal);
      CHECK(errors.result <= errors.magnitude);
      float most = 0;
      for (float value : own)
        most = std::max(most, std::abs(value));
      for (float value : after)
        CHECK((value == std::nearbyint(value) && std::abs(value) <= most));
      if (clusters)
        CHECK(std::set<float>(after.begin(), after.end()).size() <=
              size_t(clusters));
    }
}

TEST_CASE("values count by their weights") {
  // The centre of two values is their weighted mean.
  std::vector<float> values = {1, 2, 10, 11};
  shareValues(values, 2, {3, 1, 1, 3});
  CHECK(values == std::vector<float>{1.25f, 1.25f, 10.75f, 10.75f});
  // Equal weights are no weights, and weights of zero make no error.
  std::vector<float> bell = makeBell(500), alike = bell;
  shareValues(bell, 7);
  shareValues(alike, 7, std::vector<float>(500, 2.f));
  for (size_t i = 0; i < bell.size(); ++i)
    CHECK(alike[i] == Approx(bell[i]).epsilon(1e-5));
  std::vector<float> some = {1, 2, 3, 4, 5};
  shareValues(some, 2, {0, 0, 0, 0, 0});
  CHECK(areFinite(some));
}

TEST_CASE("groups of a pattern start anew at each place of a kernel") {
  for (int64_t run : {1, 2, 3, 4, 6, 7, 9})
    for (int64_t places : {1, 3, 9}) {
      int64_t rows = 20, columns = run * places;
      InputMoments moments = makeMoments(1, columns);
      std::vector<float> own = makeBell(rows * columns);
      for (bool isSecondOrder : {false, true}) {
        std::vector<float> after = own;
        MatrixShape shape{rows, columns, 0, run};
        WeightGoal goal;
        goal.pattern = Pattern{2, 4};
        if (isSecondOrder)
          compressBySecondOrder(after, shape, {}, moments, goal);
        else
          compressByMagnitude(after, shape, {}, goal);
        for (int64_t start = 0; start < rows * columns; start += run)
          for (int64_t i = 0; i < run; i += 4) {
            int64_t size = std::min<int64_t>(4, run - i);
            auto group = llvm::ArrayRef(after).slice(start + i, size);
            CHECK(size - std::count(group.begin(), group.end(), 0.f) ==
                  std::min<int64_t>(2, size));
          }
      }
    }
}
