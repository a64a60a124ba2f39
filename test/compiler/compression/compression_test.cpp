//===- compression_test.cpp - Pruned, shared and coded weights ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/compression/Clusters.h"
#include "compiler/compression/IntegerClusters.h"
#include "compiler/compression/Prune.h"
#include "dialects/nn/stored_weights/forms/Huffman.h"
#include "dialects/nn/stored_weights/forms/StoredForm.h"
#include "dialects/nn/stored_weights/forms/StoredSizes.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <set>

using namespace nnc::compression;
using namespace nnc::stored;

static std::mt19937 &getRandom() {
  static std::mt19937 random(7);
  return random;
}

static std::vector<float> makeBell(size_t count) {
  std::normal_distribution<float> bell;
  std::vector<float> values(count);
  for (float &value : values)
    value = bell(getRandom());
  return values;
}

static int64_t countZeros(llvm::ArrayRef<float> values) {
  return std::count(values.begin(), values.end(), 0.f);
}

static size_t countDistinct(llvm::ArrayRef<float> values) {
  return std::set<float>(values.begin(), values.end()).size();
}

static double getError(llvm::ArrayRef<float> before,
                       llvm::ArrayRef<float> after) {
  double error = 0;
  for (size_t i = 0; i < before.size(); ++i)
    error += std::pow(double(before[i]) - double(after[i]), 2);
  return error;
}

TEST_CASE("pruning drops the smallest magnitudes and keeps the rest") {
  for (size_t count : {1, 2, 7, 100, 1001})
    for (double sparsity : {0.0, 0.1, 0.5, 0.9, 0.999, 1.0}) {
      std::vector<float> before = makeBell(count), after = before;
      pruneToSparsity(after, sparsity);
      CHECK(countZeros(after) == std::llround(sparsity * double(count)));
      float dropped = 0, kept = std::numeric_limits<float>::infinity();
      for (size_t i = 0; i < count; ++i) {
        if (after[i] == 0)
          dropped = std::max(dropped, std::abs(before[i]));
        else
          kept = std::min(kept, std::abs(before[i]));
        CHECK((after[i] == 0 || after[i] == before[i]));
      }
      CHECK(dropped <= kept);
    }
  pruneToSparsity({}, 0.5);
}

TEST_CASE("of equal magnitudes the first are pruned, and zeros count") {
  std::vector<float> values = {1, -1, 1, -1, 1};
  pruneToSparsity(values, 0.4);
  CHECK(values == std::vector<float>{0, 0, 1, -1, 1});
  pruneToSparsity(values, 0.4);
  CHECK(values == std::vector<float>{0, 0, 1, -1, 1});
}

TEST_CASE("a pattern holds in every group of a row, also in the last") {
  for (Pattern pattern : {Pattern{2, 4}, {1, 4}, {1, 2}, {3, 7}})
    for (int64_t columns : {1, 3, 4, 9, 16, 31}) {
      std::vector<float> before = makeBell(5 * columns), after = before;
      pruneToPattern(after, columns, pattern);
      for (int64_t row = 0; row < 5; ++row)
        for (int64_t start = 0; start < columns; start += pattern.group) {
          int64_t size = std::min(pattern.group, columns - start);
          auto group = llvm::ArrayRef(after).slice(row * columns + start, size);
          auto own = llvm::ArrayRef(before).slice(row * columns + start, size);
          CHECK(size - countZeros(group) == std::min(size, pattern.kept));
          // The kept ones are the largest.
          std::vector<float> sorted = own.vec();
          auto isLarger = [](float a, float b) {
            return std::abs(a) > std::abs(b);
          };
          std::sort(sorted.begin(), sorted.end(), isLarger);
          for (int64_t i = 0; i < size; ++i)
            CHECK((group[i] != 0) ==
                  (std::abs(own[i]) >=
                   std::abs(sorted[std::min(size, pattern.kept) - 1])));
        }
    }
  pruneToPattern({}, 0, {2, 4});
}

/// Returns random integers like those of 8-bit weights minus their zero point.
static std::vector<float> makeIntegers(size_t count, int least, int most) {
  std::uniform_int_distribution<int> integer(least, most);
  std::vector<float> values(count);
  for (float &value : values)
    value = static_cast<float>(integer(getRandom()));
  return values;
}

static std::vector<float> makeScales(size_t count) {
  std::uniform_real_distribution<float> scale(0.001f, 0.1f);
  std::vector<float> scales(count);
  for (float &each : scales)
    each = scale(getRandom());
  return scales;
}

