// Reads what the kernel before it may still be writing, and waits for that only then.
__global__ void planted_early_kernel(volatile float* x) {
  const float value = x[threadIdx.x];
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  x[threadIdx.x] = value + 1.0F;
}
