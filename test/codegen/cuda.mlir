// RUN: rm -rf %t && nnc-opt --nnc-encode-weights %s -o %t.mlir
// RUN: nnc-codegen %t.mlir -o %t
// RUN: FileCheck %s --check-prefix=CU < %t/control.cu
// RUN: FileCheck %s --check-prefix=H < %t/control.h
// RUN: FileCheck %s --check-prefix=JSON < %t/manifest.json
// RUN: FileCheck %s --check-prefix=CMAKE < %t/CMakeLists.txt
// RUN: ls %t | FileCheck %s --check-prefix=FILES
// A C++ compiler builds it for the CPU, which emulates the GPU.
// RUN: g++ -std=c++17 -x c++ -DNNC_EMULATE_CUDA=1 -Wall -Wextra -Werror -c %t/control.cu -o %t/gcc.o
// RUN: clang++-19 -std=c++17 -x c++ -DNNC_EMULATE_CUDA=1 -DNNC_CHECK_POINTERS=1 -DNNC_HOOKS=1 -Wall -Wextra -Werror -c %t/control.cu -o %t/clang.o
// RUN: not g++ -std=c++17 -x c++ -c %t/control.cu -o %t/none.o 2>&1 | FileCheck %s --check-prefix=PLAIN

// A kernel reads lists as members of its shape.
// CU: struct turned_shape {
// CU-NEXT: static constexpr int rank = 2, src_offset = 0, dst_offset = 0;
// CU-NEXT: int dims[2] = {4, 9};
// CU: static void turned(nnc::stream &gpu_stream, const float *x, float *y) {
// CU: nnc::launch<routine>(gpu_stream, turned_shape{}, x, y, nnc::none{});
// CU: static int status_of(const nnc::stream &stream) {
// CU: static int run(nnc::stream &gpu_stream,
// CU: for (int64_t steps_n = 0, steps_n_end = gpu_stream.read(n);
// CU-NEXT: steps_n < 9 && gpu_stream.is_sound() && steps_n < steps_n_end &&
// CU-NEXT: gpu_stream.read(c); ++steps_n) {
// CU-NEXT: gpu_stream.write(i, steps_n);
// CU: gpu_stream.copy(all + steps_n * 4, x, 16);
// CU: if (gpu_stream.read(c)) {
// CU: turned(gpu_stream, all, out);
// CU: return status_of(gpu_stream);
// CU: is_on_gpu(inputs->c)
// CU: CONTROL_NOT_ON_GPU
// CU: nnc::stream queue(stream);

// H: All pointers are to memory of the GPU
// H: CONTROL_NO_GPU = 12
// H: int control_run(
// H: void *stream);
// H-NOT: control_load_weights

// JSON: "architectures": ["sm_80","sm_90"]

// CMAKE: CUDA_ARCHITECTURES "80-real;90-real"

// FILES-NOT: control.cpp
// FILES: control.cu

// PLAIN: compile this file with nvcc, or for a CPU with -DNNC_EMULATE_CUDA=1

exec.program @control arena 64 lower_bound 64 align 64 weights 0
    attributes {architectures = ["sm_80", "sm_90"], target = "cuda-sm80,cuda-sm90"} {
  %c = exec.input "c" : tensor<i1>
  %n = exec.input "n" : tensor<i64>
  %x = exec.input "x" : tensor<4xf32>
  %y = exec.output "y" : tensor<4xf32>
  %all = exec.output "all" : tensor<9x4xf32>
  %out = exec.output "out" : tensor<4x9xf32>
  %i = exec.buffer "i" at 0 : tensor<i64>
  exec.loop "steps" max 9 count %n while %c counter %i {
    exec.copy "copy_all" %x to %all by_run
    exec.branch "gate" on %c {
      exec.copy "copy_y" %x to %y
    } else {
    }
  }
  exec.call "turned" copy_portable of "runtime/routines/moves/copy/portable.h"
      inputs(%all) outputs(%out)
      shape <rank = 2, src_offset = 0, dst_offset = 0, dims = [4, 9], src_strides = [1, 4], dst_strides = [9, 1]>
}
