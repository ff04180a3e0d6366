#include "engine/core/result.h"
