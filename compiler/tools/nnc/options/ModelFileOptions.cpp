//===- ModelFileOptions.cpp - MODEL and the options for reading it --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/tensors/Tensor.h"
#include "compiler/tools/nnc/options/OptionForms.h"
#include "compiler/tools/nnc/options/Options.h"

#include "frontends/Registry.h"
#include "frontends/common/Suggest.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace nnc::tools {

/// Parses a dimension: a size such as "48", or a range such as "32..640:16" for
/// sizes from 32 to 640 in steps of 16. The step is 1 if it is omitted.
static std::optional<DimRange> parseDim(llvm::StringRef text) {
  DimRange range;
  auto [low, rest] = text.split("..");
  auto [high, step] = rest.split(':');
  bool hasRange = text.contains("..");
  if (low.getAsInteger(10, range.low) || range.low < 0)
    return std::nullopt;
  range.high = range.low;
  if (!hasRange)
    return range;
  bool hasStep = rest.contains(':');
  if (high.getAsInteger(10, range.high) ||
      (hasStep && step.getAsInteger(10, range.step)) || range.low < 1 ||
      range.high < range.low || range.step < 1 ||
      (range.high - range.low) % range.step != 0)
    return std::nullopt;
  return range;
}

/// Parses a text such as "x=1x3x48x320" into an input's name and its sizes. The
/// name itself may contain a '='.
static std::string parseShape(const std::string &text, ModelOptions &options) {
  auto [name, sizes] = llvm::StringRef(text).rsplit('=');
  std::vector<int64_t> shape;
  std::vector<DimRange> ranges;
  bool valid = !name.empty() && name.size() < text.size();
  if (sizes != "scalar")
    for (llvm::StringRef word : llvm::split(sizes, 'x')) {
      std::optional<DimRange> range = parseDim(word);
      valid = valid && range;
      ranges.push_back(range.value_or(DimRange()));
      shape.push_back(ranges.back().high);
    }
  if (!valid)
    return fmt::format(
        "'{}' is not of the form INPUT=1x3x48x320, "
        "INPUT=1..8x3x32..640:32x320 or INPUT=scalar, where sizes "
        "that vary are 1 or more",
        text);
  if (llvm::any_of(ranges, [](const DimRange &r) { return r.varies(); }))
    options.ranges[name.str()] = ranges;
  if (options.shapes.emplace(name.str(), shape).second)
    return "";
  // The second shape that is given for an input belongs to the second function.
  auto lacksIt = [input = name.str()](const auto &shapes) {
    return !shapes.count(input);
  };
  auto other = llvm::find_if(options.otherShapes, lacksIt);
  if (other == options.otherShapes.end())
    other = options.otherShapes.emplace(other);
  other->emplace(name.str(), shape);
  return "";
}

/// Parses a text such as "axes=0,-1" or "axes=axes.npy" into the value of an
/// input. Returns what is wrong with it, or an empty string.
static std::string parseValue(const std::string &text, ModelOptions &options) {
  auto [name, value] = llvm::StringRef(text).rsplit('=');
  if (name.empty() || value.empty())
    return fmt::format("'{}' is not of the form INPUT=1,2,3 or INPUT=FILE.npy",
                       text);
  frontends::GivenValue given;
  given.text = value.str();
  if (value.ends_with(".npy")) {
    llvm::Expected<Tensor> tensor = readNpy(given.text);
    if (!tensor)
      return llvm::toString(tensor.takeError());
    given.dtype = dtypeName(tensor->dtype);
    given.shape = tensor->shape;
    given.bytes = std::move(tensor->data);
  }
  if (!options.values.emplace(name.str(), std::move(given)).second)
    return fmt::format("two values for input '{}'", name.str());
  return "";
}

/// Appends the type of files with the extensions of all frontends to `types`.
static void addFileTypes(llvm::StringLiteral frontends::Frontend::*extensions,
                         std::vector<std::string> &types) {
  for (const frontends::Frontend *frontend : frontends::getFrontends())
    for (llvm::StringRef extension : llvm::split(frontend->*extensions, ", "))
      if (!extension.empty())
        types.push_back("FILE" + extension.str());
}

/// Returns the type of MODEL for the help: "FILE.onnx|FILE.tflite".
static std::string typeOfModels() {
  std::vector<std::string> types;
  addFileTypes(&frontends::Frontend::extensions, types);
  return llvm::join(types, "|");
}

bool isCompiledFolder(const std::string &model) {
  return llvm::sys::fs::is_directory(model) && !frontends::isModelFolder(model);
}

