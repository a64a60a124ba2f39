//===- ShareCode.cpp - One function for calls of different sizes ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"
#include "compiler/routines/CallCosts.h"
#include "compiler/routines/Catalogue.h"
#include "dialects/exec/Exec.h"
#include "dialects/target/Target.h"

#include "llvm/ADT/StringSet.h"

namespace nnc {
#define GEN_PASS_DEF_SHARECODE
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;

/// Returns the names of the fields in which the shapes of `group` differ;
/// nullopt if one of these fields is not an integer of at most `bits` bits, for
/// instance a list. The field `n` is always included, because routines test it
/// (is_constant) to find out whether the whole shape is constant.
static std::optional<SmallVector<Attribute>>
findSizes(ArrayRef<exec::CallOp> group, unsigned bits) {
  exec::CallOp first = group.front();
  SmallVector<Attribute> names;
  for (NamedAttribute field : first.getShape().getFields()) {
    bool isSmall = true, differs = field.getName() == "n";
    for (exec::CallOp call : group) {
      Attribute own = call.getShape().get(field.getName());
      auto number = dyn_cast_or_null<IntegerAttr>(own);
      isSmall &= number && llvm::isIntN(bits, number.getInt());
      differs |= own != field.getValue();
    }
    if (differs && !isSmall)
      return std::nullopt;
    if (differs)
      names.push_back(field.getName());
  }
  if (first.getPointwise())
    return std::nullopt;
  return names;
}

/// Returns true if windows that slide over images, and the order of the
/// operands of matrix products, are the same in both calls. Kernels unroll
/// loops over a window of constant size, and have a form for each order of
/// operands.
static bool haveSameLoops(exec::CallOp a, exec::CallOp b) {
  return llvm::all_of(ArrayRef<StringRef>{"kh", "kw", "sh", "sw", "dh", "dw",
                                          "transpose_a", "transpose_b"},
                      [&](StringRef field) {
                        return a.getShape().get(field) ==
                               b.getShape().get(field);
                      });
}

/// Returns true for routines that only move elements. Their kernels are short,
/// and where sizes vary, two gathers may have an equal size at some sizes only.
static bool onlyMoves(const Routine &routine) {
  return llvm::is_contained({"copy", "gather", "join", "pad"},
                            routine.family->name);
}

/// Returns true if the bytes saved by one shared function are worth the time
/// that it costs. `share` is the fraction of the model's time that the calls of
/// `group` take.
static bool isWorthwhile(ArrayRef<exec::CallOp> group, const Routine &routine,
                         double share, Optimize optimize) {
  SmallVector<int64_t> params;
  exec::CallOp first = group.front();
  for (NamedAttribute param : first.getParams().getFields())
    params.push_back(cast<IntegerAttr>(param.getValue()).getInt());
  auto constant = routine.getCodeBytes(params),
       sized = routine.getCodeBytes(params, /*hasConstantSizes=*/false);
  if (!constant || !sized)
    return optimize == Optimize::size;
  double saved =
      double(group.size()) * (double(*constant) - costs::kSizedCallBytes) -
      double(*sized);
  return saved > 0 &&
         share * costs::kRunTimeShapeShare < saved * getShareOfByte(optimize);
}

namespace {
struct ShareCodePass : nnc::impl::ShareCodeBase<ShareCodePass> {
  using Base::Base;

  void runOnOperation() override {
    auto machine =
        getOperation()->getAttrOfType<target::MachineAttr>(target::kTargetAttr);
    if (!machine)
      return;
    const bool isGpu = machine.getHost().getKind() == target::DeviceKind::gpu;
    if (!isGpu && (optimize == Optimize::speed || !machine.isBare()))
      return;
    for (auto program : getOperation().getOps<exec::ProgramOp>())
      shareCode(program, isGpu);
  }

private:
  /// Groups the calls that could share a function, and marks those groups as
  /// shared for which this is worthwhile. Calls that are marked as like an
  /// earlier one follow it. On a GPU these are calls of kernels on blocks with
  /// the same loops, which nvcc takes long to compile and whose other sizes
  /// cost no time in their inner loops.
  void shareCode(exec::ProgramOp program, bool isGpu) {
    SmallVector<SmallVector<exec::CallOp>> groups;
    double total = 1;
    for (auto call : exec::getSteps<exec::CallOp>(program)) {
      total += double(call.getWork());
      if (call.getLike())
        continue;
      auto group = llvm::find_if(groups, [&](auto &calls) {
        return calls.front().isLikeButForShape(call) &&
               (!isGpu || haveSameLoops(calls.front(), call));
      });
      if (group != groups.end())
        group->push_back(call);
      else
        groups.push_back({call});
    }
    for (ArrayRef<exec::CallOp> group : groups) {
      exec::CallOp first = group.front();
      const Routine *routine = Catalogue::get().findRoutine(first.getRoutine());
      if (group.size() < 2 || !routine || (isGpu && !routine->isOnBlocks()))
        continue;
      double work = 0;
      for (exec::CallOp call : group)
        work += double(call.getWork());
      if (isGpu && onlyMoves(*routine))
        continue;
      auto sizes = findSizes(group, isGpu ? 32 : 16);
      if (sizes &&
          (isGpu || isWorthwhile(group, *routine, work / total, optimize)))
        makeSized(program, group, ArrayAttr::get(&getContext(), *sizes));
    }
  }

  void makeSized(exec::ProgramOp program, ArrayRef<exec::CallOp> group,
                 ArrayAttr sizes) {
    StringRef name = exec::CallOp(group.front()).getName();
    llvm::StringSet<> members;
    for (exec::CallOp call : group) {
      members.insert(call.getName());
      call.setSizedAttr(sizes);
      if (call.getName() != name)
        call.setLike(name);
    }
    for (auto call : exec::getSteps<exec::CallOp>(program))
      if (call.getLike() && members.contains(*call.getLike())) {
        call.setSizedAttr(sizes);
        call.setLike(name);
      }
  }
};
} // namespace
