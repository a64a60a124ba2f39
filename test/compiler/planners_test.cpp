//===- planners_test.cpp - Plans within limits of memory and time ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "test/compiler/TestMachine.h"

#include "compiler/pipelines/SizesPipeline.h"
#include "compiler/planners/BatchPlanner.h"
#include "compiler/planners/RamPlanner.h"
#include "dialects/exec/Exec.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace nnc;

namespace {
/// A network of convolutions of large images, which needs less memory in
/// strips.
class Planners : public TestMachine {
public:
  explicit Planners(llvm::StringRef target = "portable") : TestMachine(target) {
    options.target = "";
  }

  OwningOpRef<ModuleOp> parse(int64_t batch = 1) {
    auto type = [&](const char *shape) {
      return "tensor<" + std::to_string(batch) + shape + "xf32>";
    };
    std::string text =
        "func.func @main(%x: X {nn.name = \"x\"}) -> (Y {nn.name = \"y\"}) {\n"
        "%u = nn.constant dense<0.5> : tensor<16x1x3x3xf32>\n"
        "%a = nn.conv %x, %u {dilations = array<i64: 1, 1>, groups = 1 : i64, "
        "pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>} : (X, "
        "tensor<16x1x3x3xf32>) -> A\n"
        "%b = nn.relu %a : A\n"
        "%c = nn.max_pool %b {ceil_mode = false, dilations = array<i64: 1, 1>, "
        "kernel = array<i64: 4, 4>, pads = array<i64: 0, 0, 0, 0>, strides = "
        "array<i64: 4, 4>} : (A) -> C\n"
        "%v = nn.constant dense<0.25> : tensor<2x16x1x1xf32>\n"
        "%y = nn.conv %c, %v {dilations = array<i64: 1, 1>, groups = 1 : i64, "
        "pads = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1>} : (C, "
        "tensor<2x16x1x1xf32>) -> Y\n"
        "return %y : Y\n}\n";
    for (auto [name, shape] :
         {std::pair('X', "x1x64x64"), std::pair('A', "x16x64x64"),
          std::pair('C', "x16x16x16"), std::pair('Y', "x2x16x16")}) {
      std::string spelled = type(shape);
      for (size_t at = 0; (at = text.find(name, at)) != std::string::npos;
           at += spelled.size())
        text.replace(at, 1, spelled);
    }
    auto module = parseSourceString<ModuleOp>(text, &context);
    REQUIRE(module);
    (*module)->setAttr(target::kTargetAttr, machine);
    return module;
  }

  RamPlanner makePlanner(std::optional<int64_t> maxRam) {
    return RamPlanner(parse(), maxRam, options, run);
  }

  PipelineOptions options;
  PassRunner run = [](PassManager &manager, ModuleOp module) {
    return manager.run(module);
  };
};
} // namespace

static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

TEST_CASE("Without a limit a program is that of the pipeline") {
  Planners planners;
  RamPlanner planner = planners.makePlanner(std::nullopt);
  REQUIRE(succeeded(planner.plan()));
  CHECK(planner.fits());
  CHECK(planner.fit() == RamPlanner::Outcome::found);
  CHECK_FALSE(planner.getStrips());
  OwningOpRef<ModuleOp> same = planners.parse();
  PassManager manager(&planners.context);
  buildNetworkPipeline(manager, hasSamples(*same), planners.options);
  REQUIRE(succeeded(manager.run(*same)));
  CHECK(print(*same) == print(planner.getModule()));
}

TEST_CASE("Strips bring a program into a limit, and are its only change") {
  Planners planners;
  constexpr int64_t limit = 40 << 10;
  RamPlanner planner = planners.makePlanner(limit);
  REQUIRE(succeeded(planner.plan()));
  CHECK_FALSE(planner.fits());
  REQUIRE(planner.fit() == RamPlanner::Outcome::found);
  CHECK(countRam(planner.getModule()).bytes <= limit);
  REQUIRE(planner.getStrips());
  OwningOpRef<ModuleOp> same = planners.parse();
  PassManager manager(&planners.context);
  addStrips(manager, *planner.getStrips());
  buildNetworkPipeline(manager, /*isSampled=*/false, planner.getOptions());
  REQUIRE(succeeded(manager.run(*same)));
  CHECK(print(*same) == print(planner.getModule()));
}

TEST_CASE("A program that fits a limit fits all that are larger") {
  for (llvm::StringRef target : {"portable", "x86-64-v3"}) {
    Planners planners(target);
    bool didFit = false;
    for (int64_t limit = 8 << 10; limit <= 1 << 20; limit *= 2) {
      RamPlanner planner = planners.makePlanner(limit);
      REQUIRE(succeeded(planner.plan()));
      RamPlanner::Outcome outcome = planner.fit();
      CAPTURE(target.str(), limit);
      REQUIRE(outcome != RamPlanner::Outcome::failed);
      const bool fits = outcome == RamPlanner::Outcome::found;
      CHECK((fits || !didFit));
      if (fits)
        CHECK(countRam(planner.getModule()).bytes <= limit);
      didFit |= fits;
    }
    CHECK(didFit);
  }
}