void addModelFileOptions(CLI::App &app, ModelOptions &options) {
  app.add_option("MODEL", options.model,
                 "The model: " + frontends::describeFormats())
      ->type_name(typeOfModels())
      ->required();
  addRepeatedOption(
      app, "--shape", "INPUT=1..8x3x48x320",
      [&options] {
        options.shapes.clear();
        options.otherShapes.clear();
        options.ranges.clear();
      },
      [&options](const std::string &argument) {
        return parseShape(argument, options);
      },
      "Shape of an input whose dimensions the model leaves open; 1..8, or "
      "32..640:32 with a step, is a dimension that is chosen at each run. "
      "Given again for an input, its shape in a second function of the "
      "module. "
      "Shapes "
      "that the model declares for outputs and values in between are errors "
      "where they contradict the computed ones, but warnings with a --shape "
      "that binds open dimensions: they may be left from other sizes");
  app.add_option("--signature", options.signature,
                 "Which signature of a SavedModel to take, if not "
                 "serving_default or its only one")
      ->type_name("NAME");
  app.add_option("--external-data", options.externalData,
                 "Folder that may hold the model's external data, beside the "
                 "model's own; links that lead out of both are refused")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
  addLimitOption(app, options);
  using frontends::TfliteRounding;
  static const std::vector<std::pair<std::string, TfliteRounding>> roundings = {
      {"double", TfliteRounding::twice},
      {"single", TfliteRounding::once},
      {"litert", TfliteRounding::litert}};
  addChoice(app, "--tflite-rounding", options.tfliteRounding, roundings,
            "How fixed-point products of quantized TFLite models round: twice, "
            "as by TFLite Micro and CMSIS-NN (double), once, as by newer "
            "kernels of TFLite (single), or as by the reference kernels of "
            "LiteRT's Python package (litert)")
      ->default_str("double");
}

void addWeightsOption(CLI::App &app, ModelOptions &options,
                      const std::vector<std::string> &places,
                      const std::string &help) {
  std::vector<std::string> types = places;
  addFileTypes(&frontends::Frontend::weightExtensions, types);
  auto isPlace = [places](const std::string &given) {
    return llvm::is_contained(places, given);
  };
  CLI::Option *option =
      app.add_option_function<std::vector<std::string>>(
             "--weights",
             [&options, isPlace](const std::vector<std::string> &arguments) {
               for (const std::string &given : arguments)
                 (isPlace(given) ? options.weights : options.modelWeights) =
                     given;
             },
             "The file with the weights of a model whose format keeps them "
             "apart" +
                 help)
          ->allow_extra_args(false)
          ->type_name(llvm::join(types, "|"));
  if (places.empty()) {
    option->check(CLI::ExistingFile);
    return;
  }
  setWords(
      *option, [places] { return places; },
      [isPlace, places](const std::string &given) -> std::string {
        return isPlace(given) || llvm::sys::fs::exists(given)
                   ? ""
                   : fmt::format("{} not in {{{}}}, and no file{}", given,
                                 fmt::join(places, ","),
                                 frontends::didYouMean(given, places));
      });
}

void addValueOption(CLI::App &app, ModelOptions &options) {
  addRepeatedOption(
      app, "--value", "INPUT=1,2,3|FILE.npy",
      [&options] { options.values.clear(); },
      [&options](const std::string &argument) {
        return parseValue(argument, options);
      },
      "What an input holds, which becomes a constant of the code: numbers, "
      "row by row, or a file. The code does not take that input any more");
}

void allowFolder(CLI::App &app, const ModelOptions &options) {
  app.get_option("MODEL")
      ->description("The model: " + frontends::describeFormats() +
                    ", or a folder that nnc compile wrote")
      ->type_name(typeOfModels() + "|DIR");
  app.parse_complete_callback([&app, &options] {
    if (!isCompiledFolder(options.model))
      return;
    for (const char *name : {"--target",
                             "--name",
                             "--shape",
                             "--value",
                             "--external-data",
                             "--signature",
                             "--tflite-rounding",
                             "--custom",
                             "--stream",
                             "--io",
                             "--max-ram",
                             "--max-latency",
                             "--max-weights",
                             "--pool",
                             "--batch",
                             "--weights",
                             "--max-error",
                             "--layouts",
                             "--weights-encoding",
                             "--precision",
                             "--calibrate",
                             "--max-drop",
                             "--optimize",
                             "--tuning",
                             "--probe"})
      if (CLI::Option *option = app.get_option_no_throw(name);
          option && option->count())
        throw CLI::ValidationError(
            name, options.model + " is compiled already; give the model");
  });
}

} // namespace nnc::tools
