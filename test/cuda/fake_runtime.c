/* Functions of the CUDA runtime for a program without a GPU: they print what a
 * module calls, and copy memory. The environment says what they find:
 * FAKE_MAJOR is the compute capability of the GPU, FAKE_OWNER the number of the
 * stream's GPU, FAKE_FAILS the number of the wait that fails, and FAKE_LAUNCHES
 * that of the launch. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int number(const char *name) {
  const char *const text = getenv(name);
  return text ? atoi(text) : 0;
}

cudaError_t cudaPeekAtLastError(void) { return cudaSuccess; }
cudaError_t cudaGetLastError(void) { return cudaSuccess; }
cudaError_t cudaGetDevice(int *device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device) {
  (void)stream;
  *device = number("FAKE_OWNER");
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute,
                                   int device) {
  (void)device;
  *value = attribute == cudaDevAttrComputeCapabilityMajor ? number("FAKE_MAJOR")
                                                          : -1;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *version) {
  *version = 12040;
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                            enum cudaMemcpyKind kind, cudaStream_t stream) {
  (void)stream;
  fprintf(stderr, "copy %d of %zu\n", kind, bytes);
  memcpy(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes,
                            cudaStream_t stream) {
  (void)stream;
  memset(to, value, bytes);
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  static int waits;
  (void)stream;
  return ++waits == number("FAKE_FAILS") ? cudaErrorLaunchFailure : cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void *kernel,
                                 enum cudaFuncAttribute attribute, int value) {
  (void)kernel, (void)attribute, (void)value;
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes,
                                     const void *pointer) {
  attributes->devicePointer = (void *)pointer;
  return cudaSuccess;
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config,
                                const void *kernel, void **arguments) {
  static int launches;
  unsigned i, is_early = 0;
  (void)kernel, (void)arguments;
  for (i = 0; i < config->numAttrs; ++i)
    is_early |= config->attrs[i].id ==
                    cudaLaunchAttributeProgrammaticStreamSerialization &&
                config->attrs[i].val.programmaticStreamSerializationAllowed;
  fprintf(stderr, is_early ? "early launch\n" : "launch\n");
  return ++launches == number("FAKE_LAUNCHES") ? cudaErrorLaunchOutOfResources
                                               : cudaSuccess;
}

/* Functions that nvcc's own code in a module calls. */
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block,
                             void **arguments, size_t bytes,
                             cudaStream_t stream) {
  (void)kernel, (void)grid, (void)block, (void)arguments;
  (void)bytes, (void)stream;
  abort();
}
cudaError_t __cudaLaunchKernel(void) { abort(); }
cudaError_t __cudaGetKernel(void) { abort(); }
void **__cudaRegisterFatBinary(void *binary) {
  (void)binary;
  return NULL;
}
void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }
void __cudaUnregisterFatBinary(void **handle) { (void)handle; }
void __cudaRegisterFunction(void) {}
void __cudaRegisterVar(void) {}
char __cudaInitModule(void **handle) {
  (void)handle;
  return 0;
}
unsigned __cudaPushCallConfiguration(void) { abort(); }
cudaError_t __cudaPopCallConfiguration(void) { abort(); }
