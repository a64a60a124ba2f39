//===- DivideMemory.cpp - Places in several memories ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// The part of nnc-plan-memory that divides the arena and the weights among the
// memories of a function that has several (compiler/memory/Memories.h). Values
// that are accessed most often for their size go to the fast memories. Each
// device has a memory that holds its values only.
//
//===----------------------------------------------------------------------===//

#include "compiler/memory/Memories.h"
#include "compiler/passes/PlacePlanner.h"
#include "dialects/target/Target.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <map>
#include <numeric>

using namespace mlir;
using namespace nnc;
using exec::Pool;

/// The number of multiply-adds of a layer per element that its routine reads of
/// its input or scratch memory, since an element in a register serves several
/// sums. Routines differ in this ratio, but it rarely decides which of two
/// layers reads more often.
static constexpr int64_t kMultiplyAddsPerRead = 4;

static int64_t getMultiplyAdds(Operation *op) {
  auto costs = dyn_cast<nn::CostOpInterface>(op);
  return costs ? costs.getWork().multiplyAdds : 0;
}

/// Estimates the number of bytes that the owner of `use` reads of that operand.
/// A byte that is read several times counts each time.
static int64_t countReads(OpOperand &use) {
  Operation *reader = use.getOwner();
  int64_t bytes = getReadBytes(reader, use.getOperandNumber());
  auto layer = dyn_cast<nn::LayerOp>(reader);
  bool isInput = layer && layer.getAnchorOp() &&
                 use.getOperandNumber() < layer.getInputs().size();
  if (!isInput)
    return bytes;
  Type type = nn::getTensorType(use.get()).getElementType();
  return std::max(bytes, getMultiplyAdds(reader) / kMultiplyAddsPerRead *
                             nn::getElementBytes(type));
}

/// Estimates the number of bytes that layers read and write of the values of a
/// group. A byte that is accessed several times counts each time.
int64_t PlacePlanner::countAccesses(const TenantGroup &group) {
  int64_t count = 0;
  for (const Tenant &tenant : group.tenants) {
    int64_t bytes = tenant.extent.bytes;
    if (!tenant.value) {
      // The size of the elements in scratch memory is not known: one byte is
      // the least.
      if (tenant.op)
        count += bytes + std::max(bytes, getMultiplyAdds(tenant.op) /
                                             kMultiplyAddsPerRead);
      continue;
    }
    bool isView = tenant.op && contents.getMoves(tenant.op).size() == 1;
    count += isView ? 0 : bytes;
    for (OpOperand &use : tenant.value.getUses())
      if (!use.getOwner()->hasTrait<OpTrait::IsTerminator>() &&
          contents.getMoves(use.getOwner()).empty())
        count += countReads(use);
  }
  return count;
}

/// Returns the capacities of the memories in the function's attribute `list`.
static SmallVector<MemoryLimit> getLimits(func::FuncOp function,
                                          StringRef list) {
  SmallVector<MemoryLimit> limits;
  for (auto memory :
       function->getAttrOfType<ArrayAttr>(list).getAsRange<exec::MemoryAttr>())
    limits.push_back({memory.getSize(), memory.getSlow()});
  return limits;
}

/// Writes the bytes in use of each memory into the function's attribute `list`.
static void setMemoryBytes(func::FuncOp function, StringRef list,
                           ArrayRef<int64_t> taken) {
  SmallVector<Attribute> memories;
  for (auto [memory, bytes] :
       llvm::zip_equal(function->getAttrOfType<ArrayAttr>(list)
                           .getAsRange<exec::MemoryAttr>(),
                       taken))
    memories.push_back(memory.withBytes(bytes));
  function->setAttr(list, ArrayAttr::get(function.getContext(), memories));
}

void PlacePlanner::addMemories() {
  MLIRContext *context = function.getContext();
  auto machine =
      function->getParentOfType<ModuleOp>()->getAttrOfType<target::MachineAttr>(
          target::kTargetAttr);
  llvm::SetVector<StringRef> devices;
  for (const TenantGroup &group : groups)
    if (!group.device.empty())
      devices.insert(group.device);
  if (devices.empty())
    return;
  SmallVector<Attribute> memories;
  if (auto given = function->getAttrOfType<ArrayAttr>(exec::kMemoriesAttr))
    llvm::append_range(memories, given);
  auto add = [&](StringRef device, const Twine &prefix) {
    bool isThere = llvm::any_of(memories, [&](Attribute memory) {
      return cast<exec::MemoryAttr>(memory).getDevice() == device;
    });
    if (isThere)
      return;
    target::DeviceAttr found =
        machine ? machine.findDevice(device) : target::DeviceAttr();
    StringRef space = found ? found.getSpace().getName() : "ram";
    memories.push_back(exec::MemoryAttr::get(
        context, (prefix + space).str(), std::numeric_limits<int64_t>::max(),
        /*slow=*/false, /*bytes=*/0, device));
  };
  add("", "");
  for (StringRef device : devices)
    add(device, device + "_");
  function->setAttr(exec::kMemoriesAttr, ArrayAttr::get(context, memories));
}

