//===- Pipelines.cpp - What nnc-opt makes a module with -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/Driver.h"
#include "compiler/tools/driver/Files.h"

#include "compiler/SizesPipeline.h"

#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>

namespace nnc::tools {

std::string spellPasses(mlir::PassManager &manager) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  manager.printAsTextualPipeline(stream);
  llvm::StringRef inner = text;
  inner.consume_back(")");
  return inner.split('(').second.str();
}

static std::string join(llvm::ArrayRef<std::string> parts) {
  std::vector<std::string> passes;
  llvm::copy_if(parts, std::back_inserter(passes),
                [](const std::string &part) { return !part.empty(); });
  return llvm::join(passes, ",");
}

void Driver::notePasses() {
  mlir::PassManager constraints(&context), layers(&context), plan(&context);
  const PipelineOptions options = pipelineOptions(tuning);
  addConstraints(constraints, choices.target);
  if (finder) {
    buildSizesPipeline(plan, options);
  } else {
    buildLayersPipeline(layers, options);
    buildPlanPipeline(plan, options);
  }
  shapePasses.push_back(
      join({quantizePasses, spellPasses(constraints), streamPasses, stripPasses,
            spellPasses(layers), batchPasses, spellPasses(plan)}));
  if (savedOp)
    savedOps.push_back(std::move(savedOp));
}

/// Returns a problem with the path of a file in a pass option, or an empty
/// string.
static std::string findPathProblem(llvm::StringRef option,
                                   llvm::StringRef path) {
  // MLIR ends an option at a blank or a brace, and a quote begins a text.
  if (path.find_first_of("{}'\" ") == llvm::StringRef::npos)
    return "";
  return fmt::format("--print-pipeline: options of nnc-opt cannot name {}={}; "
                     "rename the file, without blanks, quotes and braces",
                     option.str(), path.str());
}

llvm::Expected<std::string> Driver::spellPipeline() const {
  for (auto [option, path] : {std::pair("--probe", choices.probe),
                              std::pair("--tuning", choices.tuning)})
    if (std::string problem = findPathProblem(option, path); !problem.empty())
      return makeError(problem);
  if (!llvm::all_equal(shapePasses))
    return makeError("--print-pipeline: the shapes have different passes with "
                     "these limits, and nnc-opt runs the same passes for all; "
                     "leave out --max-ram and --max-weights, or compile one "
                     "shape at a time");
  mlir::PassManager end(op.get()->getContext());
  std::string passes = shapePasses.front();
  if (choices.otherShapes.empty()) {
    buildEncodePipeline(end);
  } else {
    passes = fmt::format("builtin.module({})", passes);
    buildShapesPipeline(end);
  }
  // Modules inside of the module would have their passes run side by side.
  bool isNested = finder || !choices.otherShapes.empty();
  return fmt::format("nnc-opt --mlir-print-debuginfo{} "
                     "--pass-pipeline='builtin.module({})'",
                     isNested ? " --mlir-disable-threading" : "",
                     join({passes, spellPasses(end)}));
}

std::string Driver::spellImport() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  mlir::OpPrintingFlags flags;
  flags.enableDebugInfo(true, /*prettyForm=*/false);
  if (savedOps.size() == 1) {
    savedOps.front().get().print(stream, flags);
    return text;
  }
  mlir::OwningOpRef<mlir::ModuleOp> outer =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(op.get()->getContext()));
  for (const mlir::OwningOpRef<mlir::ModuleOp> &saved : savedOps)
    outer->push_back(saved.get()->clone());
  outer->print(stream, flags);
  return text;
}

} // namespace nnc::tools
