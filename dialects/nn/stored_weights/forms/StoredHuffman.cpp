//===- StoredHuffman.cpp - Weights as Huffman codes -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/stored_weights/forms/HuffmanCodes.h"

#include "llvm/Support/MathExtras.h"

using namespace nnc;
using namespace nnc::stored;

StoredForm nnc::stored::storeHuffman(const Codebook &book, int64_t block) {
  std::vector<int64_t> counts = book.countValues();
  HuffmanCodes codes = HuffmanCodes::get(counts);
  StoredForm form;
  setBlocks(form, decode_huffman, book.getCount(), block);
  form.shape.values = static_cast<int>(codes.order.size());
  form.shape.value_bits = codes.most;
  for (size_t symbol : codes.order)
    addNumber(form.bytes, book.values[symbol], book.size);
  form.bytes.resize(llvm::alignTo(form.bytes.size(), 2));
  codes.addCounts(form.bytes);
  addBlocks(form, [&](int64_t begin, int64_t end) {
    BitWriter writer(form.bytes);
    for (int64_t i = begin; i < end; ++i)
      codes.write(writer, book.places[i]);
  });
  return form;
}
