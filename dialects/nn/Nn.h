//===- Nn.h - The graph dialect -------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_NN_H
#define NNC_DIALECTS_NN_NN_H

#include "dialects/nn/Attributes.h"
#include "dialects/nn/Broadcast.h"
#include "dialects/nn/Layout.h"
#include "dialects/nn/ModelName.h"
#include "dialects/nn/RoutineCall.h"
#include "dialects/nn/Work.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/nn/NnInterfaces.h.inc"
#define GET_OP_CLASSES
#include "dialects/nn/NnOps.h.inc"

#endif // NNC_DIALECTS_NN_NN_H
