//===- tuning_selection_test.cpp - What is measured, and by what program --===//

#include "compiler/pipelines/Pipeline.h"
#include "compiler/routines/PlanGraph.h"
#include "compiler/tuning/Selection.h"

#include "dialects/exec/Exec.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>
#include <set>

using namespace mlir;
using namespace nnc;

/// A function of two convolutions, the second with K filters, and a layer
/// without weights.
static const char *const kFunction = R"(
func.func @f(%x: tensor<1x64x28x28xf32>) -> tensor<1xKx28x28xf32> {
  %w = nn.constant dense<1.0> : tensor<64x64x3x3xf32>
  %v = nn.constant dense<2.0> : tensor<Kx64x3x3xf32>
  %0 = nn.layer "conv1" inputs(%x, %w : tensor<1x64x28x28xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x28x28xf32>
  anchor {
  ^bb0(%a: tensor<1x64x28x28xf32>, %b: tensor<64x64x3x3xf32>):
    %c = nn.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x28x28xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x28x28xf32>
    nn.yield %c : tensor<1x64x28x28xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  %1 = nn.layer "conv2" inputs(%0, %v : tensor<1x64x28x28xf32>, tensor<Kx64x3x3xf32>) -> tensor<1xKx28x28xf32>
  anchor {
  ^bb0(%a: tensor<1x64x28x28xf32>, %b: tensor<Kx64x3x3xf32>):
    %c = nn.conv %a, %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x64x28x28xf32>, tensor<Kx64x3x3xf32>) -> tensor<1xKx28x28xf32>
    nn.yield %c : tensor<1xKx28x28xf32>
  } epilogue {
  ^bb0(%e: f32):
    nn.yield %e : f32
  }
  %2 = nn.layer "relu" extras(%1 : tensor<1xKx28x28xf32>) -> tensor<1xKx28x28xf32>
  anchor {
  } epilogue {
  ^bb0(%e: f32):
    %r = nn.relu %e : f32
    nn.yield %r : f32
  }
  return %2 : tensor<1xKx28x28xf32>
}
)";

namespace {
struct Model {
  explicit Model(int filters = 64) {
    DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    std::string text = kFunction, number = std::to_string(filters);
    for (size_t at; (at = text.find('K')) != std::string::npos;)
      text.replace(at, 1, number);
    module = parseSourceString<ModuleOp>(text, &context);
    REQUIRE(module);
    function = *module->getOps<func::FuncOp>().begin();
    auto row = target::getMachine("x86-64-v3", UnknownLoc::get(&context));
    REQUIRE(succeeded(row));
    machine = *row;
  }
  Selection select(const Measurements &known) {
    auto selection =
        selectJobs(function, makeCostModel(function, machine, &known), 1);
    REQUIRE(succeeded(selection));
    return std::move(*selection);
  }

