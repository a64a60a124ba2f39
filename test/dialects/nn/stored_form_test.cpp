//===- stored_form_test.cpp - Weights come back bit for bit ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/stored_weights/forms/Huffman.h"
#include "dialects/nn/stored_weights/forms/StoredForm.h"
#include "test/dialects/nn/stored_decoder.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <numeric>
#include <random>

using namespace nnc;
using namespace nnc::stored;

namespace {
template <class T> std::vector<T> decode(const StoredForm &form) {
  return decodeStored<T>(form.shape, form.bytes);
}

template <class T>
std::optional<StoredForm> store(StoredKind kind, const std::vector<T> &values,
                                llvm::ArrayRef<int64_t> runs = {}) {
  return StoredForm::get(kind,
                         {reinterpret_cast<const char *>(values.data()),
                          values.size() * sizeof(T)},
                         sizeof(T), runs);
}

template <class T> void checkRandom(unsigned seed) {
  std::mt19937 random(seed);
  int forms[kForms] = {};
  for (int i = 0; i < 300; ++i) {
    size_t count = pickCount(random, 1, i % 10 == 0 ? 30000 : 700);
    std::vector<T> elements = makeElements<T>(random, count);
    for (StoredKind kind : kStoredKinds) {
      auto form = store(kind, elements, {int64_t(1 + random() % 600)});
      if (!form)
        continue;
      INFO("seed " << seed << ", weight " << i << ", " << count
                   << " elements, form " << form->shape.form << ", block "
                   << form->shape.block);
      CHECK(form->bytes.size() < count * sizeof(T));
      CHECK(decode<T>(*form) == elements);
      ++forms[form->shape.form];
    }
  }
  // Bytes have few enough values for a table.
  for (int form = 0; form < kForms; ++form)
    CHECK((forms[form] > 10 || (sizeof(T) == 1 && form == decode_literals)));
}
} // namespace

TEST_CASE("stored weights come back bit for bit") {
  checkRandom<uint8_t>(1);
  checkRandom<uint16_t>(2);
  checkRandom<uint32_t>(3);
}

TEST_CASE("weights of one value are stored in few bytes") {
  for (size_t count : {1000u, 4096u, 4097u, 20000u}) {
    std::vector<uint8_t> elements(count, 7);
    for (StoredKind kind : kStoredKinds) {
      auto form = store(kind, elements);
      REQUIRE(form);
      CHECK(decode<uint8_t>(*form) == elements);
      if (kind != StoredKind::codebook)
        CHECK(form->bytes.size() < 64);
    }
  }
}

TEST_CASE("weights of many values are left as they are") {
  std::mt19937 random(4);
  std::vector<uint32_t> elements(5000);
  for (uint32_t &element : elements)
    element = uint32_t(random());
  for (StoredKind kind : kStoredKinds) {
    CHECK_FALSE(store(kind, elements));
    CHECK_FALSE(isWorthStoring(
        kind,
        {reinterpret_cast<const char *>(elements.data()), 4 * elements.size()},
        4));
  }
  CHECK_FALSE(store(StoredKind::huffman, std::vector<uint8_t>(1)));
}

TEST_CASE("pruned weights of many values are stored without a table") {
  std::mt19937 random(8);
  for (int zeros : {30, 70, 90}) {
    std::vector<uint32_t> elements(20000);
    size_t left = 0;
    for (uint32_t &element : elements)
      if (int(random() % 100) >= zeros) {
        element = uint32_t(random()) | 1;
        ++left;
      }
    llvm::ArrayRef<char> bytes(reinterpret_cast<const char *>(elements.data()),
                               4 * elements.size());
    CHECK(isWorthStoring(StoredKind::csr, bytes, 4));
    auto form = store(StoredKind::csr, elements);
    REQUIRE(form);
    CHECK(form->shape.form == decode_literals);
    CHECK(decode<uint32_t>(*form) == elements);
    // A value, a gap of a few bits, and few entries in long gaps.
    CHECK(form->bytes.size() < 5 * left + 100);
  }
}