/// Returns the numbers of the memories of a device, and their limits.
static std::pair<SmallVector<unsigned>, SmallVector<MemoryLimit>>
getMemoriesOf(StringRef device, func::FuncOp function) {
  SmallVector<unsigned> numbers;
  SmallVector<MemoryLimit> limits;
  auto memories = function->getAttrOfType<ArrayAttr>(exec::kMemoriesAttr);
  for (auto [i, memory] :
       llvm::enumerate(memories.getAsRange<exec::MemoryAttr>()))
    if (memory.getDevice() == device) {
      numbers.push_back(i);
      limits.push_back({memory.getSize(), memory.getSlow()});
    }
  return {numbers, limits};
}

void PlacePlanner::divide(ArrayRef<unsigned> packed,
                          ArrayRef<PackingBlock> blocks) {
  std::map<StringRef, SmallVector<unsigned>> blocksOf;
  for (auto [i, group] : llvm::enumerate(packed))
    blocksOf[groups[group].device].push_back(i);
  auto memories = function->getAttrOfType<ArrayAttr>(exec::kMemoriesAttr);
  SmallVector<int64_t> taken(memories.size());
  for (const auto &[device, own] : blocksOf) {
    auto [numbers, limits] = getMemoriesOf(device, function);
    SmallVector<PackingBlock> ownBlocks;
    SmallVector<int64_t> accesses;
    for (unsigned i : own) {
      ownBlocks.push_back(blocks[i]);
      accesses.push_back(countAccesses(groups[packed[i]]));
    }
    Division division = divideBlocks(ownBlocks, accesses, limits,
                                     getMemoryAlign(function, device));
    for (auto [i, memory, offset] :
         llvm::zip_equal(own, division.memories, division.offsets)) {
      TenantGroup &group = groups[packed[i]];
      group.index = numbers[memory];
      for (Tenant &tenant : group.tenants)
        tenant.extent.offset += offset;
    }
    for (auto [number, bytes] : llvm::zip_equal(numbers, division.bytes))
      taken[number] = bytes;
  }
  setMemoryBytes(function, exec::kMemoriesAttr, taken);
  function->setAttr(exec::kArenaAttr,
                    Builder(function.getContext())
                        .getI64IntegerAttr(std::accumulate(
                            taken.begin(), taken.end(), int64_t(0))));
}

/// Divides the weights among the memories for weights, if the function has
/// these.
void PlacePlanner::divideWeights() {
  if (!function->hasAttr(exec::kWeightMemoriesAttr))
    return;
  // Constants with the same elements and layout are one weight.
  llvm::MapVector<std::pair<Attribute, Type>, SmallVector<nn::ConstantOp>> same;
  for (func::FuncOp each : nn::getAllBodies(function))
    for (auto constant : each.getOps<nn::ConstantOp>())
      same[{constant.getValue(), constant.getY().getType()}].push_back(
          constant);
  SmallVector<PackingBlock> blocks;
  SmallVector<int64_t> accesses;
  for (auto &[weight, constants] : same) {
    int64_t bytes = 0, reads = 0;
    for (nn::ConstantOp constant : constants)
      for (OpOperand &use : constant->getUses())
        if (!use.getOwner()->hasTrait<OpTrait::IsTerminator>()) {
          bytes = std::max(
              bytes, getReadBytes(use.getOwner(), use.getOperandNumber()));
          reads += countReads(use);
        }
    blocks.push_back({{0, std::max(bytes, getBytes(constants.front())), 0, 0}});
    accesses.push_back(reads);
  }
  int64_t align = getProgramAlign(function);
  SmallVector<MemoryLimit> limits =
      getLimits(function, exec::kWeightMemoriesAttr);
  for (MemoryLimit &limit : limits)
    limit.bytes -= exec::getWeightsHeaderBytes(align);
  Division division = divideBlocks(blocks, accesses, limits, align);
  for (auto [entry, memory] : llvm::zip_equal(same, division.memories))
    for (nn::ConstantOp constant : entry.second) {
      constant->setAttr(exec::kPlaceAttr,
                        exec::PlaceAttr::get(function.getContext(),
                                             Pool::weight, memory, 0, 0));
      getGroup(constant).index = memory;
    }
  setMemoryBytes(function, exec::kWeightMemoriesAttr, division.bytes);
}
