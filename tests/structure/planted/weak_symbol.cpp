// What the check of the instruction sets' objects must refuse: an inline function that was not inlined.
extern "C" __attribute__((noinline)) inline int planted_weak_function(int x) {
  return x + 1;
}

int planted_caller(int x) {
  return planted_weak_function(x);
}
