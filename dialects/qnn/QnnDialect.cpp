//===- QnnDialect.cpp - Registration and all generated code of qnn --------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "dialects/qnn/Qnn.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nnc::qnn;

#include "dialects/qnn/QnnDialect.cpp.inc"
#include "dialects/qnn/QnnEnums.cpp.inc"
#include "dialects/qnn/QnnInterfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/qnn/QnnAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/qnn/QnnOps.cpp.inc"

void QnnDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/qnn/QnnAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/qnn/QnnOps.cpp.inc"
      >();
}
