//===- Program.h - The parts of a program in <name>.cpp -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_CODEGEN_PROGRAM_H
#define NNC_CODEGEN_PROGRAM_H

#include "codegen/Printer.h"

namespace nnc::codegen {

/// Returns the field of an input or output, for instance `inputs->x`. `access`
/// is the operator between the struct and the field.
std::string getPortField(mlir::Operation &op, llvm::StringRef access);
/// Returns the pointer to the memory that holds a place in the arena: `arena`,
/// or with several memories, for instance `arenas->dtcm`.
std::string getArenaPointer(mlir::Operation &op, llvm::StringRef access);

/// Returns the body of run(): the places and the steps of a run (Steps.cpp).
/// The comments of layers tell their share of the `total` multiply-adds.
std::string printBody(exec::ProgramOp program, const LayerNumbers &layers,
                      int64_t total);

/// Returns the definition of is_at(), which checks whether an input or output
/// is at its place in the arena (ArgumentChecks.cpp).
std::string printIsAt();
/// Returns the body of find_fault(), which checks the arguments of run().
std::string printChecks(exec::ProgramOp program, const EmitOptions &options);

/// Returns the condition that is true if the pointer of an input or output is
/// null. It is empty for a tensor without elements in a CUDA program, which may
/// be null.
std::string printNullFault(mlir::Operation &port);

/// Returns the statements that check, in a build with NNC_CHECK_POINTERS,
/// whether the arguments of a CUDA program's run() are in the GPU's memory
/// (Cuda.cpp).
std::string printPointerChecks(exec::ProgramOp program);
/// Return the lines of a CUDA program's run() that copy all inputs from the
/// CPU's memory to their places in the arena, and all outputs back. They are
/// empty unless the program has `host_ports` (Cuda.cpp).
std::string printUploads(exec::ProgramOp program);
std::string printDownloads(exec::ProgramOp program);
/// Returns the definition of <name>_load_weights.
std::string printLoadWeights(exec::ProgramOp program,
                             const EmitOptions &options);

/// Returns the expression for the pointer to the program's weights in the
/// emitted code, or "nullptr" if the weights are in several pieces
/// (WeightChecks.cpp).
std::string getWeightsPointer(exec::ProgramOp program,
                              const EmitOptions &options);
/// Returns the statements that check each piece of the weights in turn. `scope`
/// is the prefix of the names of functions. If `checksAll`, they read all
/// bytes.
std::string printWeightChecks(exec::ProgramOp program, const std::string &scope,
                              bool checksAll);
/// Returns the constants and functions that check each piece of the weights.
std::string printWeightFaults(exec::ProgramOp program,
                              llvm::ArrayRef<WeightsPiece> weights,
                              const Values &values);
/// Returns the declarations of the arrays that hold the weights.
std::string printWeightArrays(llvm::ArrayRef<WeightsPiece> weights);
/// Returns the definition of <name>_check_weights, which reads all bytes of the
/// weights.
std::string printCheckEntry(exec::ProgramOp program,
                            const EmitOptions &options);

} // namespace nnc::codegen

#endif // NNC_CODEGEN_PROGRAM_H
