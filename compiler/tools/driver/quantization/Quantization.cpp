//===- Quantization.cpp - Models with --precision=i8 ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/import/Importer.h"
#include "compiler/tools/driver/quantization/ModuleQuantizer.h"

#include <fmt/format.h>

namespace nnc::tools {

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

ExitCode Importer::quantize(ImportedModel &model) {
  if (choices.precision != Precision::i8)
    return ExitCode::done;
  ModuleQuantizer quantizer(*model.module, choices.model, choices.quantization);
  for (ExitCode (ModuleQuantizer::*step)() :
       {&ModuleQuantizer::open, &ModuleQuantizer::quantize})
    if (ExitCode code = (quantizer.*step)(); code != ExitCode::done)
      return code;
  if (choices.quantization.maxDrop)
    if (ExitCode code =
            choices.quantization.search(quantizer, choices, model.quantizeNote);
        code != ExitCode::done)
      return code;
  model.quantizePasses = quantizer.getPasses();
  model.module = quantizer.takeModule();
  return ExitCode::done;
}

} // namespace nnc::tools
