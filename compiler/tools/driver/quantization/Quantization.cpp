//===- Quantization.cpp - Models with --precision=i8 ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/quantization/Quantization.h"

#include "compiler/tools/driver/quantization/Evaluation.h"
#include "compiler/tools/driver/quantization/ModuleModel.h"
#include "compiler/tools/driver/quantization/ModuleQuantizer.h"

#include <fmt/format.h>

namespace nnc::tools {

/// Chooses which layers stay float in a module that `quantizer` has quantized,
/// by the target and --max-drop, as --mixed of nnc quantize does. Sets `found`
/// to a description of the choice, a sentence without a full stop.
static ExitCode searchModule(ModuleQuantizer &quantizer,
                             const ModelOptions &options, std::string &found) {
  QuantizeSettings settings;
  settings.model = options;
  settings.model.shapes.clear(); // The module has the shapes.
  settings.maxDrop = options.quantization.maxDrop;
  settings.mixed = true;
  ModuleModel model(quantizer, settings);
  const size_t all = model.listLayers().size();
  Evaluation evaluation;
  SearchResult result;
  if (ExitCode code = evaluate(model, Compared::tensors, evaluation);
      code != ExitCode::done)
    return code;
  if (ExitCode code = limitDrop(model, evaluation, result);
      code != ExitCode::done)
    return code;
  warnOfFloats(model, result);
  const size_t integers = model.listLayers().size();
  found = fmt::format("{} of {} layers, {}: {:.6g} instead of {:.6g}, a drop "
                      "of {:.3g} %",
                      integers, all, evaluation.metricName, evaluation.metric,
                      evaluation.floatMetric, 100 * evaluation.drop);
  return ExitCode::done;
}

ExitCode quantizeImported(const ModelOptions &choices, ImportedModel &model) {
  ModuleQuantizer quantizer(*model.module, choices.model, choices.quantization);
  for (ExitCode (ModuleQuantizer::*step)() :
       {&ModuleQuantizer::open, &ModuleQuantizer::quantize})
    if (ExitCode code = (quantizer.*step)(); code != ExitCode::done)
      return code;
  if (choices.quantization.maxDrop)
    if (ExitCode code = searchModule(quantizer, choices, model.quantizeNote);
        code != ExitCode::done)
      return code;
  model.quantizePasses = quantizer.getPasses();
  model.module = quantizer.takeModule();
  return ExitCode::done;
}

} // namespace nnc::tools
