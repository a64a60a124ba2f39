//===- Calibration.cpp - Samples of a model's inputs ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/samples/Calibration.h"

#include "compiler/tools/driver/console/Progress.h"
#include "compiler/tools/driver/console/Terminal.h"
#include "compiler/tools/driver/system/Files.h"
#include "compiler/tools/driver/tensors/Npz.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace nnc::tools {
namespace {

using Arrays = std::vector<std::pair<std::string, Tensor>>;

class Reader {
public:
  Reader(const Manifest &manifest, std::vector<Sample> &samples)
      : manifest(manifest), samples(samples) {}
  ExitCode read(const std::string &place);

private:
  void readFile(const std::string &file);
  llvm::Expected<Arrays> readArrays(const std::string &file) const;
  int64_t countSamples(const std::string &file, const Port &port,
                       const Tensor &array);
  void cut(const std::string &file, const std::vector<const Tensor *> &arrays,
           int64_t count);
  void complain(const std::string &problem) {
    code = std::max(code, fail(makeError(problem), ExitCode::usage));
  }

  const Manifest &manifest;
  std::vector<Sample> &samples;
  ExitCode code = ExitCode::done;
};

} // namespace

/// Returns the first element that is not finite, or "" if there is none.
static std::string findBadElement(const Tensor &tensor) {
  if (!isFloat(tensor.dtype))
    return "";
  std::vector<double> values = tensor.values();
  for (size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]))
      return fmt::format("{} at element {}",
                         std::isnan(values[i]) ? "NaN" : "an infinite value",
                         i);
  return "";
}

llvm::Expected<Arrays> Reader::readArrays(const std::string &file) const {
  if (path::extension(file) == ".npz")
    return readNpz(file);
  if (manifest.inputs.size() != 1)
    return makeError(
        fmt::format("{} holds one array, but the model has {} inputs; write "
                    ".npz files, whose arrays are called by the inputs",
                    file, manifest.inputs.size()));
  llvm::Expected<Tensor> tensor = readNpy(file);
  if (!tensor)
    return tensor.takeError();
  Arrays arrays;
  arrays.emplace_back(manifest.inputs.front().name, std::move(*tensor));
  return arrays;
}

/// Returns the number of samples in the array. If the array does not fit the
/// input or is empty, reports an error and returns 0.
int64_t Reader::countSamples(const std::string &file, const Port &port,
                             const Tensor &array) {
  llvm::ArrayRef<int64_t> has = array.shape, wants = port.shape;
  int64_t count = 0;
  if (has == wants)
    count = 1;
  else if (has.size() == wants.size() + 1 && has.drop_front() == wants)
    count = has.front();
  else if (has.size() == wants.size() && !wants.empty() &&
           has.drop_front() == wants.drop_front() && wants.front() > 0 &&
           has.front() % wants.front() == 0)
    count = has.front() / wants.front();
  else
    count = -1;
  std::string name =
      fmt::format("{}: array '{}'", file, displayText(port.name));
  bool isSound = count >= 0 && array.dtype == port.dtype;
  if (!isSound)
    complain(fmt::format(
        "{} is {} of {}; the model wants {} of {}, or several of these along "
        "the first axis",
        name, shapeText(array.shape), dtypeName(array.dtype),
        shapeText(port.shape), dtypeName(port.dtype)));
  else if (count == 0)
    complain(name + " is empty");
  std::string bad = findBadElement(array);
  if (!bad.empty())
    complain(
        fmt::format("{} holds {}; calibration needs finite values", name, bad));
  return isSound && bad.empty() ? count : 0;
}

/// Splits arrays, each of which holds `count` samples, into samples.
void Reader::cut(const std::string &file,
                 const std::vector<const Tensor *> &arrays, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    Sample sample;
    sample.name = count == 1 ? file : fmt::format("{}[{}]", file, i);
    for (size_t port = 0; port < arrays.size(); ++port) {
      Tensor tensor{arrays[port]->dtype, manifest.inputs[port].shape, {}};
      int64_t bytes = manifest.inputs[port].bytes();
      const char *begin = arrays[port]->data.data() + i * bytes;
      tensor.data.assign(begin, begin + bytes);
      sample.inputs.push_back(std::move(tensor));
    }
    samples.push_back(std::move(sample));
  }
}

void Reader::readFile(const std::string &file) {
  llvm::Expected<Arrays> arrays = readArrays(file);
  if (!arrays) {
    code = std::max(code, fail(arrays.takeError(), ExitCode::usage));
    return;
  }
  std::vector<const Tensor *> ofPorts(manifest.inputs.size());
  for (const auto &[name, array] : *arrays) {
    llvm::Expected<size_t> port = findPort(manifest.inputs, name, "input");
    if (!port) {
      complain(fmt::format("{} has an array '{}': {}", file, displayText(name),
                           llvm::toString(port.takeError())));
      continue;
    }
    ofPorts[*port] = &array;
  }
  int64_t count = -1;
  bool isSound = true;
  for (size_t i = 0; i < ofPorts.size(); ++i) {
    const Port &port = manifest.inputs[i];
    if (!ofPorts[i]) {
      complain(fmt::format("{} has no array for input '{}'; it needs {} of {}",
                           file, displayText(port.name), shapeText(port.shape),
                           dtypeName(port.dtype)));
      isSound = false;
      continue;
    }
    int64_t own = countSamples(file, port, *ofPorts[i]);
    isSound = isSound && own > 0;
    if (count >= 0 && own > 0 && own != count) {
      complain(fmt::format("{} holds {} samples of input '{}', but {} of those "
                           "before it",
                           file, own, displayText(port.name), count));
      isSound = false;
    }
    count = own > 0 ? own : count;
  }
  if (isSound)
    cut(file, ofPorts, count);
}

ExitCode Reader::read(const std::string &place) {
  Progress progress("reading " + place);
  std::vector<std::string> files = listCalibrationFiles(place);
  if (fs::is_directory(place)) {
    if (files.empty())
      complain(place + " holds no .npz or .npy files");
  } else if (!fs::exists(place)) {
    complain(place + ": there is no such file or folder");
    files.clear();
  } else if (files.empty()) {
    complain(place + " is neither a folder nor a .npz or .npy file");
  }
  for (const std::string &file : files)
    readFile(file);
  if (code == ExitCode::done && samples.empty())
    complain(place + " holds no samples");
  return code;
}

std::vector<std::string> listCalibrationFiles(const std::string &place) {
  std::vector<std::string> files = {place};
  if (fs::is_directory(place))
    files = listFolder(place);
  llvm::erase_if(files, [](const std::string &file) {
    return path::extension(file) != ".npz" && path::extension(file) != ".npy";
  });
  return files;
}

ExitCode readCalibration(const std::string &place, const Manifest &manifest,
                         std::vector<Sample> &samples) {
  return Reader(manifest, samples).read(place);
}

} // namespace nnc::tools
