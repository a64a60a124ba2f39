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

/// A value, or the scratch memory of `op`, in a group. The offset of `extent`
/// is relative to the start of the group.
struct Tenant {
  mlir::Value value;
  mlir::Operation *op;
  Extent extent;
};

/// Values whose offsets to each other are fixed because they share bytes.
struct TenantGroup {
  /// The device in whose memory the values are; empty for the host. Groups of
  /// different devices never join.
  llvm::StringRef device;
  exec::Pool pool = exec::Pool::arena;
  int64_t index = 0;
  /// The size of the caller's buffer in bytes; unlimited in the arena.
  int64_t limit = std::numeric_limits<int64_t>::max();
  llvm::SmallVector<Tenant> tenants;
  /// Whether a byte occurs twice in one of the values, as in a concat of x with
  /// x.
  bool repeats = false;
};

/// The planner of the places of all values of a function and of the functions
/// that its ops run. The beginning of PlacePlanner.cpp describes the method: it
/// finds the steps during which values are alive (PlaceLifetimes.cpp) and the
/// values that share bytes (PlaceSharing.cpp), and divides groups among
/// memories (DivideMemory.cpp).
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
  /// Adds to the function's list of memories one for each device that has none
  /// in the list. Does nothing if all values are in the host's memory.
  void addMemories();
  void setPlaces();

  /// Returns the last step that reads `value`, or `otherwise` if none does.
  int getLast(mlir::Value value, int otherwise);
  /// Returns the bytes from the start of `value` that its readers may read.
  int64_t getReach(mlir::Value value);
  /// Returns the step of the terminator of `body`.
  int getEnd(mlir::func::FuncOp body) {
    return stepOf.lookup(body.getBody().front().getTerminator());
  }
  /// Moves the tenants of group `from` into `into` and adds `delta` to their
  /// offsets.
  void join(unsigned into, unsigned from, int64_t delta);
  /// Returns true if the group `from` may join `into` with its offsets raised
  /// by `delta`. For every two tenants of different groups, one of these must
  /// hold: they do not overlap in memory, or not in time; they hold the same
  /// bytes where they overlap; or one of them takes over the memory of the
  /// other.
  bool
  canJoin(const TenantGroup &into, const TenantGroup &from, int64_t delta,
          llvm::function_ref<bool(const Tenant &, const Tenant &)> takesOver);
  bool holdSame(const Tenant &a, const Tenant &b, int64_t begin, int64_t end);
  /// Returns true if `a` and `b` are the result of `op` and an operand at the
  /// same offset, of which `op` is the last reader and which it reads in place
  /// (readsInPlace).
  static bool takesOver(mlir::Operation *op, const Tenant &a, const Tenant &b);
  /// Returns true if one of `a` and `b` becomes the other at the begin or the
  /// end of a function that an op runs, and both have the same offset.
  bool isHandedOver(const Tenant &a, const Tenant &b) const;
  /// Places the group of `value` in the caller's memory at `place`, where
  /// `value` is when the function ends, if the whole group fits there.
  void takePlace(mlir::Value value, exec::PlaceAttr place);

  /// Adds a group with one tenant: `value`, or the scratch memory of `op` if
  /// `value` is null. Returns its number.
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
  int threads;       ///< the largest number of threads that share a layer
  bool portsInArena; ///< whether inputs and results are in the arena
  llvm::SmallVector<mlir::Operation *> steps; ///< steps[i] runs in step i + 1
  llvm::DenseMap<mlir::Operation *, int> stepOf;
  /// The functions that ops run.
  llvm::SmallVector<mlir::func::FuncOp> bodies;
  /// Pairs of a value and the value that it becomes: an initial value of a loop
  /// and its carried value, or a result of a body and that of the op that runs
  /// it.
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> handed;
  llvm::DenseSet<std::pair<mlir::Value, mlir::Value>> isHanded;
  llvm::SmallVector<TenantGroup> groups;
  /// The number of the group of each value, and its number among the tenants of
  /// the group.
  llvm::DenseMap<mlir::Value, unsigned> groupOf, tenantOf;
  /// The groups of the results that are copied into the arena, by result
  /// number.
  llvm::DenseMap<unsigned, unsigned> copies;
};

} // namespace nnc

#endif // NNC_COMPILER_PASSES_PLACEPLANNER_H
