#include "app/server/service.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <unistd.h>
#include <utility>

#include "app/server/activity.h"
#include "app/server/anthropic.h"
#include "app/server/embeddings.h"
#include "app/server/errors.h"
#include "app/server/experts.h"
#include "app/server/llama_server.h"
#include "app/server/ollama.h"
#include "app/server/openai_chat.h"
#include "app/server/openai_completions.h"
#include "app/server/responses.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

// The answer to a GET that asks for no more than a page.
constexpr std::string_view welcome = "Fovea is running\n";

}  // namespace

struct Service::Parts {
  using Handler = void (Parts::*)(Exchange&);
  // As the server's lanes stand in start().
  enum Lane : std::size_t { quick, tokens, answers, watch };
  struct Route {
    std::string_view method, path;
    Lane lane;
    Handler handler;
  };
  static const std::vector<Route>& routes();
  // One more of these, where it counts, for as long as it lives.
  struct Counted {
    std::atomic<std::size_t>* const of;
    explicit Counted(std::atomic<std::size_t>* counter) : of(counter) {
      if (of != nullptr) ++*of;
    }
    ~Counted() {
      if (of != nullptr) --*of;
    }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
  };

  ServiceSettings settings;
  ServedModels& models;
  Activity activity;
  ResponseStore responses;
  std::atomic<std::size_t> answering = 0;
  std::unique_ptr<HttpServer> server;

  Parts(ServiceSettings its_settings, ServedModels& its_models)
      : settings(std::move(its_settings)), models(its_models), activity(settings.slots) {}

  // HEAD is a GET without its body.
  static std::string_view method_of(const HttpRequest& request) {
    return request.method == "HEAD" ? "GET" : std::string_view(request.method);
  }
  static const Route* find(const HttpRequest& request) {
    const auto found = std::ranges::find_if(routes(), [&](const Route& route) {
      return is_path(route, request) && route.method == method_of(request);
    });
    return found == routes().end() ? nullptr : &*found;
  }
  // "/v1/models/" stands for each model's path.
  static bool is_path(const Route& route, const HttpRequest& request) {
    if (route.path == request.path) return true;
    return route.path.size() > 1 && route.path.ends_with('/') && request.path.starts_with(route.path) &&
           request.path.size() > route.path.size();
  }

  std::optional<HttpResponse> check_head(const HttpRequest& head) const {
    const Dialect dialect = dialect_of(head.path);
    if (const auto refusal = check_access(head, settings.access))
      return refusal_response(dialect, refusal->status, refusal->what);
    if (find(head) != nullptr) return std::nullopt;
    const bool is_there =
        std::ranges::any_of(routes(), [&](const Route& route) { return is_path(route, head); });
    if (is_there) return refusal_response(dialect, 405, "this path does not take the method " + head.method);
    return error_response(dialect, errors::server_no_path(head.path).at(phrases::server_request_place()));
  }

  // Reads the body; an error is the answer.
  template <class Answer>
  void with_body(Exchange& exchange, Answer answer) {
    const auto body = parse_body(exchange.request().body);
    if (!body) return exchange.respond(error_response(dialect_of(exchange.request().path), body.error()));
    answer(*body);
  }
  void respond(Exchange& exchange, const Result<Json>& json) {
    exchange.respond(json ? json_response(*json)
                          : error_response(dialect_of(exchange.request().path), json.error()));
  }

  void root(Exchange& exchange) {
    exchange.respond({.content_type = "text/plain; charset=utf-8", .body = std::string(welcome)});
  }
  void health(Exchange& exchange) {
    exchange.respond(
        json_response({{"status", "ok"},
                       {"fovea", {{"version", settings.version}, {"process", std::int64_t{::getpid()}}}}}));
  }

  static Json model_json(const ServedEntry& entry) {
    return {{"id", entry.name}, {"object", "model"}, {"created", entry.modified}, {"owned_by", "fovea"}};
  }
  void list_models(Exchange& exchange) {
    Json list = Json::array();
    for (const ServedEntry& entry : models.list()) list.push_back(model_json(entry));
    exchange.respond(json_response({{"object", "list"}, {"data", std::move(list)}}));
  }
  void one_model(Exchange& exchange) {
    const std::string name = exchange.request().path.substr(std::string_view("/v1/models/").size());
    std::vector<std::string> names;
    for (const ServedEntry& entry : models.list()) {
      if (entry.name == name) return exchange.respond(json_response(model_json(entry)));
      names.push_back(entry.name);
    }
    exchange.respond(error_response(Dialect::openai, names.empty() ? errors::server_no_models(name)
                                                                   : errors::server_no_model(name, names)));
  }

