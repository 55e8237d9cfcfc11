/* The passes of one (REAL, W), without and with edge weights. */
#define WEIGHTED 0
#include "tile.h"
#undef WEIGHTED
#define WEIGHTED 1
#include "tile.h"
#undef WEIGHTED
#undef W
