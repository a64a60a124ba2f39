//===- stored_check_test.cpp - Damage to stored weights is found ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Stored weights are damaged at random. Either the damage is found, or decoders
// stay within what they read and write: sanitizers watch them in memory of
// exactly these sizes.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/stored_weights/forms/StoredCheck.h"
#include "dialects/nn/stored_weights/forms/StoredForm.h"
#include "test/dialects/nn/stored_decoder.h"

#include <catch2/catch.hpp>

using namespace nnc;
using namespace nnc::stored;

namespace {
template <class T>
std::optional<StoredForm> store(StoredKind kind,
                                const std::vector<T> &elements) {
  return StoredForm::get(kind,
                         {reinterpret_cast<const char *>(elements.data()),
                          elements.size() * sizeof(T)},
                         sizeof(T), {});
}

std::string find(const StoredForm &form, int size) {
  std::string problem =
      findWrongShape(form.shape, int64_t(form.bytes.size()), size);
  return problem.empty() ? findDamage(form.shape, form.bytes, size) : problem;
}

/// Returns the form with bytes cut off, bytes changed or a field of the shape
/// changed.
StoredForm damage(StoredForm form, std::mt19937 &random) {
  auto pick = [&](size_t most) { return size_t(random()) % most; };
  switch (pick(4)) {
  case 0:
    form.bytes.resize(pick(form.bytes.size()));
    break;
  case 1: // In front, where tables are, half of the time.
    for (size_t left = 1 + pick(4); left-- > 0;)
      form.bytes[pick(pick(2) ? std::min<size_t>(form.bytes.size(), 600)
                              : form.bytes.size())] = uint8_t(random());
    break;
  case 2:
    form.bytes[pick(form.bytes.size())] ^= uint8_t(1u << pick(8));
    break;
  default:
    size_t field = pick(8);
    form.shape.visit([&](const char *, int &value) {
      if (field-- == 0)
        value = pick(2) ? value + int(pick(9)) - 4 : int(random());
    });
  }
  return form;
}

/// The number of damaged forms, and of those in which the check found a
/// problem.
struct Tally {
  int all = 0, found = 0;
};

template <class T>
void tryDamage(unsigned seed, int rounds, Tally tally[kForms]) {
  std::mt19937 random(seed);
  for (int i = 0; i < rounds; ++i) {
    size_t count = pickCount(random, 2, i % 10 == 0 ? 20000 : 900);
    std::vector<T> elements = makeElements<T>(random, count);
    for (StoredKind kind : kStoredKinds) {
      auto form = store(kind, elements);
      if (!form)
        continue;
      INFO("seed " << seed << ", weight " << i << ", form "
                   << form->shape.form);
      CHECK(find(*form, sizeof(T)) == "");
      for (int j = 0; j < 20; ++j) {
        StoredForm damaged = damage(*form, random);
        Tally &own = tally[form->shape.form];
        ++own.all;
        // The type of the result says how many elements there are.
        if (damaged.shape.elements != form->shape.elements ||
            !find(damaged, sizeof(T)).empty())
          ++own.found;
        else
          decodeStored<T>(damaged.shape, damaged.bytes);
      }
    }
  }
}

void tryAll(unsigned seed, int rounds) {
  Tally tally[kForms];
  tryDamage<uint8_t>(seed, rounds, tally);
  tryDamage<uint16_t>(seed + 1, rounds, tally);
  tryDamage<uint32_t>(seed + 2, rounds, tally);
  for (int form = 0; form < kForms; ++form) {
    const Tally &own = tally[form];
    INFO("form " << form);
    CHECK(own.all > 2 * rounds);
    // Values may be changed without any harm but to themselves.
    CHECK(own.found > own.all / 5);
    CHECK(own.found < own.all);
  }
}

/// Returns a form of 100 elements, of which every fourth one is not zero. If
/// all elements have Huffman codes, they have four values that are about
/// equally frequent.
StoredForm makeForm(StoredKind kind, int form) {
  std::vector<uint32_t> elements(100);
  for (size_t i = 0; i < elements.size(); ++i)
    if (form == decode_huffman)
      elements[i] = uint32_t((i + i / 3) % 4);
    else if (i % 4 == 0)
      elements[i] = uint32_t(1 + i % 3);
  // A given block keeps nnc from storing rows of entries as a pattern.
  llvm::ArrayRef<char> bytes(reinterpret_cast<const char *>(elements.data()),
                             4 * elements.size());
  auto found =
      StoredForm::get(kind, bytes, 4, {}, kind == StoredKind::csr ? 100 : 0);
  REQUIRE(found);
  REQUIRE(found->shape.form == form);
  REQUIRE(find(*found, 4) == "");
  return *found;
}

template <class T> void setNumber(StoredForm &form, int64_t at, T number) {
  std::memcpy(form.bytes.data() + at, &number, sizeof number);
}
} // namespace