  void chat_completions(Exchange& exchange) {
    with_body(exchange, [&](const Json& body) {
      answer_chat(exchange, models, activity, read_openai_chat(body), openai_chat_style());
    });
  }
  void make_response(Exchange& exchange) {
    with_body(exchange, [&](const Json& body) {
      auto read = read_responses(body, responses);
      if (!read) return exchange.respond(error_response(Dialect::openai, read.error()));
      const auto request = std::make_shared<const ResponsesRequest>(*std::move(read));
      answer_chat(exchange, models, activity, request->chat, responses_style(request, responses));
    });
  }
  // The id, and whether its input is meant.
  static std::pair<std::string, bool> asked_response(const Exchange& exchange) {
    std::string id = exchange.request().path.substr(std::string_view("/v1/responses/").size());
    constexpr std::string_view items = "/input_items";
    const bool is_input = id.ends_with(items);
    if (is_input) id.resize(id.size() - items.size());
    return {id.substr(0, 100), is_input};
  }
  void one_response(Exchange& exchange) {
    const auto [id, is_input] = asked_response(exchange);
    const std::string& query = exchange.request().query;
    respond(exchange, [&]() -> Result<Json> {
      const auto found = responses.find(id);
      if (!found) return fail(phrases::server_request_place(), errors::server_no_kept_response(id));
      if (is_input) return list_input_items(*found, query);
      if (query_value(query, "stream") == "true")
        return fail(phrases::server_request_place(), errors::server_refused_parameter("stream"));
      return found->response;
    }());
  }
  void delete_response(Exchange& exchange) {
    const auto [id, is_input] = asked_response(exchange);
    respond(exchange, [&]() -> Result<Json> {
      if (is_input || !responses.erase(id))
        return fail(phrases::server_request_place(), errors::server_no_kept_response(id));
      return Json{{"id", id}, {"object", "response"}, {"deleted", true}};
    }());
  }
  void completions(Exchange& exchange) {
    with_body(exchange, [&](const Json& body) {
      answer_chat(exchange, models, activity, read_openai_completion(body), openai_completions_style());
    });
  }
  void messages(Exchange& exchange) {
    with_body(exchange, [&](const Json& body) {
      answer_chat(exchange, models, activity, read_anthropic(body), anthropic_style());
    });
  }
  void count_message_tokens(Exchange& exchange) {
    with_body(exchange, [&](const Json& body) {
      respond(exchange, [&]() -> Result<Json> {
        FOVEA_TRY(ChatRequest request, read_anthropic(body, true));
        FOVEA_TRY(const auto model, models.acquire(request.model, exchange.stop()));
        FOVEA_CHECK(settle_thinking(request, model->info()));
        FOVEA_TRY(const std::vector<TokenId> prompt, model->prompt(request.generate));
        return Json{{"input_tokens", std::ssize(prompt)}};
      }());
    });
  }

  template <class Show>
  void embed(Exchange& exchange, Result<EmbeddingRequest> (*read)(const Json&), Show show) {
    with_body(exchange, [&](const Json& body) {
      respond(exchange, [&]() -> Result<Json> {
        FOVEA_TRY(const EmbeddingRequest request, read(body));
        FOVEA_TRY(Embeddings made, make_embeddings(models, activity, request, exchange.stop()));
        return show(request, std::move(made));
      }());
    });
  }
  void embeddings(Exchange& exchange) { embed(exchange, read_openai_embeddings, openai_embeddings_json); }
  void ollama_embed(Exchange& exchange) {
    embed(exchange, read_ollama_embed,
          [](const EmbeddingRequest&, Embeddings made) { return ollama_embed_json(std::move(made)); });
  }
  void ollama_embeddings(Exchange& exchange) {
    embed(exchange, read_ollama_embeddings,
          [](const EmbeddingRequest&, const Embeddings& made) { return ollama_embeddings_json(made); });
  }

