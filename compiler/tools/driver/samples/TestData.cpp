//===- TestData.cpp - Inputs with the results that they should give -------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/samples/TestData.h"

#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/system/Files.h"

#include "frontends/Registry.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace nnc::tools {

/// Returns the names of files for a tensor called `stem` in the formats of all
/// frontends.
static std::vector<std::string> withTensorExtensions(const std::string &stem) {
  std::vector<std::string> names;
  for (llvm::StringRef extension : frontends::getTensorExtensions())
    names.push_back(stem + extension.str());
  return names;
}

/// Returns the path of each port's file, or an empty string if there is none.
static std::vector<std::string> findFiles(const std::string &folder,
                                          const std::vector<Port> &ports,
                                          const char *kind) {
  std::vector<std::string> stems = fileStems(ports, kind), files(ports.size());
  llvm::StringSet<> taken;
  taken.insert(stems.begin(), stems.end());
  for (size_t i = 0; i < ports.size(); ++i) {
    std::string numbered = fmt::format("{}_{}", kind, i);
    std::vector<std::string> names = withTensorExtensions(numbered);
    names.push_back(stems[i] + ".npy");
    // Another port may have one of these names as its own.
    for (const std::string &stem : {ports[i].name, numbered})
      if (!taken.contains(stem))
        names.push_back(stem + ".npy");
    for (std::string &name : withTensorExtensions(stems[i]))
      names.push_back(std::move(name));
    for (const std::string &name : names)
      if (std::string file = folder + "/" + name;
          files[i].empty() && fs::is_regular_file(file))
        files[i] = file;
  }
  return files;
}

/// Reads the data of an input or output. If the port depends on sizes, the
/// shape of the data may differ from the port's.
static llvm::Expected<Tensor> readPort(const std::string &file,
                                       const Port &port) {
  llvm::Expected<Tensor> tensor =
      path::extension(file) == ".npy" ? readNpy(file) : readTensorFile(file);
  if (!tensor)
    return tensor;
  bool varies = port.dims.size() == tensor->shape.size() && !port.dims.empty();
  if (llvm::Error error = checkTensor(
          *tensor, port.dtype, varies ? tensor->shape : port.shape, file))
    return error;
  return tensor;
}

static llvm::Expected<TestCase> readCase(const std::string &folder,
                                         const Manifest &manifest) {
  TestCase result;
  result.name = path::filename(folder).str();
  std::vector<std::string> files = findFiles(folder, manifest.inputs, "input");
  for (size_t i = 0; i < manifest.inputs.size(); ++i) {
    const Port &port = manifest.inputs[i];
    const std::string &file = files[i];
    if (file.empty())
      return makeError(fmt::format(
          "{} has neither {}.npy nor {}", folder,
          fileStems(manifest.inputs, "input")[i],
          fmt::join(withTensorExtensions(fmt::format("input_{}", i)),
                    " nor ")));
    llvm::Expected<Tensor> tensor = readPort(file, port);
    if (!tensor)
      return tensor.takeError();
    result.inputs.push_back(std::move(*tensor));
  }
  llvm::Expected<std::vector<int64_t>> sizes =
      manifest.findSizes(result.inputs);
  if (!sizes)
    return sizes.takeError();
  result.sizes = std::move(*sizes);
  files = findFiles(folder, manifest.outputs, "output");
  for (size_t i = 0; i < manifest.outputs.size(); ++i) {
    const Port &port = manifest.outputs[i];
    const std::string &file = files[i];
    if (!port.size.empty())
      break; // ports that tell a size come last
    if (file.empty() && i == 0)
      break; // no expected results are known
    if (file.empty())
      return makeError(fmt::format("{} has results for some outputs, but none "
                                   "for '{}'",
                                   folder, displayText(port.name)));
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
