//===- Nn.h - The graph dialect -------------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_NN_H
#define NNC_DIALECTS_NN_NN_H

#include "dialects/nn/attributes/Attributes.h"
#include "dialects/nn/attributes/ModelName.h"
#include "dialects/nn/axes/AxisUse.h"
#include "dialects/nn/calls/RoutineCall.h"
#include "dialects/nn/calls/Work.h"
#include "dialects/nn/elementwise/Broadcast.h"
#include "dialects/nn/layouts/Layout.h"

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
