// Configurations: what both formats say, what is refused, and that errors name the key.
#include "engine/models/config.h"

#include <cmath>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/gguf_writer.h"
#include "tests/support/test.h"

using namespace fovea;
using namespace fovea::tests;
using nlohmann::json;

namespace {

json qwen3_moe() {
  return {{"model_type", "qwen3_moe"},
          {"num_hidden_layers", 3},
          {"hidden_size", 64},
          {"num_attention_heads", 8},
          {"num_key_value_heads", 2},
          {"head_dim", 16},
          {"intermediate_size", 96},
          {"vocab_size", 100},
          {"max_position_embeddings", 4096},
          {"num_experts", 6},
          {"num_experts_per_tok", 2},
          {"moe_intermediate_size", 24},
          {"norm_topk_prob", true},
          {"rms_norm_eps", 1e-6},
          {"rope_theta", 1e6},
          {"tie_word_embeddings", true},
          {"decoder_sparse_step", 1},
          {"hidden_act", "silu"}};
}

Result<models::ModelConfig> read_folder(const json& config) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "config.json") << config.dump();
  auto file = checkpoint::Checkpoint::open(folder.path());
  if (!file) return std::unexpected(file.error());
  return models::read_config(*file);
}

checkpoint::Metadata llama_keys() {
  using namespace std::string_view_literals;
  checkpoint::Metadata keys;
  keys.set("general.architecture", "llama"sv);
  keys.set("llama.block_count", std::uint64_t{2});
  keys.set("llama.context_length", std::uint64_t{2048});
  keys.set("llama.embedding_length", std::uint64_t{64});
  keys.set("llama.feed_forward_length", std::uint64_t{96});
  keys.set("llama.attention.head_count", std::uint64_t{4});
  keys.set("llama.attention.head_count_kv", std::uint64_t{2});
  keys.set("llama.attention.layer_norm_rms_epsilon", 1e-5);
  keys.set("llama.vocab_size", std::uint64_t{100});
  return keys;
}

Result<models::ModelConfig> read_gguf(const checkpoint::Metadata& keys) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "model.gguf";
  {
    auto writer = checkpoint::GgufWriter::create(path, keys, {});
    if (!writer) return std::unexpected(writer.error());
    if (auto done = writer->finish(); !done) return std::unexpected(done.error());
  }
  auto file = checkpoint::Checkpoint::open(path);
  if (!file) return std::unexpected(file.error());
  return models::read_config(*file);
}

// A value of QTest's tables: the JSON text of a change.
json patched(const QString& patch) {
  json config = qwen3_moe();
  config.update(json::parse(patch.toStdString()));
  return config;
}

}  // namespace

class ConfigTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void folderIsRead() {
    const auto config = read_folder(qwen3_moe());
    FOVEA_VERIFY(config);
    QCOMPARE(config->architecture, std::string("qwen3_moe"));
    QCOMPARE(config->layer_count(), 3);
    QCOMPARE(config->experts(), 6);
    QCOMPARE(config->experts_used(), 2);
    for (const models::LayerConfig& layer : config->layers) {
      QCOMPARE(layer.attention()->head_dim, 16);
      QVERIFY(layer.attention()->qk_norm);
      QVERIFY(!layer.dense);
      QCOMPARE(layer.experts->width, 24);
      QVERIFY(layer.experts->router.normalise);
      QCOMPARE(layer.experts->shared.count, 0);
    }
    QVERIFY(config->tied_embeddings);
    QCOMPARE(config->rotary.size(), std::size_t{1});
    QCOMPARE(config->rotary.front().theta, 1e6);
    QVERIFY(config->rotary.front().style == kernels::RotaryStyle::half_split);
    QVERIFY(config->layer_has_experts(0));
  }

  void whatIsWrongIsNamed_data() {
    QTest::addColumn<QString>("patch");
    QTest::addColumn<bool>("unsupported");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, const char* patch, bool unsupported, const char* says) {
      QTest::newRow(name) << QString(patch) << unsupported << QString(says);
    };
    row("no layers", R"({"num_hidden_layers": 0})", false, "num_hidden_layers is 0, expected 1 to");
    row("negative layers", R"({"num_hidden_layers": -4})", false, "num_hidden_layers is -4");
    row("layers as text", R"({"num_hidden_layers": "3"})", false,
        "num_hidden_layers is \"3\", expected a whole");
    row("layers as a fraction", R"({"num_hidden_layers": 2.5})", false, "num_hidden_layers is 2.5");
    row("layers missing", R"({"num_hidden_layers": null})", false, "num_hidden_layers is missing");
    row("too many layers", R"({"num_hidden_layers": 9223372036854775807})", false,
        "num_hidden_layers is 9223372036854775807");
    row("beyond 64 bits", R"({"hidden_size": 18446744073709551615})", false,
        "hidden_size is 18446744073709551615");
    row("no heads", R"({"num_attention_heads": 0})", false, "num_attention_heads is 0");
    row("heads do not divide", R"({"num_attention_heads": 7})", false,
        "num_attention_heads is 7, not a multiple of the 2 of num_key_value_heads");
    row("no key heads", R"({"num_key_value_heads": 0})", false, "num_key_value_heads is 0");
    row("odd heads", R"({"head_dim": 15})", false, "head_dim gives heads of 15, expected an even number");
    row("hidden does not divide", R"({"head_dim": null, "hidden_size": 66})", false,
        "hidden_size is 66, not a multiple of the 8");
    row("huge vocabulary", R"({"vocab_size": 1000000000000})", false, "vocab_size is 1000000000000");
    row("no context", R"({"max_position_embeddings": 0})", false, "max_position_embeddings is 0");
    row("no experts", R"({"num_experts": 0})", false, "num_experts is 0");
    row("other name of experts", R"({"num_experts": null, "num_local_experts": -1})", false,
        "num_local_experts is -1");
    row("more chosen than there are", R"({"num_experts_per_tok": 7})", false,
        "num_experts_per_tok is 7, more than the 6 experts");
    row("none chosen", R"({"num_experts_per_tok": 0})", false, "num_experts_per_tok is 0");
    row("no width", R"({"moe_intermediate_size": 0})", false, "moe_intermediate_size is 0");
    row("eps is not a number", R"({"rms_norm_eps": "small"})", false,
        "rms_norm_eps is \"small\", expected a number");
    row("negative eps", R"({"rms_norm_eps": -1})", false, "rms_norm_eps is -1");
    row("sparse step 0", R"({"decoder_sparse_step": 0})", false, "decoder_sparse_step is 0");
    row("dense layer out of range", R"({"mlp_only_layers": [3]})", false,
        "mlp_only_layers holds 3, expected layers 0 to 2");
    row("dense layers as text", R"({"mlp_only_layers": "all"})", false, "mlp_only_layers is not a list");
    row("theta 0", R"({"rope_theta": 0})", false, "rope_theta is 0");
    row("no type", R"({"model_type": null})", false, "model_type is missing");
    row("unknown type", R"({"model_type": "falcon"})", true,
        "model_type is \"falcon\", an architecture that is not supported");
    row("activation", R"({"hidden_act": "gelu"})", true, "hidden_act is \"gelu\", expected \"silu\"");
    row("quantised otherwise", R"({"quantization_config": {"quant_method": "fp8"}})", true,
        "quant_method is \"fp8\", Fovea reads gptq, awq and auto-round");
    row("rope type", R"({"rope_scaling": {"rope_type": "longrope", "factor": 2.0}})", true,
        "rope_scaling.rope_type is \"longrope\"");
    row("old rope type", R"({"rope_scaling": {"type": "su", "factor": 2.0}})", true,
        "rope_scaling.type is \"su\"");
    row("rope without factor", R"({"rope_scaling": {"rope_type": "linear"}})", false,
        "rope_scaling.factor is missing");
    row("rope factor 0", R"({"rope_parameters": {"rope_type": "linear", "factor": 0}})", false,
        "rope_parameters.factor is 0");
    row("rope by layer type", R"({"rope_parameters": {"full_attention": {"rope_type": "default"}}})", true,
        "full_attention");
    row("partial rotation", R"({"partial_rotary_factor": 0.5})", true, "partial_rotary_factor is 0.5");
    row("multimodal rotation", R"({"rope_scaling": {"type": "default", "mrope_section": [8, 4, 4]}})", true,
        "mrope_section");
    row("llama-3 bounds",
        R"({"rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 4.0, "high_freq_factor": 1.0}})",
        false, "high_freq_factor is 1, expected more");
    row("groups of experts", R"({"n_group": 4})", true, "n_group is 4");
    row("layer types",
        R"({"use_sliding_window": true, "sliding_window": 8, "layer_types": ["full_attention", "chunked_attention", "full_attention"]})",
        true, "layer_types holds \"chunked_attention\"");
    row("rope of one kind of two",
        R"({"model_type": "mellum", "rope_parameters": {"full_attention": {"rope_type": "default"}}})", false,
        "rope_parameters.sliding_attention is missing");
    row("feed-forward types", R"({"model_type": "mellum", "mlp_layer_types": ["dense", "moe", "dense"]})",
        true, "mlp_layer_types holds \"moe\" at layer 1");
    row("too few feed-forward types", R"({"model_type": "mellum", "mlp_layer_types": []})", false,
        "mlp_layer_types has 0 entries, expected 3");
    row("too few layer types", R"({"use_sliding_window": true, "sliding_window": 8, "layer_types": []})",
        false, "layer_types has 0 entries, expected 3");
    row("negative window", R"({"use_sliding_window": true, "sliding_window": -8})", false,
        "sliding_window is -8");
    row("bias in the feed-forward", R"({"model_type": "llama", "mlp_bias": true})", true, "mlp_bias is true");
    row("windows that are not listed",
        R"({"model_type": "qwen2_moe", "shared_expert_intermediate_size": 9, "use_sliding_window": true, "sliding_window": 8})",
        true, "use_sliding_window is true");
    row("mistral without a window", R"({"model_type": "mistral"})", false, "sliding_window is missing");
    row("a window of unknown size", R"({"use_sliding_window": true})", false, "sliding_window is missing");
    const auto hybrid = [&](const char* name, const char* patch, bool unsupported, const char* says) {
      json config = json::parse(
          R"({"model_type": "qwen3_next", "full_attention_interval": 3, "shared_expert_intermediate_size": 9, "rope_parameters": {"partial_rotary_factor": 0.25}})");
      config.update(json::parse(patch));
      row(name, config.dump().c_str(), unsupported, says);
    };
    hybrid("heads of gated delta", R"({"linear_num_value_heads": 30})", false,
           "linear_num_value_heads is 30, not a multiple of the 16 of linear_num_key_heads");
    hybrid("a state of 2^63", R"({"linear_key_head_dim": 9223372036854775808})", false,
           "linear_key_head_dim is 9223372036854775808");
    hybrid("a state of 2^62", R"({"linear_value_head_dim": 4611686018427387904})", false,
           "linear_value_head_dim is 4611686018427387904");
    hybrid("convolution of nothing", R"({"linear_conv_kernel_dim": 0})", false,
           "linear_conv_kernel_dim is 0");
    hybrid("interval of 0", R"({"full_attention_interval": 0})", false, "full_attention_interval is 0");
    hybrid("kinds of hybrid layers", R"({"layer_types": ["linear_attention", "mamba", "full_attention"]})",
           true, "layer_types holds \"mamba\" at layer 1");
    hybrid("too few kinds of hybrid layers", R"({"layer_types": ["linear_attention"]})", false,
           "layer_types has 1 entry, expected 3");
    hybrid("a billion experts", R"({"num_experts": 1000000000})", false, "num_experts is 1000000000");
    hybrid("an odd rotation", R"({"rope_parameters": {"partial_rotary_factor": 0.2}})", false,
           "partial_rotary_factor rotates 3 elements of a head");
    hybrid("part of another model",
           R"({"model_type": "qwen3_vl_moe", "text_config": {"model_type": "qwen3_moe"}})", true,
           "model_type is \"qwen3_vl_moe\"");
    hybrid("of the text's part", R"({"text_config": {"num_hidden_layers": 0}})", false,
           "text_config.num_hidden_layers is 0");
    const auto gemma = [&](const char* name, const char* patch, bool unsupported, const char* says) {
      json config = json::parse(
          R"({"model_type": "gemma4", "hidden_act": null, "num_hidden_layers": 6, "hidden_size_per_layer_input": 8, "rope_parameters": null})");
      config.update(json::parse(patch));
      row(name, config.dump().c_str(), unsupported, says);
    };
    gemma("another activation", R"({"hidden_activation": "relu"})", true, "hidden_activation is \"relu\"");
    gemma("a window of -1", R"({"sliding_window": -1})", false, "sliding_window is -1");
    gemma("a pattern of 0", R"({"sliding_window_pattern": 0})", false, "sliding_window_pattern is 0");
    gemma("heads of 2^40", R"({"global_head_dim": 1099511627776})", false,
          "global_head_dim is 1099511627776");
    gemma("odd heads", R"({"global_head_dim": 31})", false, "global_head_dim gives heads of 31");
    gemma("key heads of some layers", R"({"per_layer_config": {"5": {"num_key_value_heads": 3}}})", false,
          "not a multiple of the 3");
    gemma("all layers share", R"({"num_kv_shared_layers": 6})", false, "num_kv_shared_layers is 6");
    gemma("nothing to share", R"({"num_kv_shared_layers": 5})", false,
          "num_kv_shared_layers is 5: no layer before them");
    gemma("inputs of 2^62", R"({"hidden_size_per_layer_input": 4611686018427387904})", false,
          "hidden_size_per_layer_input is 4611686018427387904");
    gemma("a billion experts beside", R"({"enable_moe_block": true, "num_experts": 1000000000})", false,
          "num_experts is 1000000000");
    gemma("tokens that see the next ones", R"({"use_bidirectional_attention": "all"})", true,
          "use_bidirectional_attention is \"all\"");
    gemma("rotation of the other kind missing",
          R"({"rope_parameters": {"full_attention": {"rope_type": "default"}}})", false, "sliding_attention");
    row("softcap", R"({"final_logit_softcapping": 30.0})", true, "final_logit_softcapping is 30");
  }
  void whatIsWrongIsNamed() {
    QFETCH(QString, patch);
    QFETCH(bool, unsupported);
    QFETCH(QString, says);
    const auto config = read_folder(patched(patch));
    QVERIFY(!config.has_value());
    QCOMPARE(config.error().kind, unsupported ? ErrorKind::unsupported : ErrorKind::format);
    const QString message = QString::fromStdString(config.error().message());
    QVERIFY2(message.contains(says), qPrintable(message));
    QVERIFY2(message.contains("config.json"), qPrintable(message));
  }

  // A model of text and pictures: the text's part counts, and what that leaves out may stand around it.
  void theTextsPartIsRead() {
    json text = patched(R"({"model_type": "qwen3_5_moe_text", "shared_expert_intermediate_size": 9,
        "rope_parameters": {"rope_theta": 5e6, "partial_rotary_factor": 0.25, "mrope_section": [1, 1, 0]},
        "full_attention_interval": 3, "linear_num_key_heads": 2, "linear_num_value_heads": 4,
        "linear_key_head_dim": 8, "linear_value_head_dim": 12})");
    text.erase("tie_word_embeddings");
    text.erase("intermediate_size");
    for (const bool tied : {false, true}) {
      const auto config = read_folder({{"model_type", "qwen3_5_moe"},
                                       {"tie_word_embeddings", tied},
                                       {"vision_config", {{"hidden_size", 7}}},
                                       {"text_config", text}});
      FOVEA_VERIFY(config);
      QCOMPARE(config->hidden, 64);
      QCOMPARE(config->tied_embeddings, tied);
      QVERIFY(config->norm_adds_one);
      QCOMPARE(config->rotary.front().rotary, 4);
      QCOMPARE(config->rotary.front().theta, 5e6);
      QVERIFY(config->layer(2).attention()->gate && config->layer(2).attention()->qk_norm);
      for (const std::int64_t layer : {0, 1}) {
        const auto& delta = std::get<models::GatedDeltaConfig>(config->layer(layer).mixer);
        QCOMPARE(delta.channels(), 2 * 2 * 8 + 4 * 12);
        QCOMPARE(delta.sharing(), 2);
        QCOMPARE(models::state_elements(delta, 64), 4 * 8 * 12 + 3 * delta.channels());
      }
      QCOMPARE(config->layer(0).experts->shared.width, 9);
    }
  }

  void windowsAreRead_data() {
    QTest::addColumn<QString>("patch");
    QTest::addColumn<QString>("windows");
    QTest::newRow("none") << R"({"sliding_window": 8, "use_sliding_window": false})" << "0 0 0";
    QTest::newRow("null") << R"({"model_type": "mistral", "sliding_window": null})" << "0 0 0";
    QTest::newRow("mistral") << R"({"model_type": "mistral", "sliding_window": 8})" << "8 8 8";
    QTest::newRow("llama has none") << R"({"model_type": "llama", "sliding_window": 8})" << "0 0 0";
    QTest::newRow("longer than the context")
        << R"({"model_type": "mistral", "sliding_window": 4096})" << "0 0 0";
    QTest::newRow("from a layer on")
        << R"({"model_type": "qwen2", "use_sliding_window": true, "sliding_window": 8, "max_window_layers": 1})"
        << "0 8 8";
    QTest::newRow("listed")
        << R"({"model_type": "qwen3", "use_sliding_window": true, "sliding_window": 8, "layer_types": ["sliding_attention", "full_attention", "sliding_attention"]})"
        << "8 0 8";
  }
  void windowsAreRead() {
    QFETCH(QString, patch);
    QFETCH(QString, windows);
    const auto config = read_folder(patched(patch));
    FOVEA_VERIFY(config);
    QStringList found;
    for (const models::LayerConfig& layer : config->layers)
      found << QString::number(layer.attention()->window);
    QCOMPARE(found.join(" "), windows);
  }

  // A table for each of two kinds of layer, whichever the file names first; a dense layer among those with
  // experts.
  void eachLayerHasItsOwn() {
    const json kinds = json::parse(R"({
        "model_type": "mellum", "sliding_window": 8,
        "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
        "mlp_layer_types": ["sparse", "dense", "sparse"],
        "rope_parameters": {"sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
                            "full_attention": {"rope_type": "linear", "rope_theta": 1000000.0, "factor": 8.0}}})");
    json file = qwen3_moe();
    file.update(kinds);
    const auto config = read_folder(file);
    FOVEA_VERIFY(config);
    QCOMPARE(config->rotary.size(), std::size_t{2});
    for (const std::int64_t layer : {0, 1, 2}) {
      const models::LayerConfig& each = config->layer(layer);
      const models::RopeConfig& rope = config->rotary[static_cast<std::size_t>(each.attention()->rotary)];
      const bool full = layer == 1;
      QCOMPARE(each.attention()->window, full ? 0 : 8);
      QCOMPARE(rope.theta, full ? 1e6 : 1e4);
      QCOMPARE(rope.factor, full ? 8.0 : 1.0);
      QVERIFY((rope.scaling == models::RopeScaling::linear) == full);
      QCOMPARE(each.dense.has_value(), full);
      QCOMPARE(each.experts.has_value(), !full);
      QCOMPARE(full ? each.dense->width : each.experts->width, full ? 96 : 24);
    }
    FOVEA_VERIFY(models::check(*config, "here"));
    // A window that is longer than the context is none, and the layer keeps its table.
    file["sliding_window"] = 4096;
    const auto wide = read_folder(file);
    FOVEA_VERIFY(wide);
    QCOMPARE(wide->layer(0).attention()->window, 0);
    QCOMPARE(wide->rotary[static_cast<std::size_t>(wide->layer(0).attention()->rotary)].theta, 1e4);
  }

  // Gemma's published files leave out what transformers takes anyway.
  void gemmaWithoutTheUsualValues() {
    const auto config = read_folder({{"model_type", "gemma3"},
                                     {"text_config",
                                      {{"model_type", "gemma3_text"},
                                       {"hidden_size", 640},
                                       {"intermediate_size", 96},
                                       {"num_hidden_layers", 7},
                                       {"rope_scaling", {{"factor", 8.0}, {"rope_type", "linear"}}},
                                       {"sliding_window", 512}}}});
    FOVEA_VERIFY(config);
    QCOMPARE(config->context, 131072);
    QCOMPARE(config->vocabulary, 262208);
    QVERIFY(config->tied_embeddings && config->norm_adds_one);
    QCOMPARE(config->rotary.size(), std::size_t{2});
    QCOMPARE(config->rotary[0].theta, 1e6);
    QVERIFY(config->rotary[0].scaling == models::RopeScaling::linear && config->rotary[0].factor == 8);
    QCOMPARE(config->rotary[1].theta, 1e4);
    QVERIFY(config->rotary[1].scaling == models::RopeScaling::none);
    for (std::int64_t layer = 0; layer < 7; ++layer) {
      const models::AttentionConfig& attention = *config->layer(layer).attention();
      QCOMPARE(attention.window, layer == 5 ? 0 : 512);
      QCOMPARE(attention.rotary, layer == 5 ? 0 : 1);
      QVERIFY(attention.heads == 8 && attention.kv_heads == 4 && attention.head_dim == 256);
      QCOMPARE(attention.scale, 1.0 / 16);
    }
  }

  // Which layers of Gemma 4 read which one's keys and values, and how large their heads are.
  void gemmaSharesKeysAndValues() {
    const auto config = read_folder(patched(R"({"model_type": "gemma4_text", "hidden_act": null,
        "num_hidden_layers": 12, "num_kv_shared_layers": 4, "use_double_wide_mlp": true, "global_head_dim": 32,
        "hidden_size_per_layer_input": 8, "sliding_window": 64, "attention_k_eq_v": true,
        "num_global_key_value_heads": 1})"));
    FOVEA_VERIFY(config);
    for (std::int64_t layer = 0; layer < 12; ++layer) {
      const models::AttentionConfig& attention = *config->layer(layer).attention();
      const bool wide = layer % 6 == 5;
      QCOMPARE(attention.kv_from, layer < 8 ? -1 : wide ? 5 : 7);
      QCOMPARE(attention.head_dim, wide ? 32 : 16);
      QCOMPARE(attention.kv_heads, wide ? 1 : 2);
      QCOMPARE(attention.values_are_keys, wide && layer < 8);
      QCOMPARE(config->layer(layer).dense->width, layer < 8 ? 96 : 192);
    }
    QCOMPARE(config->per_layer_input(), 8);
    QCOMPARE(config->rotary[0].rotary, 32);
    QCOMPARE(config->rotary[1].rotary, 16);
  }

  // What the types can say and the forward pass cannot compute is refused by name, before any weight is read.
  void whatCannotBeRunIsNamed() {
    using namespace models;
    const auto runs = read_folder(qwen3_moe());
    FOVEA_VERIFY(runs);
    FOVEA_VERIFY(check(*runs, "here"));
    const auto expect = [&](const char* says, const std::function<void(ModelConfig&)>& change) {
      ModelConfig config = *runs;
      change(config);
      const auto checked = check(config, "here");
      if (checked.has_value() || checked.error().kind != ErrorKind::unsupported ||
          !checked.error().message().contains(says))
        qFatal("%s: %s", says, checked ? "is run" : checked.error().message().c_str());
    };
    const auto layer = [&](const char* says, const std::function<void(LayerConfig&)>& change) {
      expect((std::string("layer 1 has ") + says).c_str(),
             [&](ModelConfig& config) { change(config.layers[1]); });
    };
    expect("the model has a scale of the logits", [](ModelConfig& c) { c.logits_scale = 2; });
    layer("latent attention", [](LayerConfig& l) { l.mixer = LatentAttentionConfig{}; });
    layer("gated delta with heads of more",
          [](LayerConfig& l) { l.mixer = GatedDeltaConfig{.key_dim = 257}; });
    layer("gated delta with heads of more",
          [](LayerConfig& l) { l.mixer = GatedDeltaConfig{.value_dim = 300}; });
    layer("a convolution over more", [](LayerConfig& l) { l.mixer = GatedDeltaConfig{.convolution = 9}; });
    layer("a Mamba-2 state", [](LayerConfig& l) { l.mixer = Mamba2Config{}; });
    layer("a short convolution", [](LayerConfig& l) { l.mixer = ShortConvolutionConfig{}; });
    layer("a cap on attention's logits", [](LayerConfig& l) { l.attention()->softcap = 50; });
    // Of a layer that stands behind it, or whose heads are of another size.
    layer("keys and values of another layer", [](LayerConfig& l) { l.attention()->kv_from = 1; });
    layer("keys and values of another layer", [](LayerConfig& l) {
      l.attention()->kv_from = 0;
      l.attention()->head_dim *= 2;
    });
    layer("attention without positions", [](LayerConfig& l) { l.attention()->rotary = -1; });
    layer("a rotary table that", [](LayerConfig& l) { l.attention()->rotary = 1; });
    layer("a rotation of more than a head", [](LayerConfig& l) { l.attention()->head_dim = 8; });
    layer("a block without a norm", [](LayerConfig& l) { l.mixer_norms.before = false; });
    layer("a block without a norm", [](LayerConfig& l) { l.feed_forward_norms.before = false; });
    layer("a scale of a block's output", [](LayerConfig& l) { l.mixer_scale = 0.5; });
    layer("a scale of a block's output", [](LayerConfig& l) { l.feed_forward_scale = 0.5; });
    layer("an input for each layer", [](LayerConfig& l) { l.per_layer_input = 16; });
    layer("no feed-forward part", [](LayerConfig& l) { l.experts.reset(); });
    layer("a norm of one of two", [](LayerConfig& l) { l.experts->norms.after = true; });
    layer("a sigmoid router", [](LayerConfig& l) { l.experts->router.scores = RouterScores::sigmoid; });
    layer("biases of experts beside shared ones", [](LayerConfig& l) {
      l.experts->bias = true;
      l.experts->shared = {.count = 1, .width = 8};
    });
    layer("a router with selection biases", [](LayerConfig& l) { l.experts->router.choice_bias = true; });
    layer("routing by groups", [](LayerConfig& l) { l.experts->router.groups = 2; });
    layer("a different number of experts", [](LayerConfig& l) { l.experts->experts = 7; });
    layer("a different number of experts", [](LayerConfig& l) { l.experts->used = 1; });
    const auto dense = [&](const char* says, const std::function<void(DenseConfig&)>& change) {
      layer(says, [&](LayerConfig& l) { change(l.dense.emplace(DenseConfig{.width = 8})); });
    };
    dense("biases in the feed-forward part", [](DenseConfig& d) { d.bias = true; });
    dense("a norm of one of two", [](DenseConfig& d) { d.norms.before = true; });
    layer("a dense part beside shared experts", [](LayerConfig& l) {
      l.dense = DenseConfig{.width = 8};
      l.experts->shared = {.count = 1, .width = 8};
    });
  }

  void ggufIsRead() {
    const auto config = read_gguf(llama_keys());
    FOVEA_VERIFY(config);
    QCOMPARE(config->architecture, std::string("llama"));
    QCOMPARE(config->layers.front().attention()->head_dim, 16);
    QCOMPARE(config->vocabulary, 100);
    QVERIFY(config->rotary.front().style == kernels::RotaryStyle::interleaved);
    QCOMPARE(config->rotary.front().theta, 10000.0);
  }
  void ggufLlamaWithExpertsIsMixtral() {
    checkpoint::Metadata keys = llama_keys();
    keys.set("llama.expert_count", std::uint64_t{8});
    keys.set("llama.expert_used_count", std::uint64_t{2});
    const auto config = read_gguf(keys);
    FOVEA_VERIFY(config);
    QCOMPARE(config->architecture, std::string("mixtral"));
    QCOMPARE(config->layers.back().experts->width, 96);
    QVERIFY(config->layers.back().experts->router.normalise);
  }

  void whatIsWrongInGgufIsNamed_data() {
    using namespace std::string_view_literals;
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("says");
    QTest::addColumn<bool>("unsupported");
    const auto row = [this](const char* key, checkpoint::MetadataValue value, const char* says,
                            bool unsupported) {
      const QString name = QString("%1: %2").arg(key, says);
      hostile_[name] = std::move(value);
      QTest::newRow(qPrintable(name)) << QString(key) << QString(says) << unsupported;
    };
    row("general.architecture", "mamba"sv, "general.architecture is \"mamba\"", true);
    row("llama.block_count", std::uint64_t{0}, "llama.block_count is 0", false);
    row("llama.block_count", std::uint64_t{1} << 62, "llama.block_count is 4611686018427387904", false);
    row("llama.block_count", 2.5, "llama.block_count is 2.5, expected a whole number", false);
    row("llama.attention.head_count", std::vector<std::uint64_t>{4, 2},
        "llama.attention.head_count is a list of 2 values", false);
    row("llama.attention.head_count", std::uint64_t{3},
        "llama.attention.head_count is 3, not a multiple of the 2", false);
    row("llama.attention.head_count", std::int64_t{-4}, "llama.attention.head_count is -4", false);
    row("llama.attention.value_length", std::uint64_t{8}, "llama.attention.value_length is 8, expected 16",
        true);
    row("llama.rope.dimension_count", std::uint64_t{8}, "llama.rope.dimension_count is 8", true);
    row("llama.rope.scaling.type", "longrope"sv, "llama.rope.scaling.type is \"longrope\"", true);
    row("llama.rope.freq_base", std::nan(""), "llama.rope.freq_base is nan", false);
    row("llama.expert_count", std::uint64_t{100000}, "llama.expert_count is 100000", false);
    row("llama.attention.causal", false, "llama.attention.causal is false", true);
    row("llama.logit_scale", 0.5, "llama.logit_scale is 0.5", true);
    row("llama.attention.layer_norm_rms_epsilon", "x"sv, "is \"x\", expected a number", false);
  }
  void whatIsWrongInGgufIsNamed() {
    QFETCH(QString, key);
    QFETCH(QString, says);
    QFETCH(bool, unsupported);
    checkpoint::Metadata keys = llama_keys();
    keys.set(key.toStdString(), hostile_.at(QTest::currentDataTag()));
    const auto config = read_gguf(keys);
    QVERIFY(!config.has_value());
    const QString message = QString::fromStdString(config.error().message());
    QVERIFY2(message.contains(says), qPrintable(message));
    QCOMPARE(config.error().kind, unsupported ? ErrorKind::unsupported : ErrorKind::format);
  }

 private:
  std::map<QString, checkpoint::MetadataValue> hostile_;
};
FOVEA_TEST(ConfigTest)

#include "config_test.moc"