TEST_CASE("integers are pruned by the magnitudes that they stand for") {
  for (size_t count : {1, 7, 100, 1001})
    for (double sparsity : {0.0, 0.3, 0.9, 1.0}) {
      // No integer is zero, and no two products are likely to be equal.
      std::vector<float> before = makeIntegers(count, 1, 255);
      std::vector<float> scales = makeScales(count), after = before;
      pruneToSparsity(after, sparsity, scales);
      CHECK(countZeros(after) == std::llround(sparsity * double(count)));
      float dropped = 0, kept = std::numeric_limits<float>::infinity();
      for (size_t i = 0; i < count; ++i) {
        if (after[i] == 0)
          dropped = std::max(dropped, before[i] * scales[i]);
        else
          kept = std::min(kept, before[i] * scales[i]);
        CHECK((after[i] == 0 || after[i] == before[i]));
      }
      CHECK(dropped <= kept);
      std::vector<float> again = after;
      pruneToSparsity(again, sparsity, scales);
      CHECK(again == after);
    }
  // Each group looks at the scales of its own elements.
  std::vector<float> values = {1, 2, 3, 4, 1, 2, 3, 4, 5};
  pruneToPattern(values, 9, {1, 4}, {8, 1, 1, 1, 1, 1, 1, 1, 1});
  CHECK(values == std::vector<float>{1, 0, 0, 0, 0, 0, 0, 4, 5});
  // A scale of zero makes an integer as good as zero.
  values = {0, 9, 1};
  pruneToSparsity(values, 0.67, {1, 0, 1});
  CHECK(values == std::vector<float>{0, 0, 1});
}

/// Returns the least weighted error of at most `count` integer centres, found
/// by trying all sets of centres. If a value is zero, one centre is zero.
static double tryCentres(llvm::ArrayRef<float> values,
                         llvm::ArrayRef<float> scales, int count, int least,
                         int most, std::vector<int> &centres) {
  if (int(centres.size()) < count) {
    double best = HUGE_VAL;
    int next = centres.empty() ? least : std::max(least, centres.back() + 1);
    if (!centres.empty() && centres.back() == 0)
      next = least; // a zero that is there from the start
    for (int centre = next; centre <= most; ++centre) {
      centres.push_back(centre);
      best = std::min(best,
                      tryCentres(values, scales, count, least, most, centres));
      centres.pop_back();
    }
    if (best < HUGE_VAL)
      return best;
  }
  double error = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    double nearest = HUGE_VAL;
    for (int centre : centres)
      nearest = std::min(nearest, std::abs(double(values[i]) - centre));
    error += std::pow(double(scales[i]) * nearest, 2);
  }
  return error;
}

static double getError(llvm::ArrayRef<float> before,
                       llvm::ArrayRef<float> after,
                       llvm::ArrayRef<float> scales) {
  double error = 0;
  for (size_t i = 0; i < before.size(); ++i)
    error += std::pow(double(scales[i]) * double(before[i] - after[i]), 2);
  return error;
}

TEST_CASE("no other integers make a smaller error than the shared ones") {
  for (int round = 0; round < 40; ++round)
    for (int clusters : {2, 3, 4})
      for (auto [least, most] :
           {std::pair(1, 12), std::pair(-7, 6), std::pair(-14, -2)}) {
        std::vector<float> before = makeIntegers(20, least, most);
        std::vector<float> scales = makeScales(20), after = before;
        shareIntegers(after, scales, clusters);
        CHECK(countDistinct(after) <= size_t(clusters));
        std::vector<int> centres;
        if (countZeros(before) > 0)
          centres.push_back(0);
        double best =
            tryCentres(before, scales, clusters, least, most, centres);
        CHECK(getError(before, after, scales) == Approx(best).margin(1e-12));
      }
}

TEST_CASE("shared integers are of the range, and zeros stay zero") {
  for (int clusters : {2, 5, 16, 100, 255, 256})
    for (auto [least, most] : {std::pair(-128, 127), std::pair(-255, 0)}) {
      std::vector<float> before = makeIntegers(5000, least, most);
      std::vector<float> scales = makeScales(5000), after = before;
      shareIntegers(after, scales, clusters);
      std::set<float> distinct(after.begin(), after.end());
      CHECK(distinct.size() == size_t(std::min(clusters, most - least + 1)));
      CHECK(*distinct.begin() >= float(least));
      CHECK(*distinct.rbegin() <= float(most));
      for (size_t i = 0; i < before.size(); ++i) {
        CHECK(after[i] == std::nearbyint(after[i]));
        CHECK((before[i] != 0 || after[i] == 0));
      }
      std::vector<float> again = after;
      shareIntegers(again, scales, clusters);
      CHECK(again == after);
    }
}

