//===- try_models.cpp - Compiles many models in one process ---------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// Reads paths of models from stdin, one a line, and prints a word for each: how
// the import or the passes ended. mutations.py starts it, again where a model
// ends the process, and judges by that. Arguments: the seconds that a model may
// take, and "sanitized" in a build that is.
//
//===----------------------------------------------------------------------===//

#include "compiler/pipelines/Pipeline.h"
#include "dialects/target/Target.h"
#include "frontends/Registry.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

using namespace nnc;

namespace {

/// Records the name of the pass that failed first.
class Watch : public mlir::PassInstrumentation {
public:
  explicit Watch(std::string &failed) : failed(failed) {}
  void runAfterPassFailed(mlir::Pass *pass, mlir::Operation *) override {
    if (failed.empty())
      failed = pass->getArgument().str();
  }

private:
  std::string &failed;
};

const char *getName(frontends::ImportStatus status) {
  switch (status) {
  case frontends::ImportStatus::ok:
    return "sound";
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
  return "fault";
}

/// Returns the word that describes what happened to the model at `path`, and
/// stores the last message in `said`.
std::string tryModel(const std::string &path, std::string &said) {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          said = diagnostic.str();
                                          return mlir::success();
                                        });
  frontends::ImportResult result =
      frontends::importModel(path, frontends::ImportOptions(), context);
  if (!result.module)
    return getName(result.status);
  mlir::Location unknown = mlir::UnknownLoc::get(&context);
  (*result.module)
      ->setAttr(target::kTargetAttr, *target::getMachine("x86-64-v3", unknown));
  PipelineOptions options;
  options.target = "";
  mlir::PassManager manager(&context);
  std::string failed;
  manager.addInstrumentation(std::make_unique<Watch>(failed));
  buildPipeline(manager, options);
  if (mlir::succeeded(manager.run(*result.module)))
    return "compiled";
  // These may find what nnc lacks (compiler/tools/driver/compile/Driver.cpp).
  for (const char *pass :
       {"nnc-qnn-canonicalize", "nnc-legalize", "nnc-choose-routines"})
    if (failed == pass)
      return "lacking";
  return "fault:" + failed;
}

void stop(int) {
  static const char text[] = "timeout\n";
  // All earlier output has been flushed, so nothing is lost or out of order.
  [[maybe_unused]] auto written = write(STDOUT_FILENO, text, sizeof text - 1);
  _exit(3);
}

} // namespace

/// The default options of AddressSanitizer. A process that reaches 4 GiB has
/// found a model that takes too much memory. Leaks are not reported, because
/// MLIR keeps caches. User poisoning is off: LLVM's allocators poison memory,
/// and its library, built without a sanitizer, does not undo that.
extern "C" const char *__asan_default_options() {
  return "hard_rss_limit_mb=4096:max_allocation_size_mb=3072:detect_leaks=0:"
         "handle_abort=1:allow_user_poisoning=0";
}

int main(int argc, char **argv) {
  auto seconds = static_cast<unsigned>(argc > 1 ? std::atoi(argv[1]) : 10);
  // AddressSanitizer reserves terabytes of address space.
  if (argc <= 2) {
    rlimit memory = {rlim_t(6) << 30, rlim_t(6) << 30};
    setrlimit(RLIMIT_AS, &memory);
  }
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  signal(SIGALRM, stop);
  for (std::string path; std::getline(std::cin, path);) {
    alarm(seconds);
    std::string said;
    std::string word = tryModel(path, said);
    alarm(0);
    std::cout << word << '\n' << std::flush;
    if (word.rfind("fault", 0) == 0)
      std::cerr << said << std::endl;
  }
  return 0;
}
