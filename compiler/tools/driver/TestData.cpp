//===- TestData.cpp - Inputs with the results that they should give -------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/TestData.h"

#include "compiler/tools/driver/Files.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <fmt/format.h>

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace nnc::tools {

/// The file of port number `index`; empty if there is none.
static std::string findFile(const std::string &folder, const Port &port,
                            const char *kind, size_t index) {
  for (const std::string &stem :
       {fmt::format("{}_{}", kind, index), port.field, port.name})
    for (const char *extension : {".pb", ".npy"}) {
      std::string file = folder + "/" + stem + extension;
      if (fs::is_regular_file(file))
        return file;
    }
  return "";
}

static llvm::Expected<Tensor> readPort(const std::string &file,
                                       const Port &port) {
  llvm::Expected<Tensor> tensor =
      path::extension(file) == ".pb" ? readTensorProto(file) : readNpy(file);
  if (!tensor)
    return tensor;
  if (llvm::Error error = checkTensor(*tensor, port.dtype, port.shape, file))
    return error;
  return tensor;
}

static llvm::Expected<TestCase> readCase(const std::string &folder,
                                         const Manifest &manifest) {
  TestCase result;
  result.name = path::filename(folder).str();
  for (size_t i = 0; i < manifest.inputs.size(); ++i) {
    const Port &port = manifest.inputs[i];
    std::string file = findFile(folder, port, "input", i);
    if (file.empty())
      return makeError(fmt::format("{} has neither {}.npy nor input_{}.pb",
                                   folder, port.field, i));
    llvm::Expected<Tensor> tensor = readPort(file, port);
    if (!tensor)
      return tensor.takeError();
    result.inputs.push_back(std::move(*tensor));
  }
  for (size_t i = 0; i < manifest.outputs.size(); ++i) {
    const Port &port = manifest.outputs[i];
    std::string file = findFile(folder, port, "output", i);
    if (file.empty() && i == 0)
      break; // none is known
    if (file.empty())
      return makeError(fmt::format("{} has results for some outputs, but none "
                                   "for '{}'",
                                   folder, port.name));
    llvm::Expected<Tensor> tensor = readPort(file, port);
    if (!tensor)
      return tensor.takeError();
    result.outputs.push_back(std::move(*tensor));
  }
  return result;
}

llvm::Expected<std::vector<TestCase>> readTestData(const std::string &folder,
                                                   const Manifest &manifest) {
  if (!fs::is_directory(folder))
    return makeError(folder + " is not a folder");
  std::vector<std::string> folders;
  for (const std::string &entry : listFolder(folder))
    if (fs::is_directory(entry) &&
        path::filename(entry).starts_with("test_data_set_"))
      folders.push_back(entry);
  if (folders.empty())
    folders.push_back(folder);
  std::vector<TestCase> cases;
  for (const std::string &one : folders) {
    llvm::Expected<TestCase> read = readCase(one, manifest);
    if (!read)
      return read.takeError();
    cases.push_back(std::move(*read));
  }
  return cases;
}

} // namespace nnc::tools
