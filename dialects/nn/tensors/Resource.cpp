//===- Resource.cpp - Blobs as the values of constants --------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/nn/tensors/Resource.h"

#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace nnc;

DenseResourceElementsAttr nn::createResource(RankedTensorType type,
                                             StringRef name,
                                             AsmResourceBlob blob) {
  // The printer writes the key bare: it must look like a keyword.
  std::string key = name.empty() ? "constant" : name.str();
  for (char &c : key)
    if (!llvm::isAlnum(c) && c != '_' && c != '.')
      c = '_';
  if (!llvm::isAlpha(key[0]))
    key.insert(0, 1, '_');
  return DenseResourceElementsAttr::get(type, key, std::move(blob));
}

void nn::freeResource(DenseResourceElementsAttr resource) {
  resource.getRawHandle().getResource()->setBlob(AsmResourceBlob());
}
