// More values at once than registers: each of the 128 sums is read after all have been written.
__global__ void __launch_bounds__(1024) planted_spilling_kernel(float* x, int rounds) {
  float sums[128];
#pragma unroll
  for (int i = 0; i < 128; ++i) sums[i] = x[i * 1024 + threadIdx.x];
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < 128; ++i) sums[i] = sums[i] * sums[(i + 1) % 128] + 1.0F;
  }
#pragma unroll
  for (int i = 0; i < 128; ++i) x[i * 1024 + threadIdx.x] = sums[i];
}
