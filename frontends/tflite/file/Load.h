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

/// A file whose flatbuffer is sound: every offset in it stays inside.
struct LoadedModel {
  std::shared_ptr<llvm::MemoryBuffer> file;
  const fb::Model *model = nullptr;
  std::string sha256;

  /// Returns the bytes of a buffer of the model, which lie in the flatbuffer or
  /// behind it; nullopt if they reach beyond the file. Buffer 0 is empty, as
  /// are those of values that are computed.
  std::optional<llvm::StringRef> getBuffer(uint32_t index) const;
};

/// Reads the file at `path`; nullopt, and a report, if it is not sound.
std::optional<LoadedModel> loadModel(llvm::StringRef path, Problems &problems);

/// Checks that all numbers by which tables of the model name tensors,
/// operators, buffers and subgraphs are in range, and reports those that are
/// not.
bool checkModel(const LoadedModel &loaded, Problems &problems);

/// Returns the text of a field that may be absent, with bytes that are not
/// UTF-8 replaced.
std::string getText(const flatbuffers::String *text);

/// Returns the name of a subgraph's tensor for messages: its own, or its
/// number.
std::string getTensorName(const fb::SubGraph &graph, int32_t tensor);

/// Returns the list behind a field, or an empty one where it is absent.
template <class T>
llvm::ArrayRef<T> getList(const flatbuffers::Vector<T> *list) {
  return list ? llvm::ArrayRef<T>(list->data(), list->size())
              : llvm::ArrayRef<T>();
}

} // namespace nnc::tflite

#endif // NNC_FRONTENDS_TFLITE_FILE_LOAD_H
