//===- launches.h - The kernels that the routine tables launch ------------===//
//
// Kernels for blocks of a GPU's threads, whose grids depend on shapes. The
// expressions of the column LAUNCH use them, and the functions of
// expressions.h.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_ROUTINES_CATALOGUE_LAUNCHES_H
#define NNC_ROUTINES_CATALOGUE_LAUNCHES_H

#include "runtime/routines/elementwise/blocks.cuh"
#include "runtime/routines/elementwise/transposes.cuh"
#include "runtime/routines/moves/copy/blocks.cuh"
#include "runtime/routines/moves/gather/blocks.cuh"
#include "runtime/routines/moves/join/blocks.cuh"
#include "runtime/routines/moves/pad/blocks.cuh"
#include "runtime/routines/normalization/layer_norm/rows.cuh"
#include "runtime/routines/normalization/softmax/rows.cuh"
#include "runtime/routines/pooling/pool2d/nhwc.cuh"
#include "runtime/routines/reduction/reduce/rows.cuh"
#include "runtime/routines/resampling/resize/nhwc.cuh"

#endif // NNC_ROUTINES_CATALOGUE_LAUNCHES_H
