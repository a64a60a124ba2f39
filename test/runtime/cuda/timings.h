// Takes the times of launches on a GPU. Where kernels run on a CPU, it takes
// those of the CPU, which tell nothing but that the program works.
#ifndef NNC_TEST_CUDA_TIMINGS_H
#define NNC_TEST_CUDA_TIMINGS_H

#include "test/runtime/cuda/timed_layers.h"

#include <functional>
#include <string>
#include <vector>

namespace nnc_test {

/// A routine for a layer, and what is known of it before it runs.
struct timed_entry {
  std::string routine, kind, type;
  std::string params; ///< numbers, each with a comma after it
  std::string shape;  ///< fields, as the members of an object of JSON
  layer_size size;
  double scratch;    ///< bytes
  int element_bytes; ///< of the input, the weights and the output
  std::function<void(nnc::stream &, const timed_memory &)> run;
};

/// The entries of all sources of a program.
std::vector<timed_entry> &timed_entries();

/// The time of a launch in a captured graph in which launches follow one
/// another.
struct taken_time {
  double median_ns = 0, lower_quartile_ns = 0, upper_quartile_ns = 0;
  int runs = 0;      ///< of which the quartiles are
  std::string error; ///< empty if there is none
};
taken_time take_time(const timed_entry &entry, const timed_memory &memory);

/// Allocates the memory, and fills what is read. Ends the program if it fails.
timed_memory allocate_timed_memory(std::size_t bytes);

} // namespace nnc_test

#endif // NNC_TEST_CUDA_TIMINGS_H
