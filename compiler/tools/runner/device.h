//===- device.h - The device that the module runs on ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A program has one of two implementations: cpu.cpp, also for a module of CUDA
// that the CPU emulates, or gpu.cpp, which calls the CUDA runtime. The rest of
// the runner is free of CUDA.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_RUNNER_DEVICE_H
#define NNC_TOOLS_RUNNER_DEVICE_H

#include <cstddef>
#include <functional>
#include <string>

namespace runner {
namespace device {

/// Prepares the device for the module. Ends the program with a message if the
/// module cannot run on it.
void open();

/// Returns `bytes` bytes of the device's memory at a multiple of `alignment`.
/// Ends the program with a message if there is too little memory.
void *allocate(std::size_t bytes, std::size_t alignment);
void release(void *memory);

/// Return and release memory of the CPU, from and to which the device copies at
/// its full speed.
void *allocateOnCpu(std::size_t bytes, std::size_t alignment);
void releaseOnCpu(void *memory);

/// Fill bytes of the device's memory with a value, copy them within it, or copy
/// bytes from the CPU's memory to the device's or back. The bytes are in their
/// place on return.
void fill(void *to, char value, std::size_t bytes);
void copy(void *to, const void *from, std::size_t bytes);
void upload(void *to, const void *from, std::size_t bytes);
void download(void *to, const void *from, std::size_t bytes);

/// Waits for the work that a run of the module has given to the device. Ends
/// the program with a message if that work failed.
void wait();

/// Returns the stream for a module of CUDA; null stands for the default one.
void *stream();

/// Ends the program with a message about a status that a function of the module
/// has returned and that is not 0. `what` is the beginning of the message.
[[noreturn]] void failCall(int status, const std::string &what = "");

/// A run of the module that is to be timed, and the work before each run that
/// is not timed.
struct Work {
  std::function<void()> prepare, run;
};

/// Runs the work up to `runs` times, but, after a least number of runs, not
/// longer than `seconds`. Prints the seconds of each run, and returns their
/// number.
int timeRuns(const Work &work, int runs, double seconds);

/// Runs the work as timeRuns() does, and prints for each layer the median of
/// its seconds.
void timeLayers(const Work &work, int runs, double seconds);

/// Returns multiply-adds per second that `threads` threads of the CPU reach, or
/// 0 on a GPU, whose peak follows from what printFigures() prints.
double measurePeak(int threads);

/// Prints what else is worth knowing: the memory in use at most, and, of a GPU,
/// its name and properties.
void printFigures();

} // namespace device
} // namespace runner

#endif // NNC_TOOLS_RUNNER_DEVICE_H
