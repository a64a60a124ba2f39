//===- ExecLowering.h - The lowering of a planned function to exec --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_PASSES_EXECLOWERING_H
#define NNC_COMPILER_PASSES_EXECLOWERING_H

#include "compiler/memory/Contents.h"
#include "compiler/passes/InterfaceNames.h"
#include "compiler/routines/ExecCall.h"
#include "dialects/exec/Identifiers.h"
#include "dialects/nn/control/Control.h"

namespace nnc {

/// Returns the text of an attribute, which is empty if that is null or no text.
inline llvm::StringRef getText(mlir::Attribute attribute) {
  auto text = mlir::dyn_cast_or_null<mlir::StringAttr>(attribute);
  return text ? text.getValue() : llvm::StringRef();
}

/// Returns true if the bytes of `move`, which is one of the moves of `op`,
/// already are at their place in the result, so that no copy is needed.
bool staysInPlace(mlir::Operation *op, const Move &move);

/// Adds an exec.wait in front of each step of the host that depends on a
/// pending transfer of a device, and at the end of the program (ExecWaits.cpp).
void addWaits(exec::ProgramOp program);

/// The lowering of a planned function to an exec program (LowerToExec.cpp): its
/// inputs and outputs (ExecPorts.cpp), the places of its values
/// (ExecPlaces.cpp), calls (ExecCalls.cpp), and branches and loops
/// (ExecControl.cpp).
class ExecLowering {
public:
  ExecLowering(mlir::ModuleOp module, mlir::func::FuncOp function)
      : module(module), function(function), contents(function),
        builder(module.getContext()) {}
  mlir::LogicalResult run();

private:
  mlir::LogicalResult freeSymbol(llvm::StringRef name);
  exec::ProgramOp createProgram(llvm::StringRef name);
  /// Returns the name of the memory that holds `place`, which is in the arena
  /// or among the weights; null if these are not divided among memories.
  mlir::StringAttr getMemory(exec::PlaceAttr place);
  void declareInputs();
  void declareOutputs();
  std::string nameWeight(nn::ConstantOp constant);
  mlir::Value getWeight(mlir::Operation *constant);
  mlir::LogicalResult lower(mlir::func::FuncOp function);
  mlir::LogicalResult lower(mlir::Operation *op);
  mlir::LogicalResult lowerIf(nn::IfOp op);
  mlir::LogicalResult lowerLoop(nn::LoopOp op);
  mlir::LogicalResult
  lowerBody(mlir::Operation *op, mlir::func::FuncOp body, mlir::Block &steps,
            llvm::function_ref<mlir::LogicalResult()> finish);
  /// Sets `placed` for `values`, which are results of `op` or arguments of a
  /// function that it runs. Their names end in `end`.
  void placeValues(mlir::Operation *op, mlir::ValueRange values,
                   llvm::StringRef end);
  mlir::Value placeValue(mlir::Location loc,
                         llvm::function_ref<std::string()> name,
                         mlir::Value value);
  /// Copies a value to `place`, which `at` describes, unless it is there
  /// already. With `byRun`, it is copied to the part of `place` that belongs to
  /// the current run of a loop.
  void copyTo(mlir::Location loc, mlir::Value value, mlir::Value place,
              exec::PlaceAttr at, bool byRun = false);
  void createCopy(mlir::Location loc, mlir::Value from, mlir::Value to,
                  bool byRun = false);
  mlir::LogicalResult lowerCalls(mlir::Operation *op,
                                 llvm::ArrayRef<Move> moves,
                                 mlir::Value target);
  /// Creates the exec.call of a routine call of `op`, which writes to `target`.
  /// `name` is an identifier that `names` has returned.
  mlir::LogicalResult createCall(mlir::Operation *op,
                                 const nn::RoutineCall &call,
                                 const nn::Work &work,
                                 const nn::Description &said,
                                 llvm::StringRef name, mlir::Value target);
  mlir::LogicalResult lowerCustom(nn::CustomOp custom, mlir::Value target);
  mlir::LogicalResult finish(mlir::func::ReturnOp end);
  void setWeightBytes();
  /// Returns the name of a size that is found at run time, given its number
  /// among these sizes as an integer attribute; null if `number` is null or out
  /// of range.
  mlir::StringAttr getFoundSize(mlir::Attribute number);
  /// Adds an exec.measure for each size that is found at run time and that the
  /// layer `op` is the first to depend on.
  void measure(mlir::Operation *op);

  /// Returns the place of `value`, which is a constant or has been lowered
  /// before.
  mlir::Value getPlaced(mlir::Value value);
  /// Creates a buffer at `place`. `name` is an identifier that `names` has
  /// returned.
  mlir::Value createBuffer(mlir::Location loc, llvm::StringRef name,
                           mlir::RankedTensorType type, exec::PlaceAttr place);
  exec::BufferOp findBufferOfOperand(mlir::Value value);
  /// Returns the largest result of a concat in place that contains `value`, or
  /// null if there is none. The bytes of `value` are not moved to become part
  /// of it.
  mlir::Value findWhole(mlir::Value value);
  /// Creates the buffer for the scratch memory of `op`, whose identifier is
  /// `name`. Returns null if `op` needs none.
  mlir::Value createScratch(mlir::Operation *op, llvm::StringRef name);
  mlir::Value createInArena(mlir::Location loc, llvm::StringRef name,
                            mlir::Value value);
  mlir::Value createView(mlir::Location loc, llvm::StringRef name,
                         mlir::RankedTensorType type, mlir::Value base,
                         int64_t offset);
  void shareCode(exec::CallOp call);

  mlir::ModuleOp module;
  mlir::func::FuncOp function;
  Contents contents;
  mlir::OpBuilder builder;
  /// The outermost branch or loop whose steps are being created, or null.
  /// Places are defined in front of it.
  mlir::Operation *outermost = nullptr;
  exec::ProgramOp program;
  InterfaceNames interface;
  exec::Names &names = interface.names;
  llvm::DenseMap<mlir::Operation *, std::string> &layerNames = interface.layers;
  /// The bytes of weights so far in each memory; a single entry if weights are
  /// not divided among memories.
  llvm::SmallVector<int64_t> weightBytes;
  /// The place of each result: an output, or the state whose next value the
  /// result is.
  llvm::SmallVector<mlir::Value> outputs;
  /// The place of each state, by the number of its argument.
  llvm::DenseMap<unsigned, mlir::Value> states;
  /// The outputs in the arena, by the value that is computed there.
  llvm::DenseMap<mlir::Value, mlir::Value> produced;
  llvm::DenseMap<mlir::Value, mlir::Value> placed;
  /// The buffers of results of concats in place, by the result. The operands,
  /// which are computed first, are views of these buffers.
  llvm::DenseMap<mlir::Value, mlir::Value> joined;
  llvm::DenseMap<mlir::Value, mlir::Value> wholes; ///< results of findWhole()
  /// The weights that have been created, by elements and type.
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Type>, mlir::Value> weights;
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Attribute>,
                 llvm::SmallVector<exec::CallOp>>
      calls;
  llvm::DenseSet<mlir::StringAttr>
      measured; ///< names of the sizes that have an exec.measure
};

} // namespace nnc

#endif // NNC_COMPILER_PASSES_EXECLOWERING_H