TEST_CASE("what damaged weights pass is decoded within its memory") {
  tryAll(1, 40);
}

TEST_CASE("many damaged weights", "[.slow]") {
  for (unsigned seed = 10; seed < 60; seed += 3)
    tryAll(seed, 400);
}

TEST_CASE("weights that are cut off are found") {
  for (auto [kind, number] : {std::pair(StoredKind::codebook, decode_codes),
                              {StoredKind::csr, decode_entries},
                              {StoredKind::huffman, decode_huffman}}) {
    StoredForm form = makeForm(kind, number);
    form.bytes.pop_back();
    CHECK(find(form, 4) != "");
    form.bytes.clear();
    CHECK(find(form, 4).find("bytes at least") != std::string::npos);
  }
}

TEST_CASE("shapes that cannot be are found") {
  StoredForm form = makeForm(StoredKind::codebook, decode_codes);
  REQUIRE(form.shape.value_bits == 2);
  auto findChanged = [&](auto change) {
    StoredForm changed = form;
    change(changed.shape);
    return find(changed, 4);
  };
  CHECK(findChanged([](decode_shape &s) { s.form = kForms; }) ==
        "has 6 as 'form', which is not between 0 and 5");
  CHECK(findChanged([](decode_shape &s) { s.values = 5; }) ==
        "has 5 as 'values', which is not between 1 and 4");
  CHECK(findChanged([](decode_shape &s) { s.value_bits = 9; }) ==
        "has 9 as 'value_bits', which is not between 1 and 8");
  CHECK(findChanged([](decode_shape &s) { s.block = 101; }) ==
        "has 101 as 'block', which is not between 1 and 100");
  CHECK(findChanged([](decode_shape &s) { s.elements = -1; }) != "");
}

TEST_CASE("codes beyond a table are found") {
  std::vector<uint32_t> elements(100, 7);
  elements[0] = 8, elements[1] = 9;
  auto form = store(StoredKind::codebook, elements);
  REQUIRE(form);
  REQUIRE(form->shape.values == 3);
  form->bytes[12 + 5] = 0x0c;
  CHECK(find(*form, 4) ==
        "has a block 0 of which the code 21 is beyond its table of 3 values");
}

TEST_CASE("places, gaps and values of entries out of range are found") {
  StoredForm form = makeForm(StoredKind::csr, decode_entries);
  const decode_places at(form.shape, 4);
  StoredForm beyond = form;
  setNumber<uint32_t>(beyond, at.blocks, 1000000);
  CHECK(find(beyond, 4) == "has a block 0 of which the place is beyond the "
                           "bytes");
  // One entry more, of the zeros behind the others.
  StoredForm more = form;
  setNumber<uint16_t>(more, at.streams, 200);
  CHECK(find(more, 4).find("block 0 of which the entry") != std::string::npos);
  // 26 gaps of three elements each.
  StoredForm gaps = form;
  setNumber<uint16_t>(gaps, at.streams, 26);
  std::fill(gaps.bytes.begin() + at.streams + 2, gaps.bytes.end(), 0xff);
  CHECK(find(gaps, 4) ==
        "has a block 0 of which the entry 25 is beyond its 100 elements");
}