  SmallVector<Job, 0> sample(const Measurements &known) {
    auto selection =
        sampleJobs(function, makeCostModel(function, machine, &known), 1);
    REQUIRE(succeeded(selection));
    return std::move(selection->jobs);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  target::MachineAttr machine;
};
} // namespace

TEST_CASE("Each subject is selected once, and none that is known") {
  Model model;
  Measurements known;
  size_t subjects = 0;
  forEachJob(model.function, CostModel(model.machine, 0),
             [&](const Job &) { ++subjects; });
  // Every measurement reports the same time.
  for (int round = 0;; ++round) {
    REQUIRE(round <= int(subjects));
    Selection selection = model.select(known);
    if (selection.jobs.empty())
      break;
    for (const Job &job : selection.jobs)
      CHECK(known.emplace(job.subject, 100000).second);
  }
  CHECK(!known.empty());
  CHECK(known.size() <= subjects);
  // Nothing that matters is in the plan by an estimate of its own.
  CostModel cost = makeCostModel(model.function, model.machine, &known);
  auto graph = PlanGraph::build(model.function, cost, 1);
  REQUIRE(succeeded(graph));
  Plan plan = graph->solve();
  for (auto layer : model.function.getOps<nn::LayerOp>()) {
    const Candidate &choice = graph->getChoice(layer, plan);
    CHECK((choice.measured || choice.alike));
  }
}

TEST_CASE("Of a call on layers alike one is selected, which tells of all") {
  Model model(48);
  Measurements known;
  std::set<std::string> calls;
  for (const Job &job : model.select({}).jobs) {
    CHECK(calls.insert(getAlikeCall(job.subject)).second);
    known[job.subject] = 100000;
  }
  CostModel cost = makeCostModel(model.function, model.machine, &known);
  int alike = 0;
  forEachJob(model.function, cost, [&](const Job &job) {
    if (job.layer && !known.count(job.subject)) {
      CHECK(job.candidate.alike == calls.count(getAlikeCall(job.subject)));
      alike += job.candidate.alike;
    }
  });
  CHECK(alike > 2);
}

TEST_CASE("A memo changes nothing but how long it takes") {
  Model model;
  Measurements known;
  CandidateMemo memo;
  for (int round = 0; round < 3; ++round) {
    auto jobs = model.select(known).jobs;
    auto selection = selectJobs(
        model.function,
        makeCostModel(model.function, model.machine, &known, &memo), 1);
    REQUIRE(succeeded(selection));
    REQUIRE(selection->jobs.size() == jobs.size());
    for (auto [job, own] : llvm::zip(jobs, selection->jobs)) {
      CHECK(job.subject == own.subject);
      known[job.subject] = 50000 + 7919 * int64_t(known.size()) % 50000;
    }
  }
  CHECK(!memo.entries.empty());
}

TEST_CASE("What the plan consists of comes first, by its time") {
  Model model;
  Selection selection = model.select({});
  REQUIRE(selection.jobs.size() > 2);
  CHECK(selection.jobs[0].candidate.routine->family->name == "conv2d");
  CHECK(selection.planSeconds > 0);
}

TEST_CASE("A sample has every subject once, and takes from all layers") {
  Model model;
  Selection selection = model.select({});
  SmallVector<Job, 0> jobs = model.sample({});
  CHECK(jobs.size() > selection.jobs.size());
  Measurements known;
  for (const Job &job : jobs)
    CHECK(known.emplace(job.subject, 100000).second);
  // The plan's adapts and its layers, of which two are alike, begin.
  auto isOf = [&](StringRef family) {
    return [=](const Job &job) {
      return job.candidate.routine->family->name == family;
    };
  };
  auto begin = ArrayRef(jobs).take_until(isOf("elementwise"));
  CHECK(begin.size() < 4);
  CHECK(llvm::count_if(begin, isOf("conv2d")) == 1);
  for (const Job &job : model.sample(known))
    CHECK(known.count(job.subject) == 0);
}

TEST_CASE("A program calls each candidate, on an input just written") {
  Model model;
  Selection selection = model.select({});
  auto bench = buildBenchProgram(selection.jobs, model.machine, 1 << 30, false);
  REQUIRE(succeeded(bench));
  CHECK(succeeded(verify(*bench->module)));
  auto program = *bench->module->getOps<exec::ProgramOp>().begin();
  SmallVector<Operation *> steps;
  for (Operation &op : program.getBody().front())
    if (isa<exec::CallOp, exec::CopyOp>(op))
      steps.push_back(&op);
  REQUIRE(bench->calls.size() == selection.jobs.size());
  for (auto [job, range] : llvm::zip(selection.jobs, bench->calls)) {
    REQUIRE(range.first < range.second);
    for (int i = range.first; i < range.second; ++i) {
      auto call = dyn_cast<exec::CallOp>(steps[i]);
      REQUIRE(call);
      CHECK(call.getRoutine() == job.subject.routine);
    }
    auto written = dyn_cast<exec::CopyOp>(steps[range.first - 1]);
    auto call = cast<exec::CallOp>(steps[range.first]);
    REQUIRE(written);
    CHECK(written.getTarget() == call.getInputs()[0]);
  }
  // The weights of a model this large are not in the cache: neither are these.
  CHECK(int64_t(program.getArena()) >
        model.machine.getHost().getCore().getCaches().asArrayRef().back());
}
