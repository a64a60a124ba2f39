/* A stub of the driver's library, libcuda.so.1, of which nnc asks which GPU
 * there is. */
#include <stdlib.h>

int cuInit(unsigned flags) { return (int)flags; }

int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
  const char *given = getenv("STUB_GPU_ARCHITECTURE");
  const int architecture = given ? atoi(given) : 80;
  *value = attribute == 75 ? architecture / 10 : architecture % 10;
  return device;
}
