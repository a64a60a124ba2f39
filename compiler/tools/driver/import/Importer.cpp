//===- Importer.cpp - From a model file to a module -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/import/Importer.h"

#include "compiler/tools/driver/import/PassRecord.h"
#include "compiler/tools/driver/import/SizedImport.h"

#include "compiler/passes/Passes.h"
#include "dialects/nn/attributes/State.h"
#include "frontends/Registry.h"
#include "frontends/common/Suggest.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace nnc::tools {

Importer::Importer(ModelOptions &options, const DriverOptions &wanted,
                   mlir::MLIRContext &context, target::MachineAttr machine,
                   Check check)
    : choices(options), wanted(wanted), context(context), machine(machine),
      check(std::move(check)) {}

Importer::~Importer() = default;

static ExitCode exitCodeOf(frontends::ImportStatus status) {
  switch (status) {
  case frontends::ImportStatus::ok:
    return ExitCode::done;
  case frontends::ImportStatus::broken:
    return ExitCode::broken;
  case frontends::ImportStatus::unsupported:
    return ExitCode::unsupported;
  case frontends::ImportStatus::unbound: // --shape says what the model does not
    return ExitCode::usage;
  case frontends::ImportStatus::limit:
    return ExitCode::limit;
  case frontends::ImportStatus::fault:
    return ExitCode::ownFault;
  }
  llvm_unreachable("unknown status");
}

ExitCode Importer::import(ImportedModel &model) {
  ImportPoint point{choices.shapes};
  if (choices.foundSizes) {
    point.found = *choices.foundSizes;
    point.expectedSizes = choices.expectedSizes;
  }
  if (choices.batch)
    point.batch = choices.batch->high;
  if (ExitCode code = importPoint(point, model); code != ExitCode::done)
    return code;
  const bool findsSizes = !model.foundSizes.empty();
  const char *excluded = choices.stream            ? "--stream"
                         : choices.batch           ? "--batch"
                         : !choices.tuning.empty() ? "--tuning"
                                                   : nullptr;
  if (findsSizes && excluded) {
    mlir::emitError(mlir::FileLineColLoc::get(&context, choices.model, 0, 0))
        << "has '" << model.foundSizes.front().name
        << "', as long as data say, and so takes no " << excluded;
    return ExitCode::unsupported;
  }
  if (choices.stream)
    return stream(model);
  if (choices.ranges.empty() && (!findsSizes || choices.foundSizes))
    return ExitCode::done;
  sized = std::make_unique<SizedImport>(choices, context, *this);
  dimNames = model.dimNames;
  auto advice = adviseOnSizes();
  return sized->nameSizes(model);
}

/// Imports a model as nnc::frontends::importModel() does. Open dimensions of
/// the inputs are accepted if the rest of the model can be imported with sizes
/// that are tried.
static frontends::ImportResult
importOpen(llvm::StringRef path, const frontends::ImportOptions &options,
           mlir::MLIRContext &context, llvm::StringRef command) {
  std::vector<mlir::Diagnostic> problems;
  frontends::ImportResult result;
  {
    mlir::ScopedDiagnosticHandler handler(
        &context, [&](mlir::Diagnostic &diagnostic) {
          problems.push_back(std::move(diagnostic));
          return mlir::success();
        });
    result = frontends::importModel(path, options, context, command);
  }
  bool isOpen = result.status == frontends::ImportStatus::unbound &&
                options.shapes.empty() && result.trial;
  if (isOpen) {
    result.status = frontends::ImportStatus::ok;
    result.module = std::move(result.trial);
  }
  for (mlir::Diagnostic &diagnostic : problems) {
    bool isOfSizes =
        diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error ||
        llvm::StringRef(diagnostic.str()).starts_with("with --shape ");
    if (!isOpen || !isOfSizes)
      context.getDiagEngine().emit(std::move(diagnostic));
  }
  return result;
}

bool Importer::takesBounds() const {
  return wanted.takesBounds && choices.ranges.empty() &&
         choices.otherShapes.empty() && !choices.stream && !choices.batch &&
         !choices.limitsPlan() && choices.tuning.empty();
}

void Importer::takeBounds(const frontends::SizeBounds &bounds) {
  for (const auto &[input, dims] : bounds) {
    bool varies = false;
    for (const frontends::SizeBound &bound : dims) {
      varies |= bound.low != bound.high;
      choices.shapes[input].push_back(bound.high);
      if (wanted.takesRanges)
        choices.ranges[input].push_back({bound.low, bound.high, bound.step});
    }
    if (varies && !wanted.takesRanges)
      mlir::emitWarning(
          mlir::FileLineColLoc::get(&context, choices.model, 0, 0))
          << "input '" << input << "' has the largest sizes that the model "
          << "allows; --shape gives others";
  }
}

bool Importer::passesRanges(const frontends::GivenShapes &shapes) const {
  for (const auto &[input, sizes] : shapes)
    if (auto ranges = choices.ranges.find(input);
        ranges != choices.ranges.end())
      for (auto [size, range] : llvm::zip(sizes, ranges->second))
        if (size < range.low || size > range.high)
          return true;
  return false;
}

