//===- Metadata.cpp - What a compressed model says of itself --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/compress/Metadata.h"

#include "llvm/Support/raw_ostream.h"

using namespace nnc::onnx;
namespace json = llvm::json;

void nnc::onnx::addCompression(::onnx::ModelProto &model,
                               json::Object weights) {
  ::onnx::StringStringEntryProto *entry = nullptr;
  for (auto &each : *model.mutable_metadata_props())
    if (each.key() == kCompressionKey)
      entry = &each;
  if (!entry) {
    entry = model.add_metadata_props();
    entry->set_key(kCompressionKey);
  } else if (auto earlier = json::parse(entry->value())) {
    if (const json::Object *known = earlier->getAsObject())
      for (const auto &[name, value] : *known)
        weights.try_emplace(name, value);
  } else {
    llvm::consumeError(earlier.takeError());
  }
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(weights));
  entry->set_value(text);
}