TEST_CASE("counts and gaps of literal entries out of range are found") {
  std::vector<uint32_t> elements(99);
  for (size_t i = 0; i < elements.size(); i += 4)
    elements[i] = uint32_t(i + 1000);
  auto form = store(StoredKind::csr, elements);
  REQUIRE(form);
  REQUIRE(form->shape.form == decode_literals);
  REQUIRE(form->shape.gap_bits == 2);
  REQUIRE(find(*form, 4) == "");
  const decode_literal_places at(form->shape, 4);
  for (uint32_t count : {26u, 0xffffffffu}) {
    StoredForm more = *form;
    setNumber<uint32_t>(more, at.counts + 4, count);
    CHECK(find(more, 4) == "has a block 0 of which the entries are not among "
                           "the 25 that there are");
  }
  StoredForm late = *form;
  setNumber<uint32_t>(late, at.counts, 1);
  CHECK(find(late, 4).find("not among the 25") != std::string::npos);
  StoredForm gaps = *form;
  gaps.bytes[size_t(at.gaps)] |= 3;
  CHECK(find(gaps, 4) ==
        "has a block 0 of which the entry 24 is beyond its 99 elements");
  StoredForm wide = *form;
  wide.shape.value_bits = 16;
  CHECK(find(wide, 4) ==
        "has 16 as 'value_bits', which is not between 32 and 32");
  StoredForm cut = *form;
  cut.bytes.pop_back();
  CHECK(find(cut, 4).find("bytes at least") != std::string::npos);
}

TEST_CASE("shapes and values of patterns that cannot be are found") {
  // Two of each four elements have one of five values.
  std::vector<uint32_t> elements(400);
  for (size_t i = 0; i < elements.size(); i += 4)
    for (size_t j : {i * 7 % 3, size_t(3)})
      elements[i + j] = uint32_t(1 + (i + i / 11 + j) % 5);
  auto form = store(StoredKind::csr, elements);
  REQUIRE(form);
  REQUIRE(form->shape.form == decode_pattern);
  REQUIRE(find(*form, 4) == "");
  auto findChanged = [&](auto change) {
    StoredForm changed = *form;
    change(changed.shape);
    return find(changed, 4);
  };
  CHECK(findChanged([](decode_shape &s) { s.gap_bits = 5; }) ==
        "has 5 as 'gap_bits', which is not between 1 and 4");
  CHECK(findChanged([](decode_shape &s) { s.block = 8; }) ==
        "has 8 as 'block', which is not between 4 and 4");
  CHECK(findChanged([](decode_shape &s) { s.gaps = 5; }) ==
        "has 5 as 'gaps', which is not between 1 and 4");
  CHECK(findChanged([](decode_shape &s) { s.gaps = 1; }) ==
        "has 200 as 'entries', which is not between 100 and 100");
  CHECK(findChanged([](decode_shape &s) { s.elements = 402; }) ==
        "has 402 elements, which are not a multiple of its block of 4");
  StoredForm code = *form;
  code.bytes[size_t(decode_pattern_places(form->shape, 4).values)] |= 7;
  CHECK(find(code, 4) == "has an entry 0 whose value is beyond the table of 6");
  StoredForm cut = *form;
  cut.bytes.pop_back();
  CHECK(find(cut, 4).find("bytes at least") != std::string::npos);
}

TEST_CASE("tables of Huffman codes that are damaged are found") {
  StoredForm form = makeForm(StoredKind::huffman, decode_huffman);
  const decode_places at(form.shape, 4);
  StoredForm crowded = form;
  setNumber<uint16_t>(crowded, at.value_counts, 3);
  CHECK(find(crowded, 4) ==
        "has more Huffman codes of values than there can be");
  StoredForm few = form;
  setNumber<uint16_t>(few, at.value_counts, 0);
  CHECK(find(few, 4).find("has Huffman codes of") == 0);
  StoredForm cut = form;
  cut.bytes.resize(cut.bytes.size() - 4);
  CHECK(find(cut, 4).find("is none, or cut off") != std::string::npos);
}
