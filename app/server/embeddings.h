// Embeddings: OpenAI's /v1/embeddings, Ollama's /api/embed and its older /api/embeddings. Each is the mean of
// the last hidden states of a text's tokens, with the length 1; that of /api/embeddings as it is.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "app/server/activity.h"
#include "app/server/json_fields.h"
#include "app/server/served_models.h"

namespace fovea::app {

struct EmbeddingRequest {
  std::string model = {};
  std::vector<std::variant<std::string, std::vector<TokenId>>> input = {};
  std::int64_t dimensions = 0;  // that it counts on; 0: as many as there are
  bool base64 = false;          // little-endian float32
  bool truncates = false;       // a text beyond the context loses its end
  std::int64_t context = 0;     // tokens that it counts on; 0: as the model was loaded
  std::optional<std::chrono::seconds> keep_loaded = {};  // as ChatRequest's
};

struct Embeddings {
  std::string model;
  std::vector<std::vector<float>> means;
  std::int64_t tokens = 0;  // of all texts
  double load_seconds = 0, seconds = 0;
};

const ParameterKinds& openai_embeddings_parameters();
const ParameterKinds& ollama_embed_parameters();
const ParameterKinds& ollama_embeddings_parameters();
const ParameterKinds& ollama_embedding_options();

Result<EmbeddingRequest> read_openai_embeddings(const Json& body);
Result<EmbeddingRequest> read_ollama_embed(const Json& body);
Result<EmbeddingRequest> read_ollama_embeddings(const Json& body);

// Where nothing is asked the model is loaded alone. Errors are those of the models and of Engine::embed.
Result<Embeddings> make_embeddings(ServedModels& models, Activity& activity, const EmbeddingRequest& request,
                                   const std::stop_token& stop);

Json openai_embeddings_json(const EmbeddingRequest& request, Embeddings made);
Json ollama_embed_json(Embeddings made);
Json ollama_embeddings_json(const Embeddings& made);

}  // namespace fovea::app
