//===- PlacePlanner.h - Gives every value a place -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PASSES_PLACEPLANNER_H
#define NNC_COMPILER_PASSES_PLACEPLANNER_H

#include "compiler/memory/Contents.h"
#include "compiler/memory/Packing.h"
#include "dialects/nn/control/Control.h"

#include <limits>

namespace nnc {

/// One value, or the scratch of `op`, in a group: `extent` counts from the
/// group's start.
struct Tenant {
  mlir::Value value;
  mlir::Operation *op;
  Extent extent;
};

/// Values that share bytes at fixed distances.
struct TenantGroup {
  /// The device in whose memory they are; empty for the host. Groups of
  /// different devices never join.
  llvm::StringRef device;
  exec::Pool pool = exec::Pool::arena;
  int64_t index = 0;
  /// Bytes of the caller's buffer; no limit in the arena.
  int64_t limit = std::numeric_limits<int64_t>::max();
  llvm::SmallVector<Tenant> tenants;
  /// Some byte stands twice in one of the values, as in a concat of x with x.
  bool repeats = false;
};

/// The places of all values of a function and of those that its ops run. How
/// it finds them is told at the beginning of PlacePlanner.cpp: from which step
/// to which values are alive (PlaceLifetimes.cpp), which of them share bytes
/// (PlaceSharing.cpp), and how memories are divided (DivideMemory.cpp).
class PlacePlanner {
public:
  PlacePlanner(mlir::func::FuncOp function, int threads, bool portsInArena)
      : function(function), contents(function), threads(threads),
        portsInArena(portsInArena) {}
  void plan();

private:
  void collect();
  void addSteps(mlir::func::FuncOp function);
  void addValues(mlir::func::FuncOp function);
  void addIf(nn::IfOp op);
  void addLoop(nn::LoopOp op);
  void addCaptured(nn::ControlOpInterface op, mlir::func::FuncOp body,
                   int last);
  void addScratch();
  void joinViews();
  void stageInputs();
  void takeOutputs();
  void takeStates();
  void handOver();
  void joinParts();
  void reuseOperands();
  void addResults();
  void pack();
  /// Divides the groups of the host among its memories, and packs those of each
  /// other device into the memory of that device.
  void divide(llvm::ArrayRef<unsigned> packed,
              llvm::ArrayRef<PackingBlock> blocks);
  int64_t countAccesses(const TenantGroup &group);
  void divideWeights();
  /// Adds to the function's list of memories one for each device whose memory
  /// no memory of the list is. Nothing happens where all values are the host's.
  void addMemories();
  void setPlaces();

  /// Returns the last step that reads `value`, or `otherwise` if none does.
  int getLast(mlir::Value value, int otherwise);
  /// Returns the bytes from the start of `value` that its readers may read.
  int64_t getReach(mlir::Value value);
  /// Returns the step in which the function that `body` is ends.
  int getEnd(mlir::func::FuncOp body) {
    return stepOf.lookup(body.getBody().front().getTerminator());
  }
  /// Moves the tenants of group `from` into `into`, `delta` bytes further.
  void join(unsigned into, unsigned from, int64_t delta);
  /// Returns true if the group `from` may join `into`: for every two tenants,
  /// they do not overlap in memory, or not in time, or hold the same bytes
  /// where they overlap, or one of them takes over the memory of the other.
  bool
  canJoin(const TenantGroup &into, const TenantGroup &from, int64_t delta,
          llvm::function_ref<bool(const Tenant &, const Tenant &)> takesOver);
  bool holdSame(const Tenant &a, const Tenant &b, int64_t begin, int64_t end);
  /// Returns true if `a` and `b` are the result of `op` and an operand in the
  /// same place that `op` reads for the last time, and just before it writes.
  static bool takesOver(mlir::Operation *op, const Tenant &a, const Tenant &b);
  /// Returns true if one of `a` and `b` becomes the other where an op begins or
  /// ends a function that it runs, and they are in the same place.
  bool isHandedOver(const Tenant &a, const Tenant &b) const;
  /// Gives the group of `value`, if all of it fits there, the caller's memory
  /// that holds `value` in the end.
  void takePlace(mlir::Value value, exec::PlaceAttr place);

  /// Adds a group of `value`, or of scratch memory of `op`.
  unsigned addGroup(mlir::Value value, mlir::Operation *op, int64_t bytes,
                    int first, int last);
  void addTenant(unsigned group, const Tenant &tenant);
  TenantGroup &getGroup(mlir::Value value) {
    return groups[groupOf.lookup(value)];
  }
  Tenant &getTenant(mlir::Value value) {
    return getGroup(value).tenants[tenantOf.lookup(value)];
  }

  mlir::func::FuncOp function;
  Contents contents;
  int threads;       ///< the largest number that may share a layer
  bool portsInArena; ///< whether inputs and results are there
  llvm::SmallVector<mlir::Operation *> steps; ///< steps[i] runs in step i + 1
  llvm::DenseMap<mlir::Operation *, int> stepOf;
  /// The functions that ops run.
  llvm::SmallVector<mlir::func::FuncOp> bodies;
  /// Values that become others: a first value of a loop its carried value, a
  /// result of a body that of the op that runs it.
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> handed;
  llvm::DenseSet<std::pair<mlir::Value, mlir::Value>> isHanded;
  llvm::SmallVector<TenantGroup> groups;
  /// Groups of values, and their numbers among the group's tenants.
  llvm::DenseMap<mlir::Value, unsigned> groupOf, tenantOf;
  /// Groups of results that are copied into the arena, by number of result.
  llvm::DenseMap<unsigned, unsigned> copies;
};

} // namespace nnc

#endif // NNC_COMPILER_PASSES_PLACEPLANNER_H