  void ollama(Exchange& exchange, bool chat) {
    with_body(exchange, [&](const Json& body) {
      auto request = chat ? read_ollama_chat(body) : read_ollama_generate(body);
      if (request && is_only_loading(*request))
        return respond(exchange, [&]() -> Result<Json> {
          FOVEA_TRY(const std::string name, load_or_unload(*request, exchange.stop()));
          return ollama_loaded(*request, name, chat);
        }());
      answer_chat(exchange, models, activity, std::move(request),
                  chat ? ollama_chat_style() : ollama_generate_style());
    });
  }
  Result<std::string> load_or_unload(const ChatRequest& request, const std::stop_token& stop) {
    if (request.keep_loaded == std::chrono::seconds(0)) {
      FOVEA_CHECK(models.inspect(request.model));
      models.keep(request.model, std::chrono::seconds(0));
      return request.model;
    }
    FOVEA_TRY(const auto model, models.acquire(request.model, stop));
    if (request.keep_loaded) models.keep(model->name(), *request.keep_loaded);
    return model->name();
  }
  void ollama_chat(Exchange& exchange) { ollama(exchange, true); }
  void ollama_generate(Exchange& exchange) { ollama(exchange, false); }
  void tags(Exchange& exchange) { exchange.respond(json_response(ollama_tags(models, false))); }
  void running(Exchange& exchange) { exchange.respond(json_response(ollama_tags(models, true))); }
  void version(Exchange& exchange) {
    exchange.respond(json_response({{"version", ollama_interface_version}, {"fovea", settings.version}}));
  }
  void show(Exchange& exchange) {
    with_body(exchange, [&](const Json& body) { respond(exchange, ollama_show(models, body)); });
  }

  void props(Exchange& exchange) {
    exchange.respond(json_response(props_json(models.loaded().get(), settings.slots, settings.version)));
  }
  void slots(Exchange& exchange) { exchange.respond(json_response(activity.slots())); }
  void metrics(Exchange& exchange) {
    exchange.respond({.content_type = "text/plain; version=0.0.4; charset=utf-8",
                      .body = activity.metrics(server->waiting(Lane::answers), server->connections())});
  }
  // With the model that the body names, else the one that is loaded.
  void with_loaded(Exchange& exchange, Result<Json> (*use)(ServedModel&, const Json&)) {
    with_body(exchange, [&](const Json& body) {
      respond(exchange, [&]() -> Result<Json> {
        const Json named = body.value("model", Json());
        std::shared_ptr<ServedModel> model = named.is_string() ? nullptr : models.loaded();
        if (model == nullptr) {
          FOVEA_TRY(model,
                    models.acquire(named.is_string() ? named.get<std::string>() : "", exchange.stop()));
        }
        return use(*model, body);
      }());
    });
  }
  void tokenize_text(Exchange& exchange) { with_loaded(exchange, tokenize); }
  void detokenize_tokens(Exchange& exchange) { with_loaded(exchange, detokenize); }
  void apply_chat_template(Exchange& exchange) { with_loaded(exchange, apply_template); }

  void plan(Exchange& exchange) {
    const auto made = models.plan(query_value(exchange.request().query, "model").value_or(""));
    if (!made) return exchange.respond(error_response(Dialect::openai, made.error()));
    exchange.respond({.body = settings.plan_json(*made)});
  }

  // Snapshots as events, ten times a second at most, until the client leaves.
  void experts(Exchange& exchange) {
    const std::stop_token stop = exchange.stop();
    std::mutex mutex;
    std::condition_variable_any wake;
    std::uint64_t seen = 0;
    Snapshot snapshot;
    if (!exchange.begin({.content_type = "text/event-stream"})) return;
    for (int quiet = 0; !stop.stop_requested();) {
      const auto model = models.loaded();
      if (model != nullptr && model->read_snapshot(snapshot, seen)) {
        const WatchedModel watched =
            watched_model(model->name(), model->info(), model->plan(), model->expert_layers());
        if (!exchange.write(server_sent(dump(experts_json(watched, snapshot, model->questions()))))) return;
        quiet = 0;
      } else if (++quiet % 50 == 0 && !exchange.write(": nothing new\n\n")) {  // a sign of life
        return;
      }
      std::unique_lock lock(mutex);
      wake.wait_for(lock, stop, std::chrono::milliseconds(100), [] { return false; });
    }
  }
};

