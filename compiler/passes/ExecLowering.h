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

/// Returns true if the bytes of `move`, which is one of the moves of `op`, are
/// in their final place already.
bool staysInPlace(mlir::Operation *op, const Move &move);

/// Adds an exec.wait in front of each step of the host that needs what a device
/// does at that time, and at the end (ExecWaits.cpp).
void addWaits(exec::ProgramOp program);

/// Writes the exec program of a planned function (LowerToExec.cpp): its inputs
/// and outputs (ExecPorts.cpp), where its values lie (ExecPlaces.cpp), calls
/// (ExecCalls.cpp), and branches and loops (ExecControl.cpp).
class ExecLowering {
public:
  ExecLowering(mlir::ModuleOp module, mlir::func::FuncOp function)
      : module(module), function(function), contents(function),
        builder(module.getContext()) {}
  mlir::LogicalResult run();

private:
  mlir::LogicalResult freeSymbol(llvm::StringRef name);
  exec::ProgramOp createProgram(llvm::StringRef name);
  /// The memory that a place in the arena or a weight is in; null if there is
  /// only one.
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
  /// The places of what `op` computes, and of arguments of the functions that
  /// it runs.
  void placeValues(mlir::Operation *op, mlir::ValueRange values,
                   llvm::StringRef end);
  mlir::Value placeValue(mlir::Location loc,
                         llvm::function_ref<std::string()> name,
                         mlir::Value value);
  /// Copies a value to where `place` is unless it is there.
  void copyTo(mlir::Location loc, mlir::Value value, mlir::Value place,
              exec::PlaceAttr at, bool byRun = false);
  void createCopy(mlir::Location loc, mlir::Value from, mlir::Value to,
                  bool byRun = false);
  mlir::LogicalResult lowerCalls(mlir::Operation *op,
                                 llvm::ArrayRef<Move> moves,
                                 mlir::Value target);
  /// Here `name` is an identifier that `names` has returned.
  mlir::LogicalResult createCall(mlir::Operation *op,
                                 const nn::RoutineCall &call,
                                 const nn::Work &work,
                                 const nn::Description &said,
                                 llvm::StringRef name, mlir::Value target);
  mlir::LogicalResult lowerCustom(nn::CustomOp custom, mlir::Value target);
  mlir::LogicalResult finish(mlir::func::ReturnOp end);
  void setWeightBytes();
  /// Returns the name of a size that the program finds by its number among
  /// these, an integer; null for null.
  mlir::StringAttr getFoundSize(mlir::Attribute number);
  /// Sets the size that a layer is the first to depend on.
  void measure(mlir::Operation *op);

  /// The place of `value`, which has been lowered before.
  mlir::Value getPlaced(mlir::Value value);
  /// Here `name` is an identifier that `names` has returned.
  mlir::Value createBuffer(mlir::Location loc, llvm::StringRef name,
                           mlir::RankedTensorType type, exec::PlaceAttr place);
  exec::BufferOp findBufferOfOperand(mlir::Value value);
  /// The largest value that has `value` as a part without moving it: what a
  /// concat in place joins. Null if there is none.
  mlir::Value findWhole(mlir::Value value);
  /// The memory that `op`, whose identifier is `name`, works in, or null.
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
  /// The branch or loop in the program that steps are added to, or null: places
  /// are defined in front of it.
  mlir::Operation *outermost = nullptr;
  exec::ProgramOp program;
  InterfaceNames interface;
  exec::Names &names = interface.names;
  llvm::DenseMap<mlir::Operation *, std::string> &layerNames = interface.layers;
  /// The bytes of weights that each memory has so far; one for weights in one
  /// piece.
  llvm::SmallVector<int64_t> weightBytes;
  /// The places of outputs and of states, by result; a state is that of its
  /// next value.
  llvm::SmallVector<mlir::Value> outputs;
  /// The places of states, by argument.
  llvm::DenseMap<unsigned, mlir::Value> states;
  /// Outputs in the arena, by the value that is produced there.
  llvm::DenseMap<mlir::Value, mlir::Value> produced;
  llvm::DenseMap<mlir::Value, mlir::Value> placed;
  /// Buffers of values that are joined in place, by the joined value: their
  /// parts, which are computed first, are views of them.
  llvm::DenseMap<mlir::Value, mlir::Value> joined;
  llvm::DenseMap<mlir::Value, mlir::Value>
      wholes; ///< what findWhole() has found
  /// Weights that lie in the file already, by value and layout.
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Type>, mlir::Value> weights;
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Attribute>,
                 llvm::SmallVector<exec::CallOp>>
      calls;
  llvm::DenseSet<mlir::StringAttr>
      measured; ///< sizes that steps so far have found
};

} // namespace nnc

#endif // NNC_COMPILER_PASSES_EXECLOWERING_H