TEST_CASE("integers of channels with larger scales keep nearer values") {
  std::vector<float> values = {10, 13, 100};
  shareIntegers(values, {10, 1, 1}, 2);
  CHECK(values == std::vector<float>{10, 10, 100});
  values = {10, 13, 100};
  shareIntegers(values, {1, 10, 1}, 2);
  CHECK(values == std::vector<float>{13, 13, 100});
  // Channels without any scale are as good as not there.
  values = {10, 14, 90, 100};
  shareIntegers(values, {0, 0, 1, 1}, 3);
  CHECK(values[2] == 90);
  CHECK(values[3] == 100);
  CHECK(countDistinct(values) <= 3);
}

TEST_CASE("integers that are few enough stay as they are") {
  for (std::vector<float> values :
       {std::vector<float>{}, {0}, {-255, -255, 255}, {0, 5, -7, 5}}) {
    std::vector<float> before = values, scales(values.size(), 0.5f);
    shareIntegers(values, scales, 3);
    CHECK(values == before);
  }
}

/// Returns the least error of `count` clusters of sorted values, found by
/// trying all ends of clusters.
static double findLeast(llvm::ArrayRef<float> sorted, int count) {
  size_t size = sorted.size();
  auto getCost = [&](size_t start, size_t end) {
    double mean = 0, cost = 0;
    for (size_t i = start; i < end; ++i)
      mean += double(sorted[i]) / double(end - start);
    for (size_t i = start; i < end; ++i)
      cost += std::pow(double(sorted[i]) - mean, 2);
    return cost;
  };
  std::vector<double> best(size + 1, HUGE_VAL);
  best[0] = 0;
  for (int c = 0; c < count; ++c) {
    std::vector<double> next(size + 1, HUGE_VAL);
    for (size_t end = 0; end <= size; ++end)
      for (size_t start = 0; start <= end; ++start)
        next[end] = std::min(next[end], best[start] + getCost(start, end));
    best = next;
  }
  return best[size];
}

TEST_CASE("clusters are few, and their values near the best ones") {
  for (int clusters : {2, 3, 5, 16})
    for (size_t count : {20, 63}) {
      std::vector<float> before = makeBell(count), after = before;
      shareValues(after, clusters);
      CHECK(countDistinct(after) <= size_t(clusters));
      std::vector<float> sorted = before;
      std::sort(sorted.begin(), sorted.end());
      double least = findLeast(sorted, clusters);
      // Lloyd's iteration finds a local optimum; of random values a near one.
      CHECK(getError(before, after) >= least * (1 - 1e-6) - 1e-12);
      CHECK(getError(before, after) <= 2 * least + 1e-6);
    }
}

TEST_CASE("each value goes to the nearest centre, and centres are means") {
  for (int clusters : {2, 7, 16, 255, 256}) {
    std::vector<float> before = makeBell(5000), after = before;
    shareValues(after, clusters);
    std::set<float> centres(after.begin(), after.end());
    CHECK(centres.size() == size_t(clusters));
    for (float centre : centres) {
      double sum = 0, count = 0;
      for (size_t i = 0; i < before.size(); ++i) {
        if (after[i] != centre)
          continue;
        sum += double(before[i]);
        ++count;
      }
      CHECK(double(centre) == Approx(sum / count).margin(1e-6));
    }
    for (size_t i = 0; i < before.size(); ++i) {
      auto above = centres.lower_bound(before[i]);
      float nearest = HUGE_VALF;
      if (above != centres.end())
        nearest = *above - before[i];
      if (above != centres.begin())
        nearest = std::min(nearest, before[i] - *std::prev(above));
      CHECK(std::abs(after[i] - before[i]) <= nearest + 1e-5f);
    }
  }
}

TEST_CASE("zeros stay zero and take one of the clusters") {
  for (int clusters : {2, 3, 16, 256}) {
    std::vector<float> values = makeBell(3000);
    pruneToSparsity(values, 0.8);
    std::vector<float> before = values;
    shareValues(values, clusters);
    CHECK(countDistinct(values) <= size_t(clusters));
    for (size_t i = 0; i < values.size(); ++i)
      CHECK((before[i] != 0 || values[i] == 0));
  }
}

