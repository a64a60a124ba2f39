//===- Program.cpp - Reads an archive of an exported program --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The archive's layout is described by PyTorch's torch/export/pt2_archive and
// torch/_export/serde/schema.py: models/NAME.json is the program,
// data/weights/NAME_weights_config.json and
// data/constants/NAME_constants_config.json list its tensors, each a part of a
// raw file in these folders.
//
//===----------------------------------------------------------------------===//

#include "frontends/torch/file/Program.h"

#include "frontends/common/ParseJson.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace nnc::torch;

/// The major version of the schema of programs that nnc reads.
static constexpr int64_t kSchema = 8;

/// The line that exports a model again.
static constexpr StringLiteral kExport =
    "torch.export.save(torch.export.export(model.eval(), (example,)), "
    "'model.pt2')";

const json::Array &nnc::torch::getList(const json::Object &object,
                                       StringRef field) {
  static const json::Array empty;
  const json::Array *list = object.getArray(field);
  return list ? *list : empty;
}

const json::Object &nnc::torch::toObject(const json::Value &value) {
  static const json::Object empty;
  const json::Object *object = value.getAsObject();
  return object ? *object : empty;
}

ArchiveKind nnc::torch::getKind(const Archive &archive) {
  bool hasModel = false, hasOld = false, hasPickle = false, hasCode = false,
       hasLibrary = false, hasRecords = false;
  for (const Archive::Entry &entry : archive.getEntries()) {
    StringRef name = entry.name;
    auto [folder, inside] = name.split('/');
    hasModel |= inside.starts_with("models/") && name.ends_with(".json");
    hasOld |= name.ends_with("serialized_exported_program.json");
    hasPickle |= inside == "data.pkl";
    hasCode |= inside == "constants.pkl" || inside == "bytecode.pkl";
    hasLibrary |= inside.starts_with("data/aotinductor/");
    hasRecords |= inside == "archive_format";
  }
  if (hasModel)
    return ArchiveKind::program;
  if (hasOld)
    return ArchiveKind::pickled;
  if (hasCode)
    return ArchiveKind::script;
  if (hasLibrary)
    return ArchiveKind::inductor;
  if (hasPickle)
    return ArchiveKind::pickle;
  return hasRecords ? ArchiveKind::executable : ArchiveKind::other;
}

/// Returns why nnc does not read an archive of this kind, and what to do.
static std::string refuse(ArchiveKind kind) {
  std::string again = "export the model in Python: " + kExport.str();
  switch (kind) {
  case ArchiveKind::pickled:
    return "is an exported program whose weights are Python pickles, which nnc "
           "does not read because a pickle can run any code; write it again "
           "with PyTorch 2.9 or later: "
           "torch.export.save(torch.export.load('old.pt2'), 'new.pt2')";
  case ArchiveKind::script:
    return "is a TorchScript module, which nnc does not read; " + again;
  case ArchiveKind::pickle:
    return "is a Python pickle of torch.save, such as a state dict, which has "
           "no network that nnc can read; load it into its module and " +
           again;
  case ArchiveKind::inductor:
    return "is a library that AOTInductor compiled, without the program; " +
           again;
  default:
    return "is an archive of PyTorch without an exported program; " + again;
  }
}

std::optional<json::Value> Program::readJson(const Archive::Entry &entry,
                                             Problems &problems) const {
  llvm::Expected<StringRef> text = archive->read(entry);
  if (!text) {
    problems.report(entry.isReadable() ? ImportStatus::broken
                                       : ImportStatus::unsupported)
        << llvm::toString(text.takeError());
    return std::nullopt;
  }
  llvm::Expected<json::Value> value = parseJson(*text);
  if (value)
    return std::move(*value);
  problems.report(ImportStatus::broken)
      << "has a file '" << entry.name
      << "' that is no sound JSON: " << llvm::toString(value.takeError());
  return std::nullopt;
}

