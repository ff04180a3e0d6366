#include "kernels/cuda/module/stream.h"

namespace fovea::kernels::cuda {
namespace {

static_assert(usual_scratch_bytes >= min_scratch_bytes);

class DriverGraph final : public Graph {
 public:
  DriverGraph(Context& context, cudaGraphExec_t executable, const char* last_kernel)
      : context_(context), executable_(executable), last_kernel_(last_kernel) {}
  ~DriverGraph() override {
    if (context_.select()) cudaGraphExecDestroy(executable_);
  }
  DriverGraph(const DriverGraph&) = delete;
  DriverGraph& operator=(const DriverGraph&) = delete;

  cudaGraphExec_t executable() const { return executable_; }
  const char* last_kernel() const { return last_kernel_; }

 private:
  Context& context_;
  cudaGraphExec_t executable_;
  const char* last_kernel_;
};

}  // namespace

std::unique_ptr<DriverStream> DriverStream::create(Context& context, const DriverStreamOptions& options) {
  const bool background = options.background;
  const BlasLibrary* const library = options.library;
  int least = 0, greatest = 0;
  cudaStream_t stream = nullptr;
  if (!context.check(cudaDeviceGetStreamPriorityRange(&least, &greatest), Action::asking_for_priorities) ||
      !context.check(
          cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, background ? least : greatest),
          Action::making_a_stream))
    return nullptr;
  void* scratch = nullptr;
  const std::int64_t scratch_bytes = background ? 0 : options.scratch_bytes;
  const std::int64_t library_bytes = library ? Blas::workspace_bytes : 0;  // behind it
  if (!background &&
      cudaMalloc(&scratch, static_cast<std::size_t>(scratch_bytes + library_bytes)) != cudaSuccess) {
    cudaGetLastError();  // no memory is no failure of the device
    cudaStreamDestroy(stream);
    return nullptr;
  }
  std::unique_ptr<DriverStream> made(
      new DriverStream(context, stream, static_cast<std::byte*>(scratch), scratch_bytes, options));
  if (!background && !context.check(cudaMemsetAsync(made->scratch() + scratch_bytes - counter_bytes, 0,
                                                    static_cast<std::size_t>(counter_bytes), stream),
                                    Action::clearing_memory))
    return nullptr;
  if (library) {
    made->blas_ = Blas::create(*library, context, stream, made->scratch() + scratch_bytes);
    if (!made->blas_) return nullptr;
  }
  return made;
}

DriverStream::~DriverStream() {
  synchronize();  // and chooses the device
  if (context_.hangs()) return;
  blas_.reset();
  if (scratch() != nullptr) cudaFree(scratch());
  cudaStreamDestroy(stream());
}

// Other threads go on allocating and copying meanwhile.
bool DriverStream::begin_capture() {
  return captures_ && failure().empty() && context_.select() && context_.check_launches() &&
         context_.check(cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal),
                        Action::beginning_a_capture);
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
  if (error == cudaSuccess) return std::make_unique<DriverGraph>(context_, executable, last_kernel());
  if (executable != nullptr) cudaGraphExecDestroy(executable);
  why = said_of(error);
  return nullptr;
}

void DriverStream::launch(const Graph& graph) {
  if (!context_.select()) return;
  const auto& captured = static_cast<const DriverGraph&>(graph);
  note_kernel(captured.last_kernel());
  context_.check(cudaGraphLaunch(captured.executable(), stream()), Action::starting_a_graph);
}

bool DriverStream::multiply_bfloat16(const Bfloat16Product& product) {
  if (blas_) blas_->multiply(product);
  return blas_ != nullptr;
}

void DriverStream::synchronize() {
  if (!context_.select()) return;
  context_.check_launches();
  context_.wait([this] { return cudaStreamQuery(stream()); }, Rest::none, last_kernel());
}

}  // namespace fovea::kernels::cuda
