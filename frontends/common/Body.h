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

/// A private function of the module that a subgraph is imported into. It has no
/// values but its arguments: what the subgraph reads of the graphs around it is
/// captured, which adds an argument, or copied if it is a constant.
class Body {
public:
  /// Creates an empty function in the module of `builder`, whose name begins
  /// with `name`. Until finish() or erase(), `builder` inserts into it.
  Body(mlir::OpBuilder &builder, llvm::StringRef name, mlir::Location loc);

  /// Adds an argument that is not captured; all come before those that are.
  mlir::Value addArgument(mlir::Type type);
  /// Returns what stands in the function for `value`, which is outside.
  mlir::Value capture(mlir::Value value);
  /// Removes what has been captured of a finished function and is not read.
  void dropUnread();
  /// Makes the last arguments stand for `values`, among which are all that have
  /// been captured, of a function that is finished.
  void setCaptured(llvm::ArrayRef<mlir::Value> values);
  /// Lets `builder` add to the function that this one is made for.
  void setOutside();

  /// Ends the function with these results; `builder` is outside again.
  void finish(mlir::ValueRange results);
  /// Removes the function; `builder` is outside again.
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

/// Returns the results of the first of two finished bodies, which have no
/// arguments but what they capture, where `condition` holds, else those of the
/// second. Where neither computes anything, results are chosen by element.
llvm::SmallVector<mlir::Value> createIf(mlir::OpBuilder &builder,
                                        mlir::Location loc,
                                        mlir::Value condition, Body &thenBody,
                                        Body &elseBody);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_BODY_H
