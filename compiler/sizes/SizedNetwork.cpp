//===- SizedNetwork.cpp - A network at several sizes ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/sizes/SizedNetwork.h"

#include "dialects/exec/Exec.h"

using namespace mlir;
using namespace nnc;

static ArrayAttr describeSizes(ArrayRef<SizeRange> ranges,
                               MLIRContext *context) {
  SmallVector<Attribute> sizes;
  for (const SizeRange &range : ranges)
    sizes.push_back(exec::SizeAttr::get(context, range.name, range.low,
                                        range.high, range.step, range.isFound));
  return ArrayAttr::get(context, sizes);
}

/// Returns the ranges of the sizes; nullopt if an attribute is missing or does
/// not match the others.
static std::optional<std::vector<SizeRange>> readRanges(ModuleOp module) {
  auto sizes = module->getAttrOfType<ArrayAttr>(nn::kSizesAttr);
  auto within = module->getAttrOfType<DenseI64ArrayAttr>(nn::kSizesWithinAttr);
  auto computed = module->getAttrOfType<ArrayAttr>(nn::kSizesComputedAttr);
  auto isSize = [](Attribute size) { return isa<exec::SizeAttr>(size); };
  if (!sizes || !llvm::all_of(sizes, isSize) ||
      (within && size_t(within.size()) != sizes.size()) ||
      (computed && computed.size() != sizes.size()))
    return std::nullopt;
  std::vector<SizeRange> ranges;
  for (auto [i, size] : llvm::enumerate(sizes.getAsRange<exec::SizeAttr>())) {
    SizeRange &range = ranges.emplace_back(SizeRange{
        size.getName().str(), size.getLow(), size.getHigh(), size.getStep()});
    range.isFound = size.getFound();
    if (within && within[i] >= int64_t(i))
      return std::nullopt;
    if (within && within[i] >= 0)
      range.within = unsigned(within[i]);
    if (computed)
      range.computed = nn::LengthExpression::fromAttribute(computed[i]);
  }
  return ranges;
}

FailureOr<SizedNetwork> SizedNetwork::read(ModuleOp module) {
  auto plans = llvm::to_vector(module.getOps<ModuleOp>());
  auto largest = module->getAttrOfType<DenseI64ArrayAttr>(nn::kLargestAttr);
  auto ranges = readRanges(module);
  bool isSound = plans.size() == 1 && largest && ranges &&
                 size_t(largest.size()) == ranges->size();
  std::vector<SizePoint> points;
  std::vector<ModuleOp> networks;
  if (isSound) {
    points.emplace_back(largest.asArrayRef());
    networks.push_back(plans[0]);
  }
  for (auto sample : module.getOps<nn::SampleOp>()) {
    isSound = isSound && sample.getPoint().size() == ranges->size();
    points.emplace_back(sample.getPoint());
    networks.push_back(sample.getNetwork());
  }
  if (!isSound)
    return module.emitError()
           << "is no network at several sizes: it needs one module inside, "
              "each nn.sample a number for each of its sizes, and the "
              "attributes "
           << nn::kSizesAttr << " and " << nn::kLargestAttr
           << "; nnc compile --save-imported writes such a module";
  ExpressionFinder finder(*ranges, std::move(points), module.getContext());
  if (auto sums = module->getAttrOfType<ArrayAttr>(nn::kSumsAttr))
    for (auto sum : sums.getAsRange<AffineMapAttr>())
      finder.addSum(sum.getValue().getResult(0));
  SizedNetwork sampled(module, std::move(finder));
  sampled.networks = std::move(networks);
  return sampled;
}

static void storeSums(ModuleOp module, const ExpressionFinder &finder) {
  SmallVector<Attribute> sums;
  for (AffineExpr sum : finder.getSums())
    sums.push_back(
        AffineMapAttr::get(AffineMap::get(0, finder.getRanges().size(), sum)));
  module->setAttr(nn::kSumsAttr, ArrayAttr::get(module.getContext(), sums));
}

OwningOpRef<ModuleOp> SizedNetwork::join(ArrayRef<ModuleOp> networks,
                                         const ExpressionFinder &finder) {
  ModuleOp plan = networks[0];
  Location location = plan.getLoc();
  MLIRContext *context = plan.getContext();
  ModuleOp module = ModuleOp::create(location);
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  SmallVector<int64_t> within;
  SmallVector<Attribute> computed;
  for (const SizeRange &range : finder.getRanges()) {
    within.push_back(range.within ? int64_t(*range.within) : -1);
    computed.push_back(range.computed ? range.computed.toAttribute(context)
                                      : builder.getUnitAttr());
  }
  module->setAttr(nn::kSizesAttr, describeSizes(finder.getRanges(), context));
  module->setAttr(nn::kSizesWithinAttr, builder.getDenseI64ArrayAttr(within));
  module->setAttr(nn::kSizesComputedAttr, builder.getArrayAttr(computed));
  module->setAttr(nn::kLargestAttr,
                  builder.getDenseI64ArrayAttr(finder.getSamples()[0]));
  builder.insert(plan.getOperation());
  for (auto [i, point] : llvm::enumerate(finder.getSamples().drop_front())) {
    auto sample = builder.create<nn::SampleOp>(
        location, builder.getDenseI64ArrayAttr(point));
    ModuleOp network = networks[i + 1];
    sample.getBody().emplaceBlock().push_back(network);
  }
  storeSums(module, finder);
  return module;
}

bool SizedNetwork::isBeyond(ArrayRef<int64_t> point) const {
  return llvm::any_of(llvm::zip(point, finder.getRanges()), [](auto pair) {
    return std::get<0>(pair) > std::get<1>(pair).high;
  });
}

ArrayAttr SizedNetwork::getSizes() const {
  ModuleOp plan = getPlan();
  return describeSizes(finder.getRanges(), plan.getContext());
}

void SizedNetwork::keepSums() { storeSums(module, finder); }

void SizedNetwork::becomePlan() {
  ModuleOp plan = getPlan();
  for (auto sample : llvm::make_early_inc_range(module.getOps<nn::SampleOp>()))
    sample.erase();
  module->setAttrs(plan->getAttrDictionary());
  moveInto(module, plan);
}

void nnc::moveInto(ModuleOp outer, ModuleOp inner) {
  Block *target = outer.getBody();
  target->getOperations().splice(target->end(),
                                 inner.getBody()->getOperations());
  inner.erase();
}