TEST_CASE("What a program takes at least does not depend on the limit") {
  Planners planners;
  std::optional<int64_t> least;
  for (int64_t limit : {1000, 4000}) {
    RamPlanner planner = planners.makePlanner(limit);
    REQUIRE(succeeded(planner.plan()));
    REQUIRE(planner.fit() == RamPlanner::Outcome::large);
    std::optional<int64_t> strips = planner.getLeastInStrips();
    REQUIRE(strips);
    CHECK(*strips < planner.getLeast().bytes);
    CHECK(*strips == least.value_or(*strips));
    least = strips;
  }
  // A program takes as many bytes with this limit.
  RamPlanner planner = planners.makePlanner(least);
  REQUIRE(succeeded(planner.plan()));
  REQUIRE(planner.fit() == RamPlanner::Outcome::found);
  CHECK(countRam(planner.getModule()).bytes == *least);
}

TEST_CASE("A program is brought into its memories") {
  Planners planners;
  auto memory = [&](const char *name, int64_t kilobytes) -> Attribute {
    return exec::MemoryAttr::get(&planners.context, name, kilobytes << 10,
                                 /*slow=*/false, /*bytes=*/0, /*device=*/"");
  };
  // A program that fits into small memories fits into larger ones. Inputs and
  // outputs are in none of them.
  for (auto [a, b] : {std::pair(12, 24), std::pair(12, 32), std::pair(16, 24),
                      std::pair(16, 32), std::pair(20, 30)}) {
    OwningOpRef<ModuleOp> network = planners.parse();
    auto function = *network->getOps<func::FuncOp>().begin();
    function->setAttr(
        exec::kMemoriesAttr,
        ArrayAttr::get(&planners.context, {memory("a", a), memory("b", b)}));
    RamPlanner planner(std::move(network), /*maxRam=*/std::nullopt,
                       planners.options, planners.run);
    CAPTURE(a, b);
    REQUIRE(succeeded(planner.plan()));
    CHECK_FALSE(planner.fits());
    REQUIRE(planner.fit() == RamPlanner::Outcome::found);
    CHECK_FALSE(countRam(planner.getModule()).tooSmall);
  }
}

TEST_CASE("Passes that fail end the search") {
  Planners planners;
  planners.run = [](PassManager &, ModuleOp) { return failure(); };
  CHECK(failed(planners.makePlanner(std::nullopt).plan()));
  int runs = 0;
  planners.run = [&](PassManager &manager, ModuleOp module) {
    return ++runs == 1 ? manager.run(module) : failure();
  };
  RamPlanner planner = planners.makePlanner(40 << 10);
  REQUIRE(succeeded(planner.plan()));
  CHECK(planner.fit() == RamPlanner::Outcome::failed);
}

TEST_CASE("Batch sizes keep to limits of memory and time") {
  Planners planners;
  OwningOpRef<ModuleOp> formed = planners.parse(/*batch=*/4);
  PassManager manager(&planners.context);
  buildLayersPipeline(manager, planners.options);
  REQUIRE(succeeded(manager.run(*formed)));
  using Outcome = BatchPlanner::Outcome;
  auto plan = [&](BatchLimits limits, auto check) {
    BatchPlanner planner(*formed, limits, planners.options, planners.run);
    check(planner.choose(/*compares=*/false), planner);
  };
  plan({{1, 4}, std::nullopt}, [](Outcome outcome, BatchPlanner &planner) {
    CHECK(outcome == Outcome::found);
    CHECK(planner.getChoice().plan.count >= 1);
    CHECK(planner.getChoice().plan.count <= 4);
  });
  plan({{4, 4}, 400 << 10}, [](Outcome outcome, BatchPlanner &planner) {
    REQUIRE(outcome == Outcome::found);
    CHECK(planner.getChoice().plan.count == 4);
    // Four samples at once take more.
    CHECK(planner.getChoice().plan.segments.front().size < 4);
    CHECK(countRam(*planner.takeModule()).bytes <= 400 << 10);
  });
  plan({{1, 4}, 4 << 10}, [](Outcome outcome, BatchPlanner &planner) {
    CHECK(outcome == Outcome::large);
    CHECK(planner.getLeast().bytes > 4 << 10);
  });
  plan({{1, 4}, std::nullopt, 1e-9},
       [](Outcome outcome, BatchPlanner &planner) {
         CHECK(outcome == Outcome::slow);
         CHECK(planner.getLeastSeconds() > 1e-9);
       });
}
