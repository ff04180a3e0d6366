#include "kernels/cpu/device.h"
