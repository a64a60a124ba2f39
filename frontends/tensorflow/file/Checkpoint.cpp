//===- Checkpoint.cpp - The values of a SavedModel's variables ------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The entry of a checkpoint that belongs to a variable is stated by the graph
// alone: its nodes RestoreV2 read entries by their keys, and assign the results
// to variables. nnc does not run these nodes but follows them. In models of
// TensorFlow 2 they are in a function, to which the variables are passed.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/file/Checkpoint.h"

#include "frontends/common/Elements.h"
#include "frontends/common/Limits.h"
#include "frontends/tensorflow/file/SliceKey.h"
#include "frontends/tensorflow/file/Table.h"
#include "frontends/tensorflow/graph/Types.h"

#include "google/protobuf/stubs/logging.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace nnc::tensorflow;

static constexpr llvm::StringLiteral kIndex = "variables/variables.index";

Checkpoint::Checkpoint(std::shared_ptr<const LoadedModel> model,
                       WeightFiles &files, Problems &problems)
    : model(std::move(model)), files(files), problems(problems) {}

//===----------------------------------------------------------------------===//
// The index
//===----------------------------------------------------------------------===//

void Checkpoint::readIndex() {
  isRead = true;
  auto fail = [&](const Twine &why) {
    problems.reportLasting(ImportStatus::broken, problems.getLoc())
        << "has a file " << kIndex << " that " << why;
  };
  if (model->savedModel.empty()) {
    problems.reportLasting(ImportStatus::unsupported, problems.getLoc())
        << "is a graph whose variables are in other files; save it as a "
           "SavedModel, or freeze it "
           "(convert_variables_to_constants_v2)";
    return;
  }
  SmallString<256> path(llvm::sys::path::parent_path(model->savedModel));
  llvm::sys::path::append(path, kIndex);
  // Opening a pipe could wait forever.
  if (!llvm::sys::fs::is_regular_file(path)) {
    problems.reportLasting(ImportStatus::broken, problems.getLoc())
        << "reads variables, and has no file " << kIndex
        << " beside its graph; fetch or save the whole folder again";
    return;
  }
  auto bytes = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                           /*RequiresNullTerminator=*/false);
  if (!bytes)
    return fail("cannot be read: " + bytes.getError().message());
  auto table = readTable((*bytes)->getBuffer());
  if (!table)
    return fail(llvm::toString(table.takeError()));
  // Protobuf would print what it finds wrong.
  google::protobuf::LogSilencer silencer;
  pb::BundleHeaderProto header;
  auto first = table->find("");
  if (first == table->end() || !header.ParseFromString(first->second) ||
      header.num_shards() < 1)
    return fail("has no header");
  if (header.endianness() != pb::BundleHeaderProto::LITTLE)
    return fail("is of a big-endian machine, which nnc does not read");
  shards = header.num_shards();
  for (const auto &entry : *table) {
    if (entry.getKey().empty())
      continue;
    if (!entries[entry.getKey()].ParseFromString(entry.getValue()))
      return fail("has a damaged entry '" + entry.getKey() + "'");
  }
  findKeys();
  isSound = true;
}

namespace {
/// The nodes of the graph or of a function, for the search of assignments.
class RestoreFinder {
public:
  template <class Nodes> explicit RestoreFinder(const Nodes &list) {
    for (const pb::NodeDef &node : list)
      nodes[node.name()] = &node;
  }

  /// Returns the node of a tensor, behind nodes that give on what they read;
  /// null if it is an argument of the function. `name` becomes the name of the
  /// node or argument, and `output` the number of the result.
  const pb::NodeDef *trace(StringRef tensor, StringRef &name, int &output) {
    for (int steps = 0; steps < 16; ++steps) {
      auto [node, rest] = tensor.split(':');
      name = node;
      output = 0;
      StringRef number = rest.contains(':') ? rest.rsplit(':').second : rest;
      if (!number.empty() && number.getAsInteger(10, output))
        return nullptr;
      auto found = nodes.find(node);
      if (found == nodes.end())
        return nullptr;
      StringRef op = found->second->op();
      if ((op != "Identity" && op != "Cast" && op != "Reshape") ||
          found->second->input().empty())
        return found->second;
      tensor = found->second->input(0);
    }
    return nullptr;
  }