bool Program::readList(StringRef kind, json::Value &list,
                       Problems &problems) const {
  std::string folder = root + "data/" + kind.str() + "/";
  if (archive->find(folder + name + ".pt")) {
    problems.report(ImportStatus::unsupported) << refuse(ArchiveKind::pickled);
    return false;
  }
  const Archive::Entry *entry =
      archive->find(folder + name + "_" + kind.str() + "_config.json");
  if (!entry)
    return true;
  auto value = readJson(*entry, problems);
  if (!value)
    return false;
  list = std::move(*value);
  if (list.getAsObject() && list.getAsObject()->getObject("config"))
    return true;
  problems.report(ImportStatus::broken)
      << "has a file '" << entry->name << "' that lists no tensors";
  return false;
}

bool Program::readModel(Problems &problems) {
  auto fail = [&](ImportStatus status, const Twine &why) {
    problems.report(status) << why;
    return false;
  };
  const Archive::Entry *found = nullptr;
  std::string names;
  unsigned count = 0;
  for (const Archive::Entry &entry : archive->getEntries()) {
    StringRef file = entry.name;
    auto [folder, inside] = file.split('/');
    if (!inside.consume_front("models/") || !inside.consume_back(".json") ||
        inside.contains('/'))
      continue;
    if (!found || inside == "model") {
      found = &entry;
      root = (folder + "/").str();
      name = inside;
    }
    names += (names.empty() ? "'" : ", '") + inside.str() + "'";
    ++count;
  }
  if (!found)
    return fail(ImportStatus::broken, refuse(ArchiveKind::executable));
  if (count > 1 && name != "model")
    return fail(ImportStatus::unsupported,
                "has several programs: " + names +
                    "; save the one to compile in a file of its own");
  if (const Archive::Entry *order = archive->find(root + "byteorder")) {
    llvm::Expected<StringRef> text = archive->read(*order);
    if (!text)
      return fail(ImportStatus::broken, llvm::toString(text.takeError()));
    if (text->trim() != "little")
      return fail(ImportStatus::unsupported,
                  "has weights in the byte order '" + text->take_front(16) +
                      "'; nnc reads 'little': save it on another machine");
  }
  auto value = readJson(*found, problems);
  if (!value)
    return false;
  model = std::move(*value);
  const json::Object *top = model.getAsObject();
  const json::Object *version =
      top ? top->getObject("schema_version") : nullptr;
  auto major = version ? version->getInteger("major") : std::nullopt;
  if (!major)
    return fail(ImportStatus::broken,
                "has no version of its schema: it is no exported program");
  if (*major != kSchema)
    return fail(ImportStatus::unsupported,
                "is an exported program of schema version " + Twine(*major) +
                    "; nnc reads version " + Twine(kSchema) +
                    ", which PyTorch 2.9 to 2.13 write: load it with "
                    "torch.export.load of such a version, and save it again");
  module = top->getObject("graph_module");
  graph = module ? module->getObject("graph") : nullptr;
  signature = module ? module->getObject("signature") : nullptr;
  if (!graph || !signature || !graph->getArray("nodes") ||
      !graph->getObject("tensor_values") ||
      !signature->getArray("input_specs") ||
      !signature->getArray("output_specs"))
    return fail(ImportStatus::broken,
                "is an exported program without a graph or a signature");
  return readList("weights", weights, problems) &&
         readList("constants", constants, problems);
}

std::unique_ptr<Program> Program::load(StringRef path, Problems &problems) {
  auto archive = Archive::open(path);
  if (!archive) {
    problems.report(ImportStatus::broken)
        << llvm::toString(archive.takeError());
    return nullptr;
  }
  ArchiveKind kind = getKind(**archive);
  if (kind != ArchiveKind::program) {
    problems.report(ImportStatus::unsupported) << refuse(kind);
    return nullptr;
  }
  auto program = std::make_unique<Program>();
  program->archive = std::move(*archive);
  if (!program->readModel(problems))
    return nullptr;
  StringRef bytes = program->archive->getBytes();
  program->sha256 = llvm::toHex(
      llvm::SHA256::hash(ArrayRef(
          reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size())),
      /*LowerCase=*/true);
  return program;
}

std::pair<const json::Object *, std::string>
Program::find(StringRef tensor) const {
  for (const auto &[list, folder] : {std::pair(&weights, "data/weights/"),
                                     std::pair(&constants, "data/constants/")})
    if (const json::Object *top = list->getAsObject())
      if (const json::Object *entry =
              top->getObject("config")->getObject(tensor))
        return {entry, root + folder};
  return {nullptr, ""};
}
