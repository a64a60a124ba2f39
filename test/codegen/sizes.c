/* What a user may do with the sizes in the header of sizes.mlir. */
#include "big.h"

#if BIG_ALIGN > 64
#error "an alignment is for the preprocessor, too"
#endif

extern unsigned char arena[BIG_ARENA_BYTES];
extern char is_whole[BIG_ARENA_BYTES / 1024 == 5242880 ? 1 : -1];
extern char is_size[sizeof(BIG_WEIGHT_BYTES) == sizeof(size_t) ? 1 : -1];
