#include "kernels/cuda/module/stream.h"

namespace fovea::kernels::cuda {
namespace {

constexpr std::int64_t compute_scratch_bytes = std::int64_t{64} << 20;
static_assert(compute_scratch_bytes >= least_scratch_bytes);

class DriverGraph final : public Graph {
 public:
  explicit DriverGraph(cudaGraphExec_t executable) : executable_(executable) {}
  ~DriverGraph() override { cudaGraphExecDestroy(executable_); }
  DriverGraph(const DriverGraph&) = delete;
  DriverGraph& operator=(const DriverGraph&) = delete;

  cudaGraphExec_t executable() const { return executable_; }

 private:
  cudaGraphExec_t executable_;
};

}  // namespace

std::unique_ptr<DriverStream> DriverStream::create(Failure& failure, int multiprocessors, bool overlaps,
                                                   bool background) {
  int least = 0, greatest = 0;
  cudaStream_t stream = nullptr;
  if (!failure.check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "asking for stream priorities") ||
      !failure.check(
          cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, background ? least : greatest),
          "making a stream"))
    return nullptr;
  void* scratch = nullptr;
  const std::int64_t scratch_bytes = background ? 0 : compute_scratch_bytes;
  if (!background && cudaMalloc(&scratch, static_cast<std::size_t>(scratch_bytes)) != cudaSuccess) {
    cudaGetLastError();  // no memory is no failure of the device
    cudaStreamDestroy(stream);
    return nullptr;
  }
  if (!background &&
      !failure.check(cudaMemsetAsync(static_cast<std::byte*>(scratch) + scratch_bytes - counter_bytes, 0,
                                     static_cast<std::size_t>(counter_bytes), stream),
                     "clearing memory"))
    return nullptr;
  return std::unique_ptr<DriverStream>(new DriverStream(failure, stream, static_cast<std::byte*>(scratch),
                                                        scratch_bytes, multiprocessors, overlaps));
}

DriverStream::~DriverStream() {
  synchronize();
  if (scratch() != nullptr) cudaFree(scratch());
  cudaStreamDestroy(stream());
}

// Other threads go on allocating and copying meanwhile.
bool DriverStream::begin_capture() {
  return failure().empty() &&
         failure_.check(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal),
                        "beginning a capture");
}

// What could not be captured is no failure of the device: the same work can be started piece by piece.
std::unique_ptr<Graph> DriverStream::end_capture(std::string& why) {
  cudaGraph_t graph = nullptr;
  cudaError_t error = cudaStreamEndCapture(stream(), &graph);
  cudaGraphExec_t executable = nullptr;
  if (error == cudaSuccess) error = cudaGraphInstantiate(&executable, graph, 0);
  if (graph != nullptr) cudaGraphDestroy(graph);
  // A launch that was refused leaves its error behind, which is no failure of the stream's now.
  if (const cudaError_t refused = cudaGetLastError(); refused != cudaSuccess) error = refused;
  if (error == cudaSuccess) return std::make_unique<DriverGraph>(executable);
  if (executable != nullptr) cudaGraphExecDestroy(executable);
  why = std::string(cudaGetErrorString(error)) + " (" + cudaGetErrorName(error) + ")";
  return nullptr;
}

void DriverStream::launch(const Graph& graph) {
  failure_.check(cudaGraphLaunch(static_cast<const DriverGraph&>(graph).executable(), stream()),
                 "starting a graph");
}

void DriverStream::synchronize() {
  failure_.check(cudaGetLastError(), "starting a kernel");
  failure_.check(cudaStreamSynchronize(stream()), "running kernels");
}

}  // namespace fovea::kernels::cuda
