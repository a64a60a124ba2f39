//===- Load.cpp - Reads a model file --------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The file is read once, in pieces. The parsed model holds the only copy of the
// weights, and the blobs of the IR take over its memory.
//
//===----------------------------------------------------------------------===//

#include "frontends/onnx/file/Load.h"

#include "frontends/common/Frontend.h"

#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "onnx/defs/parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA256.h"

#include <limits>

using namespace mlir;
using namespace nnc::onnx;

namespace {

/// A stream that hashes a file while protobuf reads it.
class HashingFile : public google::protobuf::io::CopyingInputStream {
public:
  explicit HashingFile(llvm::sys::fs::file_t file) : file(file) {}

  int Read(void *buffer, int size) override {
    auto read = llvm::sys::fs::readNativeFile(
        file, MutableArrayRef(static_cast<char *>(buffer), size));
    if (!read) {
      problem = llvm::toString(read.takeError());
      return -1;
    }
    hash.update(ArrayRef(static_cast<const uint8_t *>(buffer), *read));
    return static_cast<int>(*read);
  }

  llvm::sys::fs::file_t file;
  llvm::SHA256 hash;
  std::string problem; ///< why a read failed
};

} // namespace

static std::string toHex(std::array<uint8_t, 32> digest) {
  return llvm::toHex(digest, /*LowerCase=*/true);
}

/// Returns the name of a field in `message` whose text is not UTF-8, which
/// protobuf and everything that prints it require, or an empty string if all
/// are.
static std::string findBadText(const google::protobuf::Message &message) {
  const auto *reflection = message.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor *> fields;
  reflection->ListFields(message, &fields);
  for (const auto *field : fields) {
    bool isText = field->type() == field->TYPE_STRING;
    if (!isText && field->type() != field->TYPE_MESSAGE)
      continue;
    bool isList = field->is_repeated();
    int count = isList ? reflection->FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      if (isText) {
        std::string text =
            isList ? reflection->GetRepeatedString(message, field, i)
                   : reflection->GetString(message, field);
        if (!llvm::json::isUTF8(text))
          return field->full_name();
        continue;
      }
      std::string bad =
          findBadText(isList ? reflection->GetRepeatedMessage(message, field, i)
                             : reflection->GetMessage(message, field));
      if (!bad.empty())
        return bad;
    }
  }
  return "";
}

/// Replaces the long name of the default domain by the short one, so that the
/// rest of the frontend sees one name.
template <class Nodes> static void normalizeDomains(Nodes *nodes) {
  for (::onnx::NodeProto &node : *nodes) {
    if (node.domain() == "ai.onnx")
      node.clear_domain();
    for (auto &attribute : *node.mutable_attribute()) {
      if (attribute.has_g())
        normalizeDomains(attribute.mutable_g()->mutable_node());
      for (auto &graph : *attribute.mutable_graphs())
        normalizeDomains(graph.mutable_node());
    }
  }
}

template <class Imports> static void normalizeImports(Imports *imports) {
  for (auto &import : *imports)
    if (import.domain() == "ai.onnx")
      import.clear_domain();
}

static void normalize(::onnx::ModelProto &model) {
  normalizeDomains(model.mutable_graph()->mutable_node());
  for (auto &function : *model.mutable_functions()) {
    normalizeDomains(function.mutable_node());
    normalizeImports(function.mutable_opset_import());
  }
  // The first two versions of the format had a single operator set.
  if (model.ir_version() < 3 && model.opset_import().empty())
    model.add_opset_import()->set_version(1);
  normalizeImports(model.mutable_opset_import());
}

static std::optional<LoadedModel> loadText(StringRef path, Problems &problems) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer) {
    problems.report(ImportStatus::broken)
        << "cannot be read: " << buffer.getError().message();
    return std::nullopt;
  }
  LoadedModel model;
  StringRef text = (*buffer)->getBuffer();
  std::string problem;
  try {
    ::onnx::OnnxParser parser({text.data(), text.size()});
    auto status = parser.Parse(model.proto);
    if (!status.IsOK())
      problem = status.ErrorMessage();
    else if (!parser.EndOfInput())
      problem = "there is text behind the model";
  } catch (const std::exception &error) {
    problem = error.what();
  }
  if (!problem.empty()) {
    problems.report(ImportStatus::broken)
        << "is not a model in ONNX's text syntax: " << problem;
    return std::nullopt;
  }
  model.sha256 = toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(text)));
  return model;
}

static std::optional<LoadedModel> loadBinary(StringRef path,
                                             Problems &problems) {
  auto fail = [&](const Twine &why) {
    problems.report(ImportStatus::broken) << why;
    return std::nullopt;
  };
  auto file = llvm::sys::fs::openNativeFileForRead(path);
  if (!file)
    return fail("cannot be read: " + llvm::toString(file.takeError()));
  HashingFile source(*file);
  LoadedModel model;
  bool parsed = false;
  try {
    google::protobuf::io::CopyingInputStreamAdaptor stream(&source, 1 << 20);
    parsed = model.proto.ParseFromZeroCopyStream(&stream);
  } catch (const std::exception &error) {
    source.problem = error.what();
  }
  llvm::sys::fs::closeFile(*file);
  if (!source.problem.empty())
    return fail("cannot be read: " + source.problem);
  if (!parsed)
    return fail("is not an ONNX model, or is damaged or truncated: protobuf "
                "cannot parse it");
  model.sha256 = toHex(source.hash.final());
  return model;
}

std::optional<LoadedModel> nnc::onnx::loadModel(StringRef path,
                                                Problems &problems) {
  auto fail = [&](ImportStatus status, const Twine &why) {
    problems.report(status) << why;
    return std::nullopt;
  };
  auto start = readFileStart(path);
  if (!start)
    return fail(ImportStatus::broken,
                "cannot be read: " + start.getError().message());
  if (start->size > std::numeric_limits<int32_t>::max())
    return fail(ImportStatus::limit,
                "is larger than 2 GB, the most that protobuf reads: save the "
                "model with its weights as external data");
  auto model =
      start->isText() ? loadText(path, problems) : loadBinary(path, problems);
  if (!model)
    return std::nullopt;
  if (std::string field = findBadText(model->proto); !field.empty())
    return fail(ImportStatus::broken,
                "holds text that is not UTF-8, in a field " + field);
  if (model->proto.has_graph())
    normalize(model->proto);
  return model;
}
