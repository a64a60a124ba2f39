//===- TargetOption.cpp - --target ----------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/commandline/OptionValue.h"
#include "compiler/tools/nnc/options/Options.h"

#include "dialects/target/Target.h"
#include "frontends/common/Suggest.h"

#include "mlir/IR/MLIRContext.h"

#include <CLI/CLI.hpp>

namespace nnc::tools {

/// Returns the possible values of --target.
static std::vector<std::string> getTargetNames() {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::vector<std::string> names = {"native"};
  for (target::MachineAttr machine : target::getMachines(&context))
    names.push_back(machine.getName().str());
  return names;
}

/// Returns an error message if there is no such target, or else an empty
/// string.
static std::string findTargetProblem(const std::string &given) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::string problem;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &said) { problem = said.str(); });
  if (succeeded(target::getMachine(given, mlir::UnknownLoc::get(&context))))
    return "";
  return problem + frontends::didYouMean(given, getTargetNames());
}

void addTargetOption(CLI::App &app, std::string &target, const char *help) {
  CLI::Option *option = app.add_option("--target", target, help)
                            ->type_name("T")
                            ->capture_default_str();
  setWords(*option, getTargetNames, findTargetProblem);
}

} // namespace nnc::tools