  /// Calls `take` with the variable and the key of each assignment of a
  /// restored value. The variable is a node or argument. The key of a part of a
  /// tensor is that of its slice.
  void find(llvm::function_ref<void(StringRef name, const pb::NodeDef *node,
                                    const std::string &key)>
                take) {
    for (const auto &entry : nodes) {
      const pb::NodeDef &assign = *entry.second;
      if ((assign.op() != "AssignVariableOp" && assign.op() != "Assign") ||
          assign.input_size() < 2)
        continue;
      StringRef variable, name;
      int number = 0, output = 0;
      const pb::NodeDef *restore = trace(assign.input(1), name, number);
      if (!restore || restore->op() != "RestoreV2" || restore->input_size() < 2)
        continue;
      const std::string *key = readText(restore->input(1), number);
      if (!key)
        continue;
      const std::string *part = restore->input_size() > 2
                                    ? readText(restore->input(2), number)
                                    : nullptr;
      const pb::NodeDef *target = trace(assign.input(0), variable, output);
      take(variable, target,
           part && !part->empty() ? makeSliceKey(*key, *part).value_or(*key)
                                  : *key);
    }
  }

private:
  /// Returns element `number` of a constant of strings, or null.
  const std::string *readText(StringRef tensor, int number) {
    StringRef name;
    int output = 0;
    const pb::NodeDef *node = trace(tensor, name, output);
    if (!node || node->op() != "Const")
      return nullptr;
    auto value = node->attr().find("value");
    return value == node->attr().end() || number < 0 ||
                   number >= value->second.tensor().string_val_size()
               ? nullptr
               : &value->second.tensor().string_val(number);
  }

  llvm::StringMap<const pb::NodeDef *> nodes;
};
} // namespace

void Checkpoint::findKeys() {
  // For each function: the keys that it restores to its arguments.
  llvm::StringMap<llvm::StringMap<std::string>> restored;
  for (const pb::FunctionDef &function : model->graph.library().function()) {
    RestoreFinder finder(function.node_def());
    finder.find(
        [&](StringRef name, const pb::NodeDef *node, const std::string &key) {
          if (!node)
            restored[function.signature().name()][name] = key;
        });
  }
  RestoreFinder finder(model->graph.node());
  auto add = [&](const pb::NodeDef *node, const std::string &key) {
    if (node)
      keys[node->name()] = key;
  };
  finder.find([&](StringRef, const pb::NodeDef *node, const std::string &key) {
    add(node, key);
  });
  for (const pb::NodeDef &node : model->graph.node()) {
    auto called = node.attr().find("f");
    if (called == node.attr().end() || !called->second.has_func())
      continue;
    auto found = restored.find(called->second.func().name());
    if (found == restored.end())
      continue;
    for (const pb::FunctionDef &function : model->graph.library().function()) {
      if (function.signature().name() != called->second.func().name())
        continue;
      const auto &arguments = function.signature().input_arg();
      for (int i = 0; i < arguments.size() && i < node.input_size(); ++i) {
        auto key = found->second.find(arguments[i].name());
        StringRef name;
        int output = 0;
        if (key != found->second.end())
          add(finder.trace(node.input(i), name, output), key->second);
      }
    }
  }
  addAliases();
}