ExitCode Importer::importPoint(const ImportPoint &point, ImportedModel &model) {
  auto import = wanted.mayStayOpen ? importOpen : frontends::importModel;
  frontends::ImportResult result = import(
      choices.model,
      {point.shapes, choices.name, choices.externalData, choices.modelWeights,
       choices.tfliteRounding, choices.customs.functions, point.found,
       point.isSample || !choices.ranges.empty() || choices.foundSizes,
       choices.values, choices.limits,
       choices.stream ? choices.stream->input : "",
       /*trial=*/"", point.batch,
       /*takesOneSample=*/!wanted.mayStayOpen, point.expectedSizes,
       choices.signature, takesBounds(), passesRanges(point.shapes)},
      context, wanted.command);
  choices.shapes.insert(result.samples.begin(), result.samples.end());
  takeBounds(result.bounds);
  if (result.status != frontends::ImportStatus::ok) {
    ExitCode code = exitCodeOf(result.status);
    if (code != ExitCode::usage || !result.trial)
      return code;
    (*result.trial)->setAttr(target::kTargetAttr, machine);
    ExitCode checked = check(*result.trial);
    return checked == ExitCode::done ? code : checked;
  }
  model = {};
  model.module = std::move(result.module);
  model.dimNames = std::move(result.dimNames);
  model.foundSizes = std::move(result.foundSizes);
  model.metadata = std::move(result.metadata);
  model.dataFiles = std::move(result.dataFiles);
  choices.customs.storeIn(*model.module);
  if (wanted.keepsImport)
    model.saved = llvm::cast<mlir::ModuleOp>((*model.module)->clone());
  if (ExitCode code = quantize(model); code != ExitCode::done)
    return code;
  mlir::ModuleOp module = *model.module;
  auto name = module->getAttrOfType<mlir::StringAttr>(nn::kModelAttr);
  std::vector<std::string> clashes =
      choices.customs.findClashes(name ? name.getValue() : "");
  for (const std::string &clash : clashes)
    mlir::emitError(mlir::UnknownLoc::get(&context)) << "--custom: " << clash;
  if (!clashes.empty())
    return ExitCode::usage;
  module->setAttr(target::kTargetAttr, machine);
  mlir::PassManager manager(&context);
  manager.addPass(createConstraints(choices));
  return mlir::succeeded(manager.run(module)) ? ExitCode::done
                                              : ExitCode::ownFault;
}

ExitCode Importer::quantize(ImportedModel &model) {
  return choices.precision == Precision::i8
             ? choices.quantization.quantize(choices, model)
             : ExitCode::done;
}

ExitCode Importer::stream(ImportedModel &model) {
  auto function = *model.module->getOps<mlir::func::FuncOp>().begin();
  std::vector<std::string> names;
  std::optional<unsigned> input;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    if (nn::getNextValue(function, i))
      continue;
    auto name = function.getArgAttrOfType<mlir::StringAttr>(i, nn::kNameAttr);
    names.push_back(name ? name.getValue().str() : "");
    if (names.back() == choices.stream->input)
      input = i;
  }
  if (choices.stream->input.empty() && names.size() == 1)
    input = 0;
  if (!input) {
    mlir::emitError(mlir::FileLineColLoc::get(&context, choices.model, 0, 0))
        << (choices.stream->input.empty()
                ? "has several inputs; say which one is a window of time with "
                  "--stream=INPUT=AXIS"
                : "has no input '" + choices.stream->input +
                      "' that is a window of time")
        << "; there " << (names.size() == 1 ? "is " : "are ")
        << llvm::join(names, ", ")
        << frontends::didYouMean(choices.stream->input, names);
    return ExitCode::usage;
  }
  StreamOptions options;
  options.input = *input;
  options.axis = choices.stream->axis;
  options.hop = choices.stream->frames;
  mlir::PassManager manager(&context);
  manager.nest<mlir::func::FuncOp>().addPass(createStream(options));
  model.streamPasses = spellPasses(manager);
  return mlir::succeeded(manager.run(*model.module)) ? ExitCode::done
                                                     : ExitCode::usage;
}

ExitCode Importer::gatherSamples(ImportedModel &model) {
  if (!sized)
    return ExitCode::done;
  auto advice = adviseOnSizes();
  return sized->gatherSamples(model);
}

std::string Importer::spellOneSize() const {
  std::vector<std::string> places, shapes;
  llvm::StringSet<> named;
  for (const auto &[input, dims] : choices.ranges) {
    auto names = dimNames.find(input);
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      std::string name = names != dimNames.end() && axis < names->second.size()
                             ? names->second[axis]
                             : "";
      // A size without a name is called by its input and its axis.
      if (dims[axis].varies() && !name.empty() && named.insert(name).second)
        places.push_back(
            fmt::format("'{}' is axis {} of '{}'", name, axis, input));
    }
    auto largest = choices.shapes.find(input);
    if (largest != choices.shapes.end())
      shapes.push_back(
          fmt::format("--shape {}={}", input, fmt::join(largest->second, "x")));
  }
  std::string text =
      places.empty() ? "" : fmt::format("; {}", fmt::join(places, ", "));
  return fmt::format("{}; {} compiles the model for the largest sizes alone",
                     text, fmt::join(shapes, " "));
}

std::unique_ptr<mlir::ScopedDiagnosticHandler> Importer::adviseOnSizes() const {
  if (!sized)
    return nullptr;
  std::string advice =
      sized->isFoundOnly()
          ? "; give the rows a fixed number before: join them with as many "
            "zeros (Concat) and take the first ones (Slice)"
          : spellOneSize();
  return std::make_unique<mlir::ScopedDiagnosticHandler>(
      &context, [advice](mlir::Diagnostic &diagnostic) {
        if (llvm::StringRef(diagnostic.str())
                .contains("in a way that nnc does not handle"))
          diagnostic << advice;
        return mlir::failure();
      });
}

} // namespace nnc::tools
