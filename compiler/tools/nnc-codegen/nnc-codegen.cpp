//===- nnc-codegen.cpp - Generates code from an exec program --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A tool for tests and for people who edited an exec program by hand:
//
//===----------------------------------------------------------------------===//

#include "codegen/Codegen.h"
#include "compiler/pipelines/Pipeline.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

namespace cl = llvm::cl;

static cl::opt<std::string>
    input(cl::Positional, cl::init("-"),
          cl::desc("exec program (.mlir, - for stdin)"));
static cl::opt<std::string> folder("o", cl::Required,
                                   cl::desc("folder to write"));
static cl::opt<std::string> weights("weights", cl::init("embed"),
                                    cl::desc("embed, array or file"));
static cl::opt<int> threads("with-threads", cl::init(1),
                            cl::desc("that nnc-plan-memory planned for"));

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "nnc's printer\n");
  mlir::DialectRegistry registry;
  nnc::registerDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceFile<mlir::ModuleOp>(input, &context);
  if (!module)
    return 1;
  nnc::codegen::EmitOptions options;
  options.weights = weights;
  options.threads = threads;
  return mlir::failed(nnc::codegen::emit(*module, folder, options));
}
