//===- Load.cpp - Reads a TFLite file -------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tflite/file/Load.h"

#include "frontends/tflite/Ops.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace nnc::tflite;

std::string nnc::tflite::getText(const flatbuffers::String *text) {
  return text ? llvm::json::fixUTF8(StringRef(text->c_str(), text->size()))
              : std::string();
}

std::string nnc::tflite::getTensorName(const fb::SubGraph &graph,
                                       int32_t tensor) {
  std::string name = getText(graph.tensors()->Get(tensor)->name());
  return name.empty() ? "tensor" + std::to_string(tensor) : name;
}

std::optional<StringRef> LoadedModel::getBuffer(uint32_t index) const {
  const fb::Buffer *buffer = model->buffers()->Get(index);
  ArrayRef<uint8_t> data = getList(buffer->data());
  // In files with buffers behind the flatbuffer, an offset of 1 means that the
  // buffer has no data there.
  if (!data.empty() || buffer->offset() <= 1 || buffer->size() == 0)
    return StringRef(reinterpret_cast<const char *>(data.data()), data.size());
  StringRef all = file->getBuffer();
  if (buffer->offset() > all.size() ||
      buffer->size() > all.size() - buffer->offset())
    return std::nullopt;
  return all.substr(buffer->offset(), buffer->size());
}

std::optional<LoadedModel> nnc::tflite::loadModel(StringRef path,
                                                  Problems &problems) {
  LoadedModel loaded;
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file) {
    problems.report(ImportStatus::broken)
        << "cannot be read: " << file.getError().message();
    return std::nullopt;
  }
  loaded.file = std::move(*file);
  StringRef bytes = loaded.file->getBuffer();
  const auto *data = reinterpret_cast<const uint8_t *>(bytes.data());
  // Offsets in a flatbuffer have 31 bits; larger files hold buffers behind it.
  size_t checked = std::min<size_t>(bytes.size(), FLATBUFFERS_MAX_BUFFER_SIZE);
  flatbuffers::Verifier verifier(data, checked, /*max_depth=*/64,
                                 /*max_tables=*/10000000);
  if (!fb::VerifyModelBuffer(verifier)) {
    problems.report(ImportStatus::broken)
        << "is not a sound TFLite model: its flatbuffer is damaged or not "
           "complete; fetch or convert it again";
    return std::nullopt;
  }
  loaded.model = fb::GetModel(data);
  loaded.sha256 = llvm::toHex(llvm::SHA256::hash(ArrayRef(data, bytes.size())),
                              /*LowerCase=*/true);
  return loaded;
}

namespace {
/// A checker of the indices in a model.
class Checker {
public:
  Checker(const LoadedModel &loaded, Problems &problems)
      : model(*loaded.model), loaded(loaded), problems(problems) {}

  bool run() {
    if (model.version() != 3)
      return fail("", "has version " + Twine(model.version()) +
                          " of the format; nnc reads version 3");
    if (!model.subgraphs() || model.subgraphs()->size() == 0)
      return fail("", "has no subgraph");
    if (!model.buffers() || model.buffers()->size() == 0)
      return fail("", "has no list of buffers");
    for (const fb::SubGraph *graph : *model.subgraphs())
      checkGraph(*graph);
    return isSound;
  }

private:
  bool fail(StringRef place, const Twine &why) {
    problems.report(ImportStatus::broken, problems.getLoc(place)) << why;
    return isSound = false;
  }
  void checkGraph(const fb::SubGraph &graph);
  void checkTensor(const fb::SubGraph &graph, int32_t index);
  void checkOperator(const fb::SubGraph &graph, uint32_t index);
  /// Checks that `list` holds indices of tensors; -1 stands for an absent one.
  void checkTensors(const fb::SubGraph &graph, ArrayRef<int32_t> list,
                    StringRef place, StringRef what, bool mayBeAbsent);

  const fb::Model &model;
  const LoadedModel &loaded;
  Problems &problems;
  bool isSound = true;
  llvm::DenseSet<int32_t> computed;
};
} // namespace

static int64_t getSize(const fb::SubGraph &graph) {
  return graph.tensors() ? graph.tensors()->size() : 0;
}

void Checker::checkTensors(const fb::SubGraph &graph, ArrayRef<int32_t> list,
                           StringRef place, StringRef what, bool mayBeAbsent) {
  for (int32_t tensor : list)
    if (tensor >= getSize(graph) || tensor < (mayBeAbsent ? -1 : 0))
      fail(place, "has tensor " + Twine(tensor) + " among its " + what +
                      "; the subgraph has " + Twine(getSize(graph)));
}

void Checker::checkTensor(const fb::SubGraph &graph, int32_t index) {
  const fb::Tensor *tensor = graph.tensors()->Get(index);
  std::string name = getTensorName(graph, index);
  for (int32_t size : getList(tensor->shape()))
    if (size < 0) {
      fail(name, "has a negative size: " + Twine(size));
      break;
    }
  if (tensor->buffer() >= model.buffers()->size())
    fail(name, "has buffer " + Twine(tensor->buffer()) + "; the model has " +
                   Twine(model.buffers()->size()));
  else if (!loaded.getBuffer(tensor->buffer()))
    fail(name, "has a buffer that reaches beyond the end of the file");
}

void Checker::checkOperator(const fb::SubGraph &graph, uint32_t index) {
  const fb::Operator *op = graph.operators()->Get(index);
  std::string place = "operator" + std::to_string(index);
  if (!model.operator_codes() ||
      op->opcode() >= model.operator_codes()->size()) {
    fail(place, "has an operator code that is not in the model's list");
    return;
  }
  checkTensors(graph, getList(op->inputs()), place, "inputs", true);
  checkTensors(graph, getList(op->outputs()), place, "outputs", true);
  checkTensors(graph, getList(op->intermediates()), place, "intermediates",
               true);
  for (int32_t output : getList(op->outputs()))
    if (output >= 0 && output < getSize(graph) &&
        !computed.insert(output).second)
      fail(getTensorName(graph, output), "is computed by two operators");
}

void Checker::checkGraph(const fb::SubGraph &graph) {
  std::string name = getText(graph.name());
  for (int32_t i = 0; i < getSize(graph); ++i)
    checkTensor(graph, i);
  checkTensors(graph, getList(graph.inputs()), name, "inputs", false);
  checkTensors(graph, getList(graph.outputs()), name, "outputs", false);
  computed.clear();
  for (uint32_t i = 0; graph.operators() && i < graph.operators()->size(); ++i)
    checkOperator(graph, i);
}

bool nnc::tflite::checkModel(const LoadedModel &loaded, Problems &problems) {
  return Checker(loaded, problems).run();
}
