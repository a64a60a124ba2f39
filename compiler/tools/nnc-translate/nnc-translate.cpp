//===- nnc-translate.cpp - Imports models and prints their IR -------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A tool for tests and for people who want to see the IR of an imported model:
// `nnc-translate --import model.onnx --shape=x=1x3x48x320`.
//
//===----------------------------------------------------------------------===//

#include "compiler/pipelines/Pipeline.h"
#include "frontends/Registry.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace nnc;
namespace cl = llvm::cl;

static cl::list<std::string> inputs(cl::Positional, cl::desc("<models>"));
static cl::opt<bool> importModels("import",
                                  cl::desc("Print a model as nn dialect"));
static cl::alias importOnnx("import-onnx", cl::desc("The same as --import"),
                            cl::aliasopt(importModels));
static cl::opt<bool> listOps("list-ops",
                             cl::desc("Print the operators supported"));
static cl::list<std::string>
    shapes("shape", cl::desc("Shape of an input: x=1x3x48x320"));
static cl::opt<std::string> name("name", cl::desc("Name of the module"));
static cl::opt<bool> complete(
    "complete",
    cl::desc("Print weights and locations too, as nnc-opt reads them"));
static cl::opt<bool> locations("locations", cl::desc("Print locations"));
static cl::opt<bool> metadata("metadata", cl::desc("Print metadata entries"));
static cl::opt<bool>
    singleRounding("single-rounding",
                   cl::desc("Round TFLite's fixed-point products once"));
static cl::opt<bool> quiet("quiet", cl::desc("Import, but print nothing"));
static cl::opt<int64_t> elide("elide", cl::init(16),
                              cl::desc("Hide constants of more elements"));

/// Parses an option such as "x=1x3x48x320" into `options`.
static bool parseShape(StringRef text, frontends::ImportOptions &options) {
  auto [key, sizes] = text.rsplit('=');
  SmallVector<StringRef> parts;
  sizes.split(parts, 'x');
  std::vector<int64_t> &shape = options.shapes[key.str()];
  for (StringRef part : parts)
    if (!llvm::to_integer(part, shape.emplace_back(), 10))
      return false;
  return true;
}

static StringRef getName(frontends::ImportStatus status) {
  switch (status) {
  case frontends::ImportStatus::ok:
    return "ok";
  case frontends::ImportStatus::broken:
    return "broken";
  case frontends::ImportStatus::unsupported:
    return "unsupported";
  case frontends::ImportStatus::unbound:
    return "unbound";
  case frontends::ImportStatus::limit:
    return "limit";
  case frontends::ImportStatus::fault:
    return "fault";
  }
  llvm_unreachable("unknown status");
}

/// Imports one model and prints it. Returns false on failure.
static bool runImport(StringRef path, const frontends::ImportOptions &options,
                      MLIRContext &context) {
  frontends::ImportResult result =
      frontends::importModel(path, options, context);
  if (metadata)
    for (const auto &[key, value] : result.metadata)
      llvm::outs() << "// " << key << " = " << value << "\n";
  if (!result.module) {
    llvm::errs() << "status: " << getName(result.status) << "\n";
    return false;
  }
  if (quiet)
    return true;
  OpPrintingFlags flags;
  if (!complete)
    flags.elideLargeElementsAttrs(elide).elideLargeResourceString(elide);
  if (complete || locations)
    flags.enableDebugInfo(true, /*prettyForm=*/!complete);
  result.module->print(llvm::outs(), flags);
  return true;
}

/// Imports all models in the order of their names, because the order in which a
/// shell expands a pattern varies.
static int runImports() {
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  frontends::ImportOptions options;
  options.name = name;
  if (singleRounding)
    options.tfliteRounding = frontends::TfliteRounding::once;
  for (const std::string &shape : shapes)
    if (!parseShape(shape, options)) {
      llvm::errs() << "error: --shape=" << shape << " is not of the form "
                   << "input=1x3x48x320\n";
      return 2;
    }
  SmallVector<std::string> sorted(inputs.begin(), inputs.end());
  llvm::sort(sorted);
  bool failed = false;
  for (const std::string &path : sorted)
    failed |= !runImport(path, options, context);
  return failed;
}

static void printOps() {
  for (const frontends::Frontend *frontend : frontends::getFrontends())
    for (const frontends::OpRow &op : frontend->getOps())
      llvm::outs() << frontend->name << " " << op.name << " " << op.first << "-"
                   << op.last << " " << op.limits << "\n";
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "nnc's frontends\n");
  if (listOps) {
    printOps();
    return 0;
  }
  if (importModels && !inputs.empty())
    return runImports();
  llvm::errs() << "error: needs --import and a model\n";
  return 2;
}
