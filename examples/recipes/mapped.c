/* Maps a network's weights, and checks all of them: mapped FILE */
#include "gesture.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int count, char **arguments) {
  const int file = count == 2 ? open(arguments[1], O_RDONLY) : -1;
  struct stat about;
  if (file < 0 || fstat(file, &about) != 0) {
    fprintf(stderr, "usage: mapped FILE\n");
    return 2;
  }
  /* A mapping begins at a page, and so is aligned for any network. */
  void *weights =
      mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (weights == MAP_FAILED) {
    perror(arguments[1]);
    return 2;
  }
  const int status = gesture_check_weights(weights, (size_t)about.st_size);
  printf("the weights are %s\n", status == GESTURE_OK ? "right" : "damaged");
  /* From here on, each run takes them as inputs.weights. */
  return status;
}
