//===- PassRecord.cpp - Passes that nnc-opt makes a module with -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/driver/import/PassRecord.h"

#include "compiler/pipelines/SizesPipeline.h"
#include "compiler/tools/driver/system/Files.h"

#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>

namespace nnc::tools {

std::string spellPasses(mlir::OpPassManager &manager) {
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

/// Returns the textual form of the passes that `build` adds.
static std::string
spellAdded(llvm::function_ref<void(mlir::OpPassManager &manager)> build) {
  mlir::OpPassManager manager(mlir::ModuleOp::getOperationName());
  build(manager);
  return spellPasses(manager);
}

void PassRecord::add(const ModelOptions &options, ImportedModel &model,
                     bool isSampled, const PlannedPasses &planned) {
  auto constrain = [&](mlir::OpPassManager &manager) {
    manager.addPass(createConstraints(options, options.target));
  };
  std::string constraints = spellAdded([&](mlir::OpPassManager &manager) {
    isSampled ? addForEachSize(manager, constrain) : constrain(manager);
  });
  std::string strips = spellAdded([&](mlir::OpPassManager &manager) {
    if (planned.strips)
      addStrips(manager, *planned.strips);
  });
  std::string program = spellAdded([&](mlir::OpPassManager &manager) {
    if (!planned.batch)
      return buildNetworkPipeline(manager, isSampled, planned.options);
    buildLayersPipeline(manager, planned.options);
    manager.addPass(planned.batch->createPass());
    buildPlanPipeline(manager, planned.options);
  });
  passes.push_back(join({model.quantizePasses, constraints, model.streamPasses,
                         strips, program}));
  isNested |= isSampled;
  if (model.saved)
    imports.push_back(std::move(model.saved));
}

/// Returns why the path of a file cannot be written in a pass option, or an
/// empty string if it can.
static std::string findPathProblem(llvm::StringRef option,
                                   llvm::StringRef path) {
  // MLIR ends an option at a blank or a brace, and a quote begins a text.
  if (path.find_first_of("{}'\" ") == llvm::StringRef::npos)
    return "";
  return fmt::format("--print-pipeline: options of nnc-opt cannot name {}={}; "
                     "rename the file, without blanks, quotes and braces",
                     option.str(), path.str());
}

std::string PassRecord::spellPrograms() const {
  if (passes.size() == 1)
    return passes.front();
  std::vector<std::string> nested;
  for (const std::string &shape : passes)
    nested.push_back(fmt::format("builtin.module({})", shape));
  return llvm::all_equal(nested)
             ? nested.front()
             : fmt::format("nnc-for-each-shape{{passes={}}}",
                           llvm::join(nested, ","));
}

llvm::Expected<std::string>
PassRecord::spell(const ModelOptions &options) const {
  for (auto [option, path] : {std::pair("--probe", options.probe),
                              std::pair("--tuning", options.tuning)})
    if (std::string problem = findPathProblem(option, path); !problem.empty())
      return makeError(problem);
  const bool hasSeveral = passes.size() > 1;
  std::string end = spellAdded([&](mlir::OpPassManager &manager) {
    hasSeveral ? buildShapesPipeline(manager) : buildEncodePipeline(manager);
  });
  // Modules inside the module would have their passes run in parallel
  // otherwise.
  return fmt::format("nnc-opt --mlir-print-debuginfo{} "
                     "--pass-pipeline='builtin.module({})'",
                     isNested || hasSeveral ? " --mlir-disable-threading" : "",
                     join({spellPrograms(), end}));
}

std::string PassRecord::spellImport() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  mlir::OpPrintingFlags flags;
  flags.enableDebugInfo(true, /*prettyForm=*/false);
  if (imports.size() == 1) {
    imports.front().get().print(stream, flags);
    return text;
  }
  mlir::MLIRContext *context = imports.front().get().getContext();
  mlir::OwningOpRef<mlir::ModuleOp> outer =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(context));
  for (const mlir::OwningOpRef<mlir::ModuleOp> &imported : imports)
    outer->push_back(imported.get()->clone());
  outer->print(stream, flags);
  return text;
}

} // namespace nnc::tools
