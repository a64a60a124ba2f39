//===- Metadata.cpp - Metadata of a compressed model ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/compress/Metadata.h"

#include "frontends/common/ParseJson.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/raw_ostream.h"

using namespace nnc::onnx;
namespace json = llvm::json;

json::Object nnc::onnx::readCompression(const ::onnx::ModelProto &model,
                                        const frontends::Problems &problems) {
  for (const auto &entry : model.metadata_props()) {
    if (entry.key() != kCompressionKey)
      continue;
    llvm::Expected<json::Value> value = frontends::parseJson(entry.value());
    if (json::Object *known = value ? value->getAsObject() : nullptr)
      return std::move(*known);
    mlir::emitWarning(problems.getLoc())
        << "its metadata '" << kCompressionKey << "' are no object of JSON"
        << (value ? "" : ": " + llvm::toString(value.takeError()))
        << "; the compressed model says what this run does instead. If an "
           "earlier run compressed other weights, give all options again to "
           "the model that it read";
  }
  return {};
}

void nnc::onnx::setCompression(::onnx::ModelProto &model,
                               json::Object weights) {
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(weights));
  for (auto &entry : *model.mutable_metadata_props())
    if (entry.key() == kCompressionKey)
      return entry.set_value(text);
  ::onnx::StringStringEntryProto &entry = *model.add_metadata_props();
  entry.set_key(kCompressionKey);
  entry.set_value(text);
}
