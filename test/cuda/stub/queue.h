//===- queue.h - Where an emulated module puts its work -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A module that is emulated with this header, which the stub of nvcc includes
// in front of it, adds its kernels and copies to the stub's streams instead of
// running them at once (runtime/cuda/launch.h).
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TEST_CUDA_STUB_QUEUE_H
#define NNC_TEST_CUDA_STUB_QUEUE_H

#include <functional>

namespace stub {

/// Reports what is wrong with a kernel.
using Report = void (*)(const char *what);

/// Adds work to the stream `queue`.
void add(void *queue, bool isKernel, std::function<void(Report)> work);

/// Waits for all work of the stream.
void wait(void *queue);

} // namespace stub

#define NNC_EMULATED_ADD stub::add
#define NNC_EMULATED_WAIT stub::wait

#endif // NNC_TEST_CUDA_STUB_QUEUE_H