TEST_CASE("values that are few enough stay as they are") {
  for (std::vector<float> values : {std::vector<float>{},
                                    {0},
                                    {0, 0, 0},
                                    {3},
                                    {-0.25f, -0.25f},
                                    {1, 2},
                                    {0, 1e-38f, 0},
                                    {0, 5, -7, 5}}) {
    std::vector<float> before = values;
    shareValues(values, 4);
    CHECK(values == before);
    shareValues(values, 3);
    CHECK(values == before);
  }
  // A third value has no place beside zero and another one.
  std::vector<float> values = {0, 1, 3, 0};
  shareValues(values, 2);
  CHECK(values == std::vector<float>{0, 2, 2, 0});
}

TEST_CASE("clusters find values of very different size and number") {
  std::vector<float> values(10000, 0.001f);
  values.insert(values.end(), 10000, 0.002f);
  values.insert(values.end(), 3, 1000.f);
  values.push_back(-3e38f);
  values.push_back(3e38f);
  std::vector<float> before = values;
  shareValues(values, 4);
  CHECK(countDistinct(values) <= 4);
  CHECK(areFinite(values));
  CHECK(values[values.size() - 1] == 3e38f);
  CHECK(values[values.size() - 2] == -3e38f);
}

TEST_CASE("values that are not finite are told") {
  CHECK(areFinite({}));
  CHECK(areFinite({0, -1, 3e38f}));
  CHECK_FALSE(areFinite({1, std::numeric_limits<float>::quiet_NaN()}));
  CHECK_FALSE(areFinite({-std::numeric_limits<float>::infinity()}));
}

/// Returns the number of bits of Huffman-coded symbols, computed by joining the
/// two rarest symbols until one is left.
static int64_t joinRarest(llvm::ArrayRef<int64_t> counts) {
  std::multiset<int64_t> open;
  for (int64_t count : counts)
    if (count > 0)
      open.insert(count);
  int64_t bits = 0;
  while (open.size() > 1) {
    int64_t sum = 0;
    for (int i = 0; i < 2; ++i) {
      sum += *open.begin();
      open.erase(open.begin());
    }
    bits += sum;
    open.insert(sum);
  }
  return bits;
}

TEST_CASE("Huffman lengths are those of a complete code of fewest bits") {
  std::uniform_int_distribution<int64_t> number(0, 1000);
  for (size_t symbols : {0, 1, 2, 3, 17, 256})
    for (int round = 0; round < 10; ++round) {
      std::vector<int64_t> counts(symbols);
      for (int64_t &count : counts)
        count = std::max<int64_t>(0, number(getRandom()) - 300);
      std::vector<int> lengths = getHuffmanLengths(counts);
      CHECK(getHuffmanBits(counts) == joinRarest(counts));
      double kraft = 0, total = 0;
      int used = 0;
      for (size_t i = 0; i < symbols; ++i) {
        CHECK((counts[i] > 0 || lengths[i] == 0));
        used += counts[i] > 0;
        total += double(counts[i]);
        kraft += counts[i] > 0 ? std::exp2(-lengths[i]) : 0;
      }
      CHECK(kraft == (used > 0 ? 1 : 0));
      double bits = double(getHuffmanBits(counts));
      CHECK(bits >= total * getEntropy(counts) * (1 - 1e-12));
      CHECK(bits <= total * (getEntropy(counts) + 1));
    }
  // Counts that double make the longest codes.
  std::vector<int64_t> counts(62);
  for (size_t i = 0; i < counts.size(); ++i)
    counts[i] = int64_t(1) << i;
  CHECK(getHuffmanLengths(counts).front() == 61);
}

TEST_CASE("entropy is that of the counts") {
  CHECK(getEntropy({}) == 0);
  CHECK(getEntropy({0, 0}) == 0);
  CHECK(getEntropy({9}) == 0);
  CHECK(getEntropy({5, 5}) == Approx(1));
  CHECK(getEntropy({1, 1, 2, 0}) == Approx(1.5));
}

TEST_CASE("a codebook gives the elements back") {
  for (size_t count : {1, 7, 1000})
    for (int most : {1, 2, 256}) {
      std::vector<uint16_t> elements(count);
      for (uint16_t &element : elements)
        element = uint16_t(getRandom()() % unsigned(most) * 251);
      llvm::ArrayRef<char> bytes(reinterpret_cast<char *>(elements.data()),
                                 2 * count);
      std::optional<Codebook> book = Codebook::get(bytes, 2, 256);
      REQUIRE(book);
      CHECK(book->getCount() == int64_t(count));
      CHECK(std::is_sorted(book->values.begin(), book->values.end()));
      std::vector<int64_t> counts(book->values.size());
      for (size_t i = 0; i < count; ++i) {
        CHECK(book->values[book->places[i]] == elements[i]);
        ++counts[book->places[i]];
      }
      CHECK(book->countValues() == counts);
      CHECK(counts[book->findMostFrequent()] ==
            *std::max_element(counts.begin(), counts.end()));
      CHECK_FALSE(Codebook::get(bytes, 2, book->values.size() - 1));
    }
}

