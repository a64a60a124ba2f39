//===- Body.h - A subgraph as a function of its own -------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_BODY_H
#define NNC_FRONTENDS_COMMON_BODY_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace nnc::frontends {

/// A private function of the module into which a subgraph is imported. It can
/// read no values of the enclosing functions: a value that the subgraph reads
/// is captured, which adds an argument for it, or copied if it is a constant.
class Body {
public:
  /// Creates an empty function in the module of `builder`, whose name begins
  /// with `name`. Until finish() or erase(), `builder` inserts into it.
  Body(mlir::OpBuilder &builder, llvm::StringRef name, mlir::Location loc);

  /// Adds an argument that does not stand for a captured value. All such
  /// arguments precede those of captured values.
  mlir::Value addArgument(mlir::Type type);
  /// Returns the value in the function that stands for `value` of an enclosing
  /// function: an argument or the copy of a constant.
  mlir::Value capture(mlir::Value value);
  /// Removes the arguments of captured values that nothing in the finished
  /// function reads.
  void dropUnread();
  /// Replaces the arguments of captured values of a finished function by one
  /// argument for each of `values`, which include all captured values that the
  /// function reads.
  void setCaptured(llvm::ArrayRef<mlir::Value> values);
  /// Moves `builder` back to its position in the enclosing function.
  void setOutside();

  /// Ends the function with these results and moves `builder` back to the
  /// enclosing function.
  void finish(mlir::ValueRange results);
  /// Removes the function and moves `builder` back to the enclosing function.
  void erase();

  mlir::func::FuncOp getFunction() { return function; }
  mlir::Block &getBlock() { return function.getBody().front(); }
  /// Returns the values of the enclosing functions that the body reads, in the
  /// order of the arguments that stand for them, which are the last ones.
  llvm::ArrayRef<mlir::Value> getCaptured() const { return captured; }

private:
  mlir::OpBuilder &builder;
  mlir::OpBuilder::InsertPoint outside;
  mlir::func::FuncOp function;
  llvm::SmallVector<mlir::Value> captured;
  llvm::DenseMap<mlir::Value, mlir::Value> inside;
};

/// Creates an nn.if and returns its results: those of `thenBody` if `condition`
/// holds, otherwise those of `elseBody`. Both bodies are finished and have only
/// arguments of captured values. If neither body computes anything, elementwise
/// selections replace the nn.if.
llvm::SmallVector<mlir::Value> createIf(mlir::OpBuilder &builder,
                                        mlir::Location loc,
                                        mlir::Value condition, Body &thenBody,
                                        Body &elseBody);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_BODY_H