/// Gives variables without a key the one of a variable that stands for the same
/// values: of a node with the same shared name, or of one whose initial value
/// they are. tf.saved_model.save() of Keras 3 restores copies of the variables
/// that functions read.
void Checkpoint::addAliases() {
  llvm::StringMap<const pb::NodeDef *> nodes;
  llvm::StringMap<std::string> shared;
  auto getSharedName = [](const pb::NodeDef &node) {
    auto found = node.attr().find("shared_name");
    return node.op() == "VarHandleOp" && found != node.attr().end()
               ? StringRef(found->second.s())
               : StringRef();
  };
  for (const pb::NodeDef &node : model->graph.node()) {
    nodes[node.name()] = &node;
    auto key = keys.find(node.name());
    if (StringRef name = getSharedName(node);
        !name.empty() && key != keys.end())
      shared[name] = key->second;
  }
  for (const pb::NodeDef &node : model->graph.node()) {
    if (StringRef name = getSharedName(node); shared.count(name))
      keys.try_emplace(node.name(), shared[name]);
    if (node.op() != "AssignVariableOp" || node.input_size() < 2)
      continue;
    auto key = keys.find(StringRef(node.input(0)).split(':').first);
    const pb::NodeDef *read =
        nodes.lookup(StringRef(node.input(1)).split(':').first);
    if (key != keys.end() && read && read->op() == "ReadVariableOp" &&
        !read->input().empty())
      keys.try_emplace(StringRef(read->input(0)).split(':').first,
                       std::string(key->second));
  }
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

ElementsAttr Checkpoint::read(StringRef key, StringRef name, Location loc) {
  auto fail = [&](ImportStatus status, const Twine &why) -> ElementsAttr {
    problems.reportLasting(status, loc) << "is a variable " << why;
    return {};
  };
  auto found = entries.find(key);
  if (found == entries.end())
    return fail(ImportStatus::broken, "whose value '" + key +
                                          "' is not in the checkpoint of the "
                                          "model");
  const pb::BundleEntryProto &entry = found->second;
  if (!entry.slices().empty())
    return fail(ImportStatus::unsupported,
                "that is stored in slices and restored as a whole, which nnc "
                "does not join");
  Type element = getElementType(loc.getContext(), entry.dtype());
  if (!element)
    return fail(ImportStatus::unsupported, "of type " +
                                               getTypeName(entry.dtype()) +
                                               ", which nnc does not handle");
  auto shape = readShape(entry.shape());
  if (!shape || llvm::any_of(*shape, [](int64_t size) { return size < 0; }))
    return fail(ImportStatus::broken, "without a shape in the checkpoint");
  if (auto problem = findSizeProblem(*shape, getComputedType(element),
                                     problems.getLimits()))
    return fail(ImportStatus::limit, "that is one " + *problem);
  auto type = RankedTensorType::get(*shape, element);
  size_t width = std::max(1U, element.getIntOrFloatBitWidth() / 8);
  if (entry.size() != type.getNumElements() * int64_t(width))
    return fail(ImportStatus::broken,
                "with " + Twine(entry.size()) +
                    " bytes in the checkpoint; its type and shape (" +
                    toString(*shape) + ") need " +
                    Twine(type.getNumElements() * int64_t(width)));
  if (entry.shard_id() < 0 || entry.shard_id() >= shards)
    return fail(ImportStatus::broken, "in shard " + Twine(entry.shard_id()) +
                                          " of a checkpoint with " +
                                          Twine(shards));
  if (type.getNumElements() == 0)
    return DenseElementsAttr::get(type.clone(getComputedType(element)),
                                  ArrayRef<Attribute>());
  std::string file;
  llvm::raw_string_ostream(file)
      << "variables/variables.data-"
      << llvm::format("%05d-of-%05d", entry.shard_id(), shards);
  auto blob = files.map(file, uint64_t(entry.offset()), uint64_t(entry.size()),
                        width, loc);
  if (!blob)
    return {};
  ArrayRef<char> data = blob->getData();
  if (maskCrc(computeCrc32c({data.data(), data.size()})) != entry.crc32c())
    return fail(ImportStatus::broken,
                "whose bytes in '" + file +
                    "' do not have the CRC that the checkpoint states; the "
                    "file is damaged: fetch or save it again");
  return makeComputed(type, name, std::move(*blob));
}

ElementsAttr Checkpoint::getValue(StringRef name, Location loc) {
  if (!isRead)
    readIndex();
  if (!isSound)
    return {};
  auto [value, isNew] = values.try_emplace(name);
  if (isNew) {
    // A variable that nothing restores has its own name as the key.
    auto key = keys.find(name);
    value->second =
        read(key == keys.end() ? name : StringRef(key->second), name, loc);
  }
  return value->second;
}
