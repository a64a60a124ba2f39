//===- ColumnSweep.h - Weights settle column by column ----------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_COMPRESSION_COLUMNSWEEP_H
#define NNC_COMPILER_COMPRESSION_COLUMNSWEEP_H

#include "compiler/compression/Cholesky.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace nnc::compression {

/// Settles the weights of a matrix column by column. The error that a settled
/// weight causes in the products with the layer's inputs is compensated, as far
/// as possible, by the weights of its row that are not settled yet: "Optimal
/// Brain Surgeon" (Hassibi and Stork, 1993) with the fixed order of columns of
/// "GPTQ" (Frantar et al., 2022) and "SparseGPT" (Frantar and Alistarh, 2023).
///
/// `values` has `rows` rows of `columns` weights, and gets the settled weights.
/// `factor` is the result of factorInverse() for the Hessian of the columns.
/// Columns are divided into runs of `run` columns, and each run into blocks of
/// `width` columns, of which the last may have fewer. Before each block,
/// `choose` is called with the first column, the end column, and the rows with
/// the compensations so far. Then `settle` is called with the row, column and
/// present value of each weight of the block, and returns the settled value.
void sweepColumns(
    llvm::MutableArrayRef<double> values, int64_t rows, int64_t columns,
    llvm::ArrayRef<double> factor, int64_t width, int64_t run,
    llvm::function_ref<void(int64_t, int64_t, MatrixPart<const double>)> choose,
    llvm::function_ref<double(int64_t, int64_t, double)> settle);

} // namespace nnc::compression

#endif // NNC_COMPILER_COMPRESSION_COLUMNSWEEP_H
