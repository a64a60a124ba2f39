//===- Program.h - Reads an archive of an exported program ----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TORCH_FILE_PROGRAM_H
#define NNC_FRONTENDS_TORCH_FILE_PROGRAM_H

#include "frontends/common/Archive.h"
#include "frontends/common/Problems.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/JSON.h"

#include <map>
#include <memory>

namespace nnc::torch {
using namespace nnc::frontends;
namespace json = llvm::json;

/// Returns the list of a field, or an empty list if the field is none.
const json::Array &getList(const json::Object &object, llvm::StringRef field);
/// Returns the object that `value` is, or an empty object if it is none.
const json::Object &toObject(const json::Value &value);

/// The kind of program or data in a zip archive that PyTorch wrote.
enum class ArchiveKind {
  other,     ///< no archive of PyTorch
  program,   ///< an exported program whose weights are raw files
  pickled,   ///< an exported program whose weights are pickles
  script,    ///< a TorchScript module
  pickle,    ///< a pickle of torch.save: a state dict or a whole module
  inductor,  ///< a library that AOTInductor compiled
  executable ///< an archive with several of these or none of them
};

/// Returns what an archive holds, by the names of its files.
ArchiveKind getKind(const Archive &archive);

/// An exported program: a graph of ATen operators as JSON, and the files of its
/// tensors.
class Program {
public:
  /// Reads the archive at `path`. Returns null after an error if that is no
  /// exported program that nnc reads.
  static std::unique_ptr<Program> load(llvm::StringRef path,
                                       Problems &problems);

  /// Returns the program, the graph module in it, its graph and its signature.
  const json::Object &getRoot() const { return *model.getAsObject(); }
  const json::Object &getModule() const { return *module; }
  const json::Object &getGraph() const { return *graph; }
  const json::Object &getSignature() const { return *signature; }
  llvm::StringRef getSha256() const { return sha256; }

  /// Returns whether the archive holds a parameter, buffer or constant of that
  /// name.
  bool hasTensor(llvm::StringRef name) const { return find(name).first; }
  /// Returns the elements of the parameter, buffer or constant `name`, in the
  /// order of its axes and whatever its strides. Floats of 16 bits become
  /// float32. Tensors that are the same part of a file are one attribute.
  /// Returns null after an error at the tensor.
  mlir::ElementsAttr readTensor(llvm::StringRef name, Problems &problems,
                                mlir::MLIRContext &context);

private:
  /// Finds the entry of a tensor in the lists of weights and constants, and the
  /// folder of its file.
  std::pair<const json::Object *, std::string> find(llvm::StringRef name) const;
  bool readModel(Problems &problems);
  std::optional<json::Value> readJson(const Archive::Entry &entry,
                                      Problems &problems) const;
  /// Reads the list of tensors `kind`, "weights" or "constants". A missing list
  /// is empty.
  bool readList(llvm::StringRef kind, json::Value &list,
                Problems &problems) const;

  std::unique_ptr<Archive> archive;
  std::string root; ///< folder in the archive, with a '/' at its end
  std::string name; ///< name of the model in the archive
  json::Value model = nullptr, weights = nullptr, constants = nullptr;
  const json::Object *module = nullptr, *graph = nullptr, *signature = nullptr;
  std::string sha256;
  std::map<std::string, mlir::ElementsAttr> known; ///< by place in the archive
};

} // namespace nnc::torch

#endif // NNC_FRONTENDS_TORCH_FILE_PROGRAM_H
