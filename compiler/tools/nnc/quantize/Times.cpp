//===- Times.cpp - How long models and their layers should take -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/tools/nnc/quantize/Times.h"

#include "compiler/routines/IntegerSums.h"
#include "compiler/routines/LayerForms.h"
#include "compiler/routines/PlanGraph.h"

namespace nnc::tools {

/// The plan that the compiler chooses for a model, and its estimated time.
struct Times::Plan {
  std::unique_ptr<Driver> driver;
  double seconds = 0;
  int64_t weightBytes = 0;              ///< of the model as it was imported
  std::map<std::string, double> layers; ///< seconds, by the node's name
  /// The seconds of products of integers if floats or integers compute them and
  /// all other layers stay as they are in the plan.
  std::map<std::string, ProductTimes> products;
};

/// Returns the seconds of a layer that multiplies integers with the best
/// candidates of either kind; nothing if it has none with floats.
static std::optional<ProductTimes>
compare(nn::LayerOp layer, const PlanGraph &graph, const nnc::Plan &plan) {
  constexpr double none = std::numeric_limits<double>::infinity();
  ProductTimes times{none, none};
  const double own = graph.getChoice(layer, plan).seconds;
  for (const nnc::Candidate &candidate : graph.getCandidates(layer)) {
    double &best = multipliesIntegers(candidate.getForm(layer)) ? times.integers
                                                                : times.floats;
    best = std::min(best, own + graph.getExtraSeconds(layer, candidate, plan));
  }
  return times.floats < none ? std::optional(times) : std::nullopt;
}

/// Compiles the model as the quantizer would write it now, for the target.
ExitCode Times::makePlan(const std::string &name, Plan &plan) {
  const QuantizeSettings &settings = session.getSettings();
  llvm::Expected<std::string> text =
      session.getQuantizer().printWithoutShapes();
  if (!text)
    return fail(text.takeError(), ExitCode::limit);
  llvm::Expected<std::unique_ptr<Scratch>> folder = makeTemporaryFolder();
  if (!folder)
    return fail(folder.takeError(), ExitCode::ownFault);
  ModelOptions own;
  own.model = (*folder)->path() + "/" + name + ".onnx";
  own.shapes = settings.model.shapes;
  own.target = settings.model.target;
  own.name = name;
  own.runOn(settings.threads);
  if (llvm::Error error = writeTextFile(own.model, *text))
    return fail(std::move(error), ExitCode::ownFault);
  plan.driver = std::make_unique<Driver>(own, DriverOptions{true});
  for (ExitCode (Driver::*step)() : {&Driver::import, &Driver::compile})
    if (ExitCode code = (plan.driver.get()->*step)(); code != ExitCode::done)
      return code;
  auto machine = target::getTarget(plan.driver->formed());
  if (mlir::failed(machine))
    return ExitCode::ownFault;
  for (auto function : plan.driver->imported().getOps<mlir::func::FuncOp>())
    plan.weightBytes += getWeightBytes(function);
  for (auto function : plan.driver->formed().getOps<mlir::func::FuncOp>()) {
    LayerForms forms(function, own.precision,
                     limitProducts(plan.driver->weightRules()));
    CostModel cost =
        makeCostModel(function, *machine, /*measured=*/nullptr,
                      /*memo=*/nullptr, &forms, plan.driver->weightRules());
    auto graph = PlanGraph::build(function, cost, own.maxError);
    if (mlir::failed(graph))
      return ExitCode::unsupported;
    nnc::Plan solved = graph->solve();
    plan.seconds += solved.cost;
    for (auto layer : function.getBody().getOps<nn::LayerOp>()) {
      const std::string name = nn::getModelName(layer.getLoc()).str();
      plan.layers[name] += graph->getChoice(layer, solved).seconds;
      if (multipliesIntegers(layer))
        if (auto times = compare(layer, *graph, solved))
          plan.products[name] = *times;
    }
  }
  return ExitCode::done;
}

/// Estimates each convolution and matrix product of the float model alone, by
/// the name of its node.
static ExitCode estimateProducts(Driver &driver, int64_t weightBytes,
                                 std::map<std::string, ProductTimes> &times) {
  auto machine = target::getTarget(driver.formed());
  if (mlir::failed(machine))
    return ExitCode::ownFault;
  CostModel cost(*machine, weightBytes);
  driver.imported().walk([&](mlir::Operation *op) {
    if (mlir::isa<nn::ConvOp, nn::ConvTransposeOp, nn::MatMulOp>(op))
      times.emplace(nn::getModelName(op->getLoc()).str(),
                    estimateProduct(op, cost));
  });
  return ExitCode::done;
}

ExitCode Times::open() {
  onnx::Quantizer &quantizer = session.getQuantizer();
  std::vector<onnx::LayerSummary> all = quantizer.getLayers();
  Plan integers, floats;
  if (ExitCode code = makePlan("integers", integers); code != ExitCode::done)
    return code;
  std::map<int, std::string> kept;
  for (const onnx::LayerSummary &layer : all)
    kept[layer.node] = "kept to estimate the float model";
  quantizer.keepFloats(kept);
  ExitCode code = makePlan("floats", floats);
  quantizer.keepFloats({});
  if (code != ExitCode::done)
    return code;
  floatSeconds = floats.seconds;
  integerSeconds = integers.seconds;
  // Nodes keep their names in the float model only: where they have none, those
  // of their results count.
  std::map<std::string, ProductTimes> products;
  code = estimateProducts(*floats.driver, integers.weightBytes, products);
  if (code != ExitCode::done)
    return code;
  // The search of the quantized model knows more: conversions are shared.
  for (const auto &[name, times] : integers.products)
    products[name] = times;
  auto find = [](const std::map<std::string, double> &seconds,
                 const std::string &name) {
    auto found = seconds.find(name);
    return found == seconds.end() ? 0 : found->second;
  };
  for (const onnx::LayerSummary &layer : all) {
    auto product = products.find(layer.name);
    bool isProduct = product != products.end();
    layers[layer.node] =
        isProduct
            ? LayerTimes{product->second.floats, product->second.integers, true}
            : LayerTimes{find(floats.layers, layer.name),
                         find(integers.layers, layer.name), false};
  }
  return ExitCode::done;
}

ExitCode Times::estimate(double &seconds) {
  Plan plan;
  ExitCode code = makePlan("mixed", plan);
  seconds = plan.seconds;
  return code;
}

} // namespace nnc::tools
