//===- ModelOptions.cpp - Options of commands on a model ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/options/ModelOptions.h"

#include "compiler/passes/Passes.h"

#include <fmt/format.h>

namespace nnc::tools {

std::string adviseOnPorts(const ModelOptions &options) {
  return options.hasPortsInArena()
             ? ""
             : "; --io=arena lets values take the place of inputs";
}

double ModelOptions::getClockFactor(target::MachineAttr machine) const {
  double own = double(machine.getHost().getCore().getMhz());
  return own / mhz.value_or(own);
}

std::unique_ptr<mlir::Pass> createConstraints(const ModelOptions &options,
                                              const std::string &target) {
  // The options of the pass refer to these lists.
  std::vector<std::string> memories, weightMemories;
  for (const MemoryChoice &memory : options.memories)
    (memory.holdsWeights ? weightMemories : memories)
        .push_back(fmt::format("{}:{}{}", memory.name, memory.bytes,
                               memory.slow ? ":slow" : ""));
  SetConstraintsOptions constraints;
  constraints.target = target;
  // If no target is given, the module has one, which includes these figures.
  constraints.probe = target.empty() ? "" : options.probe;
  constraints.memories = memories;
  constraints.weightMemories = weightMemories;
  return createSetConstraints(constraints);
}

static std::string findRangeConflict(const ModelOptions &options,
                                     const DriverOptions &wanted) {
  if (options.ranges.empty())
    return "";
  if (!wanted.takesRanges)
    return "this command takes one size for each dimension; leave out '..' in "
           "--shape";
  if (options.stream)
    return "--stream has one window of time in memory, and takes no --shape "
           "with '..'";
  if (!options.tuning.empty())
    return "--tuning is of layers of one size, and takes no --shape with '..'";
  return "";
}

static std::string findSeveralConflict(const ModelOptions &options,
                                       const DriverOptions &wanted) {
  if (options.otherShapes.empty())
    return "";
  if (!wanted.takesSeveral)
    return "this command takes one shape for each input; give --shape once";
  if (!options.ranges.empty())
    return "--shape gives an input several shapes, and no bounds with '..' "
           "then";
  if (options.stream)
    return "--stream has one window of time in memory, and takes one shape for "
           "each input";
  if (!options.customs.functions.empty())
    return "--custom takes one shape for each input";
  for (const MemoryChoice &memory : options.memories)
    if (memory.holdsWeights)
      return "--pool=...:weights takes one shape for each input";
  auto complete = [&](frontends::GivenShapes given) {
    given.insert(options.shapes.begin(), options.shapes.end());
    return given;
  };
  std::vector<frontends::GivenShapes> shapes = {options.shapes};
  for (const frontends::GivenShapes &other : options.otherShapes) {
    shapes.push_back(complete(other));
    if (llvm::is_contained(llvm::ArrayRef(shapes).drop_back(), shapes.back()))
      return "--shape gives the same shapes twice; leave one of them out";
  }
  return "";
}

static std::string findBatchConflict(const ModelOptions &options) {
  if (!options.batch)
    return "";
  if (!options.ranges.empty())
    return "--batch gives the first dimension of the inputs one size; give no "
           "bounds with '..' to --shape then";
  if (!options.otherShapes.empty())
    return "--batch takes one --shape for each input";
  if (options.stream)
    return "--stream takes one window of time, and no --batch";
  return "";
}

static std::string findLatencyConflict(const ModelOptions &options) {
  if (options.limitsPlan() &&
      (!options.ranges.empty() || !options.otherShapes.empty()))
    return "--max-latency takes one shape of each input; give --shape no "
           "bounds with '..', and one size for each dimension";
  return "";
}

std::string findQuantizationConflict(const ModelOptions &choices) {
  const bool isWanted = choices.precision == Precision::i8;
  const bool isGiven = !choices.quantization.samples.empty();
  if (isGiven && !isWanted)
    return "--calibrate finds the ranges for --precision=i8; add that, or "
           "leave "
           "--calibrate out";
  if (choices.quantization.maxDrop && !isWanted)
    return "--max-drop limits what the 8-bit integers of --precision=i8 cost "
           "in "
           "accuracy; add --precision=i8 and --calibrate=DIR, or leave "
           "--max-drop out";
  if (!isWanted)
    return "";
  if (!isGiven)
    return "--precision=i8 needs samples of the inputs, by which the ranges of "
           "8-bit integers are found: add --calibrate=DIR, a folder of .npz "
           "files; a model that is quantized already needs neither option";
  std::pair<const char *, bool> others[] = {
      {"--stream", choices.stream.has_value()},
      {"--batch", choices.batch.has_value()},
      {"sizes that vary", !choices.ranges.empty()},
      {"several --shape of an input", !choices.otherShapes.empty()},
      {"--custom", !choices.customs.paths.empty()}};
  for (auto [option, isSet] : others)
    if (isSet)
      return fmt::format(
          "--calibrate takes no {}: quantize the model by itself "
          "(nnc quantize) and compile the result with that",
          option);
  return "";
}

std::string findConflict(const ModelOptions &options,
                         const DriverOptions &wanted) {
  for (std::string problem :
       {findRangeConflict(options, wanted),
        findSeveralConflict(options, wanted), findQuantizationConflict(options),
        findBatchConflict(options), findLatencyConflict(options)})
    if (!problem.empty())
      return problem;
  return "";
}

} // namespace nnc::tools