TEST_CASE("sizes of a matrix that is counted by hand") {
  // Each fourth of 100 elements is 1, 2 or 3.
  std::vector<float> matrix(100);
  for (size_t i = 0; i < 100; i += 4)
    matrix[i] = float(1 + i % 3);
  StoredSizes sizes = StoredSizes::get(matrix, {4, 25, 0}, 4);
  CHECK(sizes.elements == 100);
  CHECK(sizes.zeros == 75);
  CHECK(sizes.values == 4);
  CHECK(sizes.dense == 400);
  // 4 values, 100 codes of 2 bits up to a multiple of 4 bytes, and 16 bytes
  // that readers may read.
  CHECK(sizes.codebook == 16 + 28 + 16);
  // 1:4, with 4 values, 25 codes of 2 bits up to a multiple of 4 bytes, and as
  // many places of 2 bits.
  REQUIRE(sizes.csr);
  CHECK(sizes.csr->bytes == 16 + 8 + 7 + 16);
  CHECK(sizes.csr->gapBits == 2);
  // Bytes have shorter tables, and need no padding.
  StoredSizes bytes = StoredSizes::get(matrix, {4, 25, 0}, 1);
  CHECK(bytes.dense == 100);
  CHECK(bytes.codebook == 4 + 25 + 16);
  CHECK(bytes.csr->bytes == 4 + 8 + 7 + 16);
}

TEST_CASE("sizes are those of the forms in which weights are stored") {
  for (int64_t blockRows : {0, 2})
    for (double sparsity : {0.0, 0.5, 0.9}) {
      MatrixShape shape{12, 70, blockRows};
      std::vector<float> matrix = makeBell(shape.getNumElements());
      pruneToSparsity(matrix, sparsity);
      for (int64_t row = 0; row < 12; row += shape.getBlockRows())
        shareValues(llvm::MutableArrayRef(matrix).slice(
                        row * 70, shape.getBlockRows() * 70),
                    16);
      StoredSizes sizes = StoredSizes::get(matrix, shape, 4);
      CHECK(sizes.values == 16);
      llvm::ArrayRef<char> bytes(reinterpret_cast<char *>(matrix.data()),
                                 4 * matrix.size());
      const int64_t block = shape.getBlockRows() * 70;
      auto getBytes = [&](StoredKind kind) {
        auto form = StoredForm::get(kind, bytes, 4, {70, block});
        REQUIRE(form);
        return int64_t(form->bytes.size());
      };
      CHECK(sizes.codebook == getBytes(StoredKind::codebook));
      CHECK(sizes.csr->bytes == getBytes(StoredKind::csr));
      CHECK(sizes.huffman->bytes == getBytes(StoredKind::huffman));
      CHECK(sizes.getLeast() == std::min({*sizes.codebook, sizes.csr->bytes,
                                          sizes.huffman->bytes}));
    }
}

TEST_CASE("sizes of matrices of zeros, of one value, and of too many") {
  StoredSizes zeros =
      StoredSizes::get(std::vector<float>(1000), {10, 100, 0}, 4);
  // The matrix of zeros has no entries, and its values need no codes.
  CHECK(zeros.csr->bytes == 4 + 4 + 2 + 16);
  CHECK(zeros.entropy == 0);
  CHECK(zeros.values == 1);
  std::vector<float> many(300);
  std::iota(many.begin(), many.end(), 1.f);
  StoredSizes sizes = StoredSizes::get(many, {1, 300, 0}, 4);
  CHECK_FALSE(sizes.codebook);
  CHECK_FALSE(sizes.csr);
  CHECK_FALSE(sizes.huffman);
  CHECK(sizes.getLeast() == sizes.dense);
  CHECK(sizes.entropy == Approx(std::log2(300)));
  StoredSizes none = StoredSizes::get({}, {0, 5, 0}, 4);
  CHECK(none.elements == 0);
  CHECK(none.getLeast() == 0);
}

TEST_CASE("entropy is that of each block") {
  // Two values in a block, others in the next.
  std::vector<float> matrix(80);
  for (size_t i = 0; i < 80; ++i)
    matrix[i] = float(i % 2 + i / 40 * 2);
  CHECK(StoredSizes::get(matrix, {2, 40, 1}, 4).entropy == Approx(1));
  CHECK(StoredSizes::get(matrix, {2, 40, 0}, 4).entropy == Approx(2));
}
