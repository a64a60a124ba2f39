//===- ModuleName.h - What the files of a program are called by -*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_EXEC_MODULENAME_H
#define NNC_DIALECTS_EXEC_MODULENAME_H

#include "dialects/exec/Exec.h"

namespace nnc::exec {

/// Returns the name of the module that the program is a part of.
inline std::string getModuleName(ProgramOp program) {
  auto name = program->getAttrOfType<mlir::StringAttr>(kModuleAttr);
  return (name ? name.getValue() : program.getSymName()).str();
}

} // namespace nnc::exec

#endif // NNC_DIALECTS_EXEC_MODULENAME_H
