//===- clang_declarations.h - What CUDA declares, for clang ---------------===//
//
// The names of CUDA that modules use. clang 19 does not read the headers of
// CUDA 13, so that clang_test.py compiles modules with -nocudainc -nocudalib
// and these declarations, to PTX, as a second compiler. Functions of the C
// library are declared for GPUs, too; their definitions would be those of
// libdevice.
//
//===----------------------------------------------------------------------===//
#ifndef NNC_TEST_CUDA_CLANG_DECLARATIONS_H
#define NNC_TEST_CUDA_CLANG_DECLARATIONS_H

#define __CUDACC__ 1
#define CUDART_VERSION 12080
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __device__ __attribute__((device))
#define __forceinline__ inline __attribute__((always_inline))
#define __global__ __attribute__((global))
#define __host__ __attribute__((host))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __shared__ __attribute__((shared))

#pragma clang force_cuda_host_device begin
#include <math.h>
#include <string.h>
#pragma clang force_cuda_host_device end

#include <stddef.h>
#include <stdint.h>

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1)
      : x(x), y(y), z(z) {}
  unsigned x, y, z;
};
#include <__clang_cuda_builtin_vars.h>

struct CUstream_st;
using cudaStream_t = CUstream_st *;
#define cudaStreamLegacy (reinterpret_cast<cudaStream_t>(1))
#define cudaStreamPerThread (reinterpret_cast<cudaStream_t>(2))

enum cudaError_t {
  cudaSuccess,
  cudaErrorInitializationError,
  cudaErrorInsufficientDriver,
  cudaErrorInvalidDeviceFunction,
  cudaErrorInvalidResourceHandle,
  cudaErrorInvalidValue,
  cudaErrorJitCompilationDisabled,
  cudaErrorMemoryAllocation,
  cudaErrorNoDevice,
  cudaErrorNoKernelImageForDevice,
  cudaErrorNotReady
};
enum cudaMemcpyKind {
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
enum cudaDeviceAttr { cudaDevAttrComputeCapabilityMajor };
enum cudaLaunchAttributeID {
  cudaLaunchAttributeProgrammaticStreamSerialization
};
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  struct {
    int programmaticStreamSerializationAllowed;
  } val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute *attrs;
  unsigned numAttrs;
};
struct cudaPointerAttributes {
  void *devicePointer;
};

extern "C" {
cudaError_t cudaDeviceGetAttribute(int *, cudaDeviceAttr, int);
cudaError_t cudaDriverGetVersion(int *);
cudaError_t cudaFuncSetAttribute(const void *, cudaFuncAttribute, int);
cudaError_t cudaGetDevice(int *);
cudaError_t cudaGetLastError(void);
cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, size_t,
                             cudaStream_t);
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *, const void *,
                                void **);
cudaError_t cudaMemcpyAsync(void *, const void *, size_t, cudaMemcpyKind,
                            cudaStream_t);
cudaError_t cudaMemsetAsync(void *, int, size_t, cudaStream_t);
cudaError_t cudaPeekAtLastError(void);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *, const void *);
cudaError_t cudaStreamGetDevice(cudaStream_t, int *);
cudaError_t cudaStreamSynchronize(cudaStream_t);
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, void *);
}

#endif // NNC_TEST_CUDA_CLANG_DECLARATIONS_H
