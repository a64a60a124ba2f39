//===- Load.h - Reads a TFLite file ---------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TFLITE_FILE_LOAD_H
#define NNC_FRONTENDS_TFLITE_FILE_LOAD_H

#include "frontends/common/Problems.h"
#include "frontends/tflite/schema_generated.h"

#include "mlir/IR/AsmState.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace nnc::tflite {
using namespace nnc::frontends;

/// A model file with a valid flatbuffer: all offsets point into the buffer.
struct LoadedModel {
  std::shared_ptr<llvm::MemoryBuffer> file;
  const fb::Model *model = nullptr;
  std::string sha256;

  /// Returns the bytes of a buffer of the model, which lie in the flatbuffer or
  /// behind it; nullopt if they reach beyond the file. Buffer 0 and the buffers
  /// of computed tensors are empty.
  std::optional<llvm::StringRef> getBuffer(uint32_t index) const;
};

/// Reads the file at `path`. Returns nullopt after an error if it is not valid.
std::optional<LoadedModel> loadModel(llvm::StringRef path, Problems &problems);

/// Checks that all indices of tensors, operators, buffers and subgraphs in the
/// model are in range. Reports those that are not and returns false.
bool checkModel(const LoadedModel &loaded, Problems &problems);

/// Returns the text of a field that may be absent, with bytes that are not
/// UTF-8 replaced.
std::string getText(const flatbuffers::String *text);

/// Returns the name of a subgraph's tensor for messages: its own, or its
/// number.
std::string getTensorName(const fb::SubGraph &graph, int32_t tensor);

/// Returns the list of a field, or an empty list if the field is absent.
template <class T>
llvm::ArrayRef<T> getList(const flatbuffers::Vector<T> *list) {
  return list ? llvm::ArrayRef<T>(list->data(), list->size())
              : llvm::ArrayRef<T>();
}

} // namespace nnc::tflite

#endif // NNC_FRONTENDS_TFLITE_FILE_LOAD_H
