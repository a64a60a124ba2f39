//===- AdaptPaths.cpp - Cheapest conversions between schemas --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/AdaptPaths.h"

#include "compiler/routines/LayerForms.h"
#include "compiler/search/Search.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

unsigned AdaptPaths::Table::find(RankedTensorType type) const {
  return llvm::find(types, type) - types.begin();
}

/// Returns `types` and all combinations of their element types, layouts and
/// devices, row-major order included.
static SmallVector<RankedTensorType>
addMixed(ArrayRef<RankedTensorType> types) {
  llvm::SetVector<Type> elements;
  llvm::SetVector<LayoutAttr> layouts;
  llvm::SetVector<StringRef> devices;
  layouts.insert(LayoutAttr());
  for (RankedTensorType type : types) {
    const Schema schema = Schema::of(type);
    elements.insert(schema.element);
    layouts.insert(schema.layout);
    devices.insert(schema.device);
  }
  // A path between two other devices leads over the host.
  if (devices.size() > 1)
    devices.insert("");
  llvm::SetVector<RankedTensorType> all(types.begin(), types.end());
  for (Type element : elements)
    for (LayoutAttr layout : layouts)
      for (StringRef device : devices)
        all.insert(Schema{element, layout, device}.on(types.front()));
  return all.takeVector();
}

const AdaptPaths::Table &AdaptPaths::getTable(ArrayRef<RankedTensorType> wanted,
                                              Type own) {
  Type key = RankedTensorType::get(wanted.front().getShape(), own);
  std::unique_ptr<Table> &table = tables[key];
  if (!table)
    table = std::make_unique<Table>();
  SmallVector<RankedTensorType> types(table->types);
  for (RankedTensorType type : wanted)
    if (!llvm::is_contained(types, type))
      types.push_back(type);
  if (types.size() == table->types.size())
    return *table;
  table->types = addMixed(types);
  const unsigned count = table->types.size();
  std::vector<double> costs;
  for (RankedTensorType from : table->types)
    for (RankedTensorType to : table->types)
      costs.push_back(getStepSeconds(from, to));
  table->paths.emplace(count, std::move(costs));
  return *table;
}

double AdaptPaths::getStepSeconds(RankedTensorType from, RankedTensorType to) {
  auto [known, isNew] = steps.try_emplace({from, to}, 0);
  if (!isNew)
    return known->second;
  double seconds = kImpossible;
  if (from.getElementType() == to.getElementType())
    seconds = cost->getAdapt(from, to).seconds;
  else if (getDevice(from) == getDevice(to))
    if (const Cast *cast = getCast(from, to))
      seconds = cast->candidate.seconds;
  return steps[{from, to}] = seconds;
}

const AdaptPaths::Cast *AdaptPaths::getCast(RankedTensorType from,
                                            RankedTensorType to) {
  auto [known, isNew] =
      casts.try_emplace({from.getAsOpaquePointer(), to.getAsOpaquePointer()});
  std::optional<Cast> &cast = known->second;
  if (!isNew)
    return cast ? &*cast : nullptr;
  LayerOp layer = cost->getForms() && !isEncoded(from)
                      ? cost->getForms()->getCast(from, to.getElementType())
                      : LayerOp();
  if (!layer)
    return nullptr;
  SmallVector<LayoutAttr> layouts;
  for (LayoutAttr layout : {getLayout(from), getLayout(to)})
    if (layout && !llvm::is_contained(layouts, layout))
      layouts.push_back(layout);
  forEachCandidate(layer, *cost, layouts, [&](Candidate candidate) {
    if (candidate.operands.front() == from && candidate.result == to &&
        (!cast || candidate.seconds < cast->candidate.seconds))
      cast = Cast{layer, std::move(candidate)};
  });
  return cast ? &*cast : nullptr;
}

double AdaptPaths::getSeconds(RankedTensorType from, RankedTensorType to,
                              Type own) {
  if (from == to)
    return 0;
  const Table &table = getTable({from, to}, own);
  return table.getPaths().getCost(table.find(from), table.find(to));
}

SmallVector<RankedTensorType>
AdaptPaths::getPath(RankedTensorType from, RankedTensorType to, Type own) {
  SmallVector<RankedTensorType> path;
  if (from == to)
    return path;
  const Table &table = getTable({from, to}, own);
  for (unsigned node :
       table.getPaths().getPath(table.find(from), table.find(to)))
    path.push_back(table.getType(node));
  return path;
}