const std::vector<Service::Parts::Route>& Service::Parts::routes() {
  static const std::vector<Route> all{
      {"GET", "/", quick, &Parts::root},
      {"GET", "/health", quick, &Parts::health},
      {"GET", "/v1/health", quick, &Parts::health},
      {"GET", "/v1/models", quick, &Parts::list_models},
      {"GET", "/v1/models/", quick, &Parts::one_model},
      {"POST", "/v1/chat/completions", answers, &Parts::chat_completions},
      {"POST", "/v1/completions", answers, &Parts::completions},
      {"POST", "/v1/responses", answers, &Parts::make_response},
      {"GET", "/v1/responses/", quick, &Parts::one_response},
      {"DELETE", "/v1/responses/", quick, &Parts::delete_response},
      {"POST", "/v1/embeddings", answers, &Parts::embeddings},
      {"POST", "/v1/messages", answers, &Parts::messages},
      {"POST", "/v1/messages/count_tokens", tokens, &Parts::count_message_tokens},
      {"POST", "/api/chat", answers, &Parts::ollama_chat},
      {"POST", "/api/generate", answers, &Parts::ollama_generate},
      {"POST", "/api/embed", answers, &Parts::ollama_embed},
      {"POST", "/api/embeddings", answers, &Parts::ollama_embeddings},
      {"GET", "/api/tags", quick, &Parts::tags},
      {"GET", "/api/ps", quick, &Parts::running},
      {"POST", "/api/show", quick, &Parts::show},
      {"GET", "/api/version", quick, &Parts::version},
      {"GET", "/props", quick, &Parts::props},
      {"GET", "/slots", quick, &Parts::slots},
      {"GET", "/metrics", quick, &Parts::metrics},
      {"POST", "/tokenize", tokens, &Parts::tokenize_text},
      {"POST", "/detokenize", tokens, &Parts::detokenize_tokens},
      {"POST", "/apply-template", tokens, &Parts::apply_chat_template},
      {"GET", "/fovea/plan", quick, &Parts::plan},
      {"GET", "/fovea/experts", watch, &Parts::experts},
  };
  return all;
}

std::vector<std::string> service_endpoints() {
  std::vector<std::string> names;
  for (const auto& route : Service::Parts::routes())
    names.push_back(std::string(route.method) + " " + std::string(route.path));
  return names;
}

std::vector<std::pair<std::string, const ParameterKinds*>> service_parameters() {
  return {{"/v1/chat/completions", &openai_chat_parameters()},
          {"/v1/completions", &openai_completions_parameters()},
          {"/v1/responses", &responses_parameters()},
          {"/v1/embeddings", &openai_embeddings_parameters()},
          {"/v1/messages", &anthropic_parameters()},
          {"/v1/messages/count_tokens", &anthropic_count_parameters()},
          {"/api/chat", &ollama_chat_parameters()},
          {"/api/generate", &ollama_generate_parameters()},
          {"`options` of both", &ollama_options()},
          {"/api/embed", &ollama_embed_parameters()},
          {"/api/embeddings", &ollama_embeddings_parameters()},
          {"`options` of embeddings", &ollama_embedding_options()},
          {"/tokenize", &tokenize_parameters()},
          {"/detokenize", &detokenize_parameters()},
          {"/apply-template", &apply_template_parameters()}};
}

Service::Service(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
// The server ends before what its threads use.
Service::~Service() {
  parts_->server.reset();
}

Result<std::unique_ptr<Service>> Service::start(ServiceSettings settings, ServedModels& models) {
  auto parts = std::make_unique<Parts>(std::move(settings), models);
  Parts* const its = parts.get();
  const HttpSettings http{.host = its->settings.host,
                          .port = its->settings.port,
                          .limits = its->settings.limits,
                          .lanes = {{"server quick", 2, 256},
                                    {"server tokens", 2, 64},
                                    {"server answer", its->settings.slots, its->settings.waiting},
                                    {"server watch", 4, 0}}};
  HttpHandler handler{
      .head_check = [its](const HttpRequest& head) { return its->check_head(head); },
      .lane = [](const HttpRequest& head) -> std::size_t { return Parts::find(head)->lane; },
      .answer =
          [its](Exchange& exchange) {
            const Parts::Route* const route = Parts::find(exchange.request());
            const Parts::Counted counted(route->lane == Parts::Lane::answers ? &its->answering : nullptr);
            (its->*route->handler)(exchange);
          },
      .refusal = [](int status, std::string_view what,
                    std::string_view path) { return refusal_response(dialect_of(path), status, what); }};
  FOVEA_TRY(its->server, HttpServer::start(http, std::move(handler)));
  return std::make_unique<Service>(std::move(parts));
}

std::uint16_t Service::port() const {
  return parts_->server->port();
}

std::size_t Service::requests() const {
  return parts_->answering + parts_->server->waiting(Parts::Lane::answers);
}

std::string Service::url() const {
  const std::string& host = parts_->settings.host;
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return "http://" + (is_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port());
}

}  // namespace fovea::app
