//===- StoredWriters.cpp - Code that all stored forms share ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/stored_weights/forms/StoredWriters.h"

#include "runtime/routines/stored_weights/decode/plan.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace nnc;
using namespace nnc::stored;

int nnc::stored::getNumberBits(size_t count) {
  return std::max(1, static_cast<int>(llvm::Log2_64_Ceil(count)));
}

void nnc::stored::addNumber(std::vector<uint8_t> &bytes, uint32_t number,
                            int size) {
  for (int byte = 0; byte < size; ++byte)
    bytes.push_back(uint8_t(number >> 8 * byte));
}

void nnc::stored::setBlocks(StoredForm &form, int number, int64_t elements,
                            int64_t block) {
  form.shape.form = number;
  form.shape.elements = static_cast<int>(elements);
  form.shape.block = static_cast<int>(std::min(block, elements));
}

void nnc::stored::addBlocks(StoredForm &form,
                            llvm::function_ref<void(int64_t, int64_t)> write) {
  form.bytes.resize(llvm::alignTo(form.bytes.size(), 4));
  size_t places = form.bytes.size();
  form.bytes.resize(places + 4 * decode_blocks(form.shape));
  for (int64_t begin = 0; begin < form.shape.elements;
       begin += form.shape.block) {
    for (int byte = 0; byte < 4; ++byte)
      form.bytes[places++] = uint8_t(form.bytes.size() >> 8 * byte);
    write(begin,
          std::min<int64_t>(begin + form.shape.block, form.shape.elements));
  }
  form.bytes.insert(form.bytes.end(), decode_behind, 0);
}