TEST_CASE("patterns of N of each M weights are found") {
  std::mt19937 random(9);
  struct {
    int kept, group;
    bool isShared; ///< whether the elements have few values
  } cases[] = {{1, 2, false}, {2, 4, false}, {2, 4, true},  {1, 4, true},
               {3, 8, false}, {4, 8, false}, {2, 16, false}};
  for (auto [kept, group, isShared] : cases) {
    std::vector<uint32_t> elements(size_t(group) * 300);
    for (size_t first = 0; first < elements.size(); first += size_t(group)) {
      std::vector<size_t> places(static_cast<size_t>(group));
      std::iota(places.begin(), places.end(), first);
      std::shuffle(places.begin(), places.end(), random);
      for (int i = 0; i < kept; ++i)
        elements[places[size_t(i)]] =
            1 + (isShared ? uint32_t(random()) % 11 : uint32_t(random()) / 2);
    }
    INFO(kept << " of " << group);
    auto form = store(StoredKind::csr, elements);
    REQUIRE(form);
    CHECK(form->shape.form == decode_pattern);
    CHECK(getFormName(form->shape.form, form->shape.gaps, form->shape.block) ==
          std::to_string(kept) + ":" + std::to_string(group));
    CHECK(form->shape.values == (isShared ? 12 : 1));
    CHECK(decode<uint32_t>(*form) == elements);
  }
}

TEST_CASE("blocks of patterns do not lie across rows") {
  // Each second element of rows of six.
  std::vector<uint32_t> elements(600);
  for (size_t i = 0; i < elements.size(); i += 2)
    elements[i] = uint32_t(i + 1);
  llvm::ArrayRef<char> bytes(reinterpret_cast<const char *>(elements.data()),
                             4 * elements.size());
  auto form = StoredForm::getPattern(bytes, 4, 6);
  REQUIRE(form);
  CHECK(form->shape.block == 2);
  CHECK_FALSE(StoredForm::getPattern(bytes, 4, 5));
  CHECK(decode<uint32_t>(*form) == elements);
}

TEST_CASE("tables of parts hold what one table cannot") {
  // Rows of 72 elements with 16 values each, of which there are 256 in all.
  std::mt19937 random(5);
  std::vector<uint8_t> elements(64 * 72);
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] = uint8_t(i / 72 * 37 + random() % 16);
  auto form = store(StoredKind::codebook, elements, {72});
  REQUIRE(form);
  CHECK(form->shape.block == 72);
  CHECK(form->shape.value_bits == 4);
  CHECK(decode<uint8_t>(*form) == elements);
}

TEST_CASE("blocks have the length that is asked for") {
  std::mt19937 random(7);
  std::vector<uint8_t> elements(5000);
  for (uint8_t &element : elements)
    element = random() % 4 ? 0 : uint8_t(random() % 8);
  for (StoredKind kind : kStoredKinds)
    for (int block : {64, 700, 5000, 6000}) {
      auto form = StoredForm::get(
          kind, {reinterpret_cast<const char *>(elements.data()), 5000}, 1, {},
          block);
      REQUIRE(form);
      CHECK(form->shape.block == std::min(block, 5000));
      CHECK(decode<uint8_t>(*form) == elements);
    }
}

TEST_CASE("Huffman codes come close to the entropy") {
  std::mt19937 random(6);
  std::geometric_distribution<int> skewed(0.3);
  std::vector<uint8_t> elements(50000);
  std::vector<int64_t> counts(256);
  for (uint8_t &element : elements)
    ++counts[element = uint8_t(std::min(skewed(random), 255))];
  auto form = store(StoredKind::huffman, elements);
  REQUIRE(form);
  CHECK(decode<uint8_t>(*form) == elements);
  double least = getEntropy(counts) / 8 * double(elements.size());
  CHECK(double(form->bytes.size()) < 1.03 * least + 300);
}

TEST_CASE("lengths of codes are limited") {
  // Fibonacci's numbers make Huffman's codes as long as they can be.
  std::vector<int64_t> counts = {1, 1};
  while (counts.size() < 30)
    counts.push_back(counts.back() + counts[counts.size() - 2]);
  REQUIRE(*llvm::max_element(getHuffmanLengths(counts)) > 11);
  for (int most : {5, 8, 11}) {
    std::vector<int> lengths = getLimitedLengths(counts, most);
    double room = 1;
    for (int length : lengths) {
      CHECK((length >= 1 && length <= most));
      room -= std::ldexp(1.0, -length);
    }
    CHECK(room >= 0);
  }
  CHECK(getLimitedLengths({5, 0, 0}, 4) == std::vector<int>{0, 0, 0});
  CHECK(getLimitedLengths({4, 2, 1, 1}, 4) == std::vector<int>{1, 2, 3, 3});
}
