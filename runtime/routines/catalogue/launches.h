//===- launches.h - The kernels that the routine tables launch ------------===//
//
// Kernels for blocks of a GPU's threads, whose grids depend on shapes. The
// expressions of the column LAUNCH use them, and the functions of
// expressions.h.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CATALOGUE_LAUNCHES_H
#define NNC_ROUTINES_CATALOGUE_LAUNCHES_H

#include "runtime/routines/normalization/layer_norm/rows.cuh"
#include "runtime/routines/normalization/softmax/rows.cuh"
#include "runtime/routines/pooling/pool2d/nhwc.cuh"
#include "runtime/routines/reduction/reduce/rows.cuh"

#endif // NNC_ROUTINES_CATALOGUE_LAUNCHES_H
