#include "engine/text/pre_names.h"

#include <algorithm>
#include <array>

#include "engine/text/word_scanner.h"

// Pieces that many patterns share. They are macros because string literals join only at compile time that
// way.
#define CONTRACTION "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define SPACES "\\s+(?!\\S)|\\s+"
#define LETTERS "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+"
#define OTHERS " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|" SPACES
#define OTHERS_SLASH " ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|" SPACES
#define UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define NOT_HAN_UPPER "(?:(?!\\p{Han})" UPPER ")"
#define NOT_HAN_LOWER "(?:(?!\\p{Han})" LOWER ")"
#define CASED(TAIL) \
  "[^\\r\\n\\p{L}\\p{N}]?" UPPER "*" LOWER "+" TAIL "|[^\\r\\n\\p{L}\\p{N}]?" UPPER "+" LOWER "*" TAIL
#define ASCII_PUNCTUATION "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~]"
#define CJK "[一-龥\u3040-ゟ゠-ヿ]+"
#define DEEPSEEK_WORDS \
  ASCII_PUNCTUATION "[A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+"
#define GPT2 "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|" SPACES

namespace fovea::text {
namespace {

using std::string_view;

constexpr string_view gpt2[] = {GPT2};
constexpr string_view digits_gpt2[] = {"\\p{N}", GPT2};
constexpr string_view llama3[] = {CONTRACTION "|" LETTERS "|\\p{N}{1,3}|" OTHERS};
constexpr string_view qwen2[] = {CONTRACTION "|" LETTERS "|\\p{N}|" OTHERS};
constexpr string_view qwen35[] = {CONTRACTION
                                  "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| "
                                  "?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|" SPACES};
constexpr string_view jais2[] = {
    CONTRACTION "|" LETTERS
                "|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s{512}(?!\\S)|\\s{256}(?!\\S)|"
                "\\s{128}(?!\\S)|\\s{64}(?!\\S)|\\s{32}(?!\\S)|\\s{16}(?!\\S)|\\s{8}(?!\\S)|\\s{4}(?!\\S)|"
                "\\s{1,2}(?!\\S)|\\s{1}"};
constexpr string_view deepseek_llm[] = {
    "[\\r\\n]",
    "\\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ"
    "-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-\u1F7Dᾀ-ᾴᾶ-ᾼ\u1FBEῂ-ῄῆ-ῌῐ-\u1FD3ῖ-\u1FDBῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤ\u2126ℨ"
    "\u212A-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+",
    "\\s?[!-/:-~！-／：-～‘-‟\u3000-。]+",
    "\\s+$",
    "[一-龥ࠀ-一가-\uD7FF]+",
    "\\p{N}"};
constexpr string_view deepseek3[] = {"\\p{N}{1,3}", CJK, DEEPSEEK_WORDS "[\\r\\n]*|\\s*[\\r\\n]+|" SPACES};
constexpr string_view spark25[] = {"\\p{N}{1,3}", CJK, DEEPSEEK_WORDS "|[\\r\\n]|" SPACES, "\\p{N}"};
constexpr string_view deepseek_coder[] = {"[\\r\\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", "[一-龥ࠀ-一가-\uD7FF]+",
                                          "\\p{N}"};
constexpr string_view youtu[] = {
    "[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-\u303F︰-﹏]+|[ㄅ-ㄯ]+|[一-龥\u3040-ゟ゠-ヿ]+",
    CASED(CONTRACTION "?") "|\\p{N}|" OTHERS_SLASH};
constexpr string_view falcon[] = {"[\\p{P}\\$\\+<=>\\^~\\|`]+", GPT2, "\\p{N}+", "[0-9][0-9][0-9]"};
constexpr string_view plain_default[] = {"[\\p{P}\\$\\+<=>\\^~\\|]+", GPT2, "\\p{N}+", "[0-9][0-9][0-9]"};
constexpr string_view bloom[] = {" ?[^(\\s|.,!?…。，、।۔،)]+"};
constexpr string_view viking[] = {" ?[^(\\s|.,!?…。，、।۔،)]+", "\\p{N}"};
constexpr string_view tekken[] = {CASED("") "|\\p{N}|" OTHERS_SLASH};
constexpr string_view chameleon[] = {"<sentinel:[0-9]+>",      "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z",
                                     "([\\t\\n]|    |  )",     "\\p{N}",
                                     "[\\p{P}!-/:-@\\[-`{-~]", GPT2};
constexpr string_view gpt4o[] = {CASED(CONTRACTION "?") "|\\p{N}{1,3}|" OTHERS_SLASH};
constexpr string_view tiny_aya[] = {"\\d{1,3}(?=(?:\\d{3})*\\b)",
                                    CASED(CONTRACTION "?") "|\\p{N}{1,3}|" OTHERS_SLASH};
constexpr string_view kimi_k2[] = {"\\p{Han}+|[^\\r\\n\\p{L}\\p{N}]?" NOT_HAN_UPPER "*" NOT_HAN_LOWER
                                   "+" CONTRACTION "?|[^\\r\\n\\p{L}\\p{N}]?" NOT_HAN_UPPER "+" NOT_HAN_LOWER
                                   "*" CONTRACTION "?|\\p{N}{1,3}|" OTHERS};
constexpr string_view superbpe[] = {"\\p{N}+", "(?=(\\d{3})+(?!\\d))"};
constexpr string_view bailing[] = {
    "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}| "
    "?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]|" SPACES};
constexpr string_view seed_coder[] = {
    CONTRACTION "|" LETTERS "|\\p{N}{1}| ?[^\\s\\p{L}\\p{N}\\r\\n]+|\\s*[\\r\\n]+|" SPACES};
constexpr string_view ufakzeka[] = {LETTERS "|\\p{N}|" OTHERS};
constexpr string_view laguna[] = {"[^\\n]+|[\\n]+", CONTRACTION "|" LETTERS "|\\p{N}|" OTHERS};
constexpr string_view exaone_moe[] = {CONTRACTION
                                      "|[^\\r\\n\\p{L}\\p{N}]?(?:\\p{L}\\p{M}*(?: \\p{L}\\p{M}*)*)+|\\p{N}| "
                                      "?[^\\s\\p{L}\\p{N}]+[\\r\\n/]?|\\s*[\\r\\n]|" SPACES};
constexpr string_view newline_runs[] = {"[^\\n]+|[\\n]+"};
constexpr string_view afmoe[] = {"\\p{N}{1,3}(?=(?:\\p{N}{3})*(?!\\p{N}))",
                                 "[一-鿿㐀-䶿\uF900-\uFAFF\u3040-ゟ゠-ヿ･-ﾟ⼀-\u2FDF\u0E40-\u0E7F\u0E80-"
                                 "\u0EFFក-\u17FFက-႟ꩠ-ꩿꧠ-\uA9FF가-\uD7AFᄀ-ᇿ]+",
                                 DEEPSEEK_WORDS "[\\r\\n]*|\\s*[\\r\\n]+|" SPACES};
constexpr string_view minicpm5[] = {"\\p{N}{1,3}", CONTRACTION "|" LETTERS "|\\p{N}+|" OTHERS};

struct Named {
  string_view name;
  PreTokenizer pre;
};

constexpr PreTokenizer of(std::span<const string_view> patterns) {
  return {.patterns = patterns};
}
constexpr PreTokenizer normalized(std::span<const string_view> patterns) {
  return {.patterns = patterns, .nfc = true};
}
constexpr PreTokenizer whole(std::span<const string_view> patterns) {
  return {.patterns = patterns, .ignore_merges = true};
}
constexpr PreTokenizer whole_bos(std::span<const string_view> patterns) {
  return {.patterns = patterns, .ignore_merges = true, .adds_bos = true};
}
constexpr PreTokenizer spelled(bool bos) {
  return {.patterns = newline_runs, .adds_bos = bos, .characters = true};
}

constexpr Named names[] = {
    {"default", of(plain_default)},
    {"gpt-2", of(gpt2)},
    {"phi-2", of(gpt2)},
    {"jina-es", of(gpt2)},
    {"jina-de", of(gpt2)},
    {"jina-v2-es", of(gpt2)},
    {"jina-v2-de", of(gpt2)},
    {"jina-v1-en", of(gpt2)},
    {"jina-v2-code", of(gpt2)},
    {"roberta-bpe", of(gpt2)},
    {"modern-bert", of(gpt2)},
    {"gigachat", of(gpt2)},
    {"a.x-4.0", of(gpt2)},
    {"mellum", of(gpt2)},
    {"exaone4", of(gpt2)},
    {"mpt", normalized(gpt2)},
    {"olmo", normalized(gpt2)},
    {"jais", of(gpt2)},
    {"trillion", of(gpt2)},
    {"granite-docling", of(gpt2)},
    // As transformers reads such a file. SmolLM's own tokenizer.json cuts out every digit first, as
    // `digits_gpt2` does; the ids differ only where several blanks stand before a digit.
    {"smollm", of(gpt2)},
    {"starcoder", of(digits_gpt2)},
    {"refact", of(digits_gpt2)},
    {"command-r", normalized(digits_gpt2)},
    {"codeshell", of(digits_gpt2)},
    {"exaone", of(digits_gpt2)},
    {"minerva-7b", of(digits_gpt2)},
    {"mellum2", of(digits_gpt2)},
    {"llama3", whole_bos(llama3)},
    {"llama-v3", whole_bos(llama3)},
    {"llama-bpe", whole_bos(llama3)},
    {"falcon3", whole_bos(llama3)},
    {"falcon-h1", whole_bos(llama3)},
    {"pixtral", whole_bos(llama3)},
    {"midm-2.0", whole_bos(llama3)},
    {"lfm2", whole_bos(llama3)},
    {"jina-v5-nano", whole_bos(llama3)},
    {"dbrx", of(llama3)},
    {"smaug-bpe", of(llama3)},
    {"chatglm-bpe", of(llama3)},
    {"glm4", whole(llama3)},
    {"glm5", whole(llama3)},
    {"jais-2", of(jais2)},
    {"minicpm5", whole(minicpm5)},
    {"qwen2", normalized(qwen2)},
    {"deepseek-r1-qwen", of(qwen2)},
    {"kormo", of(qwen2)},
    {"f2llmv2", of(qwen2)},
    {"megrez", of(qwen2)},
    {"stablelm2", of(qwen2)},
    {"hunyuan", of(qwen2)},
    {"solar-open", of(qwen2)},
    {"grok-2", of(qwen2)},
    {"qwen35", normalized(qwen35)},
    {"ufakzeka", of(ufakzeka)},
    {"seed-coder", of(seed_coder)},
    {"laguna", of(laguna)},
    {"bailingmoe", of(bailing)},
    {"bailingmoe2", of(bailing)},
    {"llada-moe", of(bailing)},
    {"exaone-moe", of(exaone_moe)},
    {"deepseek-llm", of(deepseek_llm)},
    {"deepseek-coder", of(deepseek_coder)},
    {"deepseek-v3", of(deepseek3)},
    {"hunyuan-dense", of(deepseek3)},
    {"hy_v4", of(deepseek3)},
    {"joyai-llm", of(deepseek3)},
    {"spark2_5", of(spark25)},
    {"youtu", whole(youtu)},
    {"falcon", of(falcon)},
    {"bloom", of(bloom)},
    {"poro-chat", of(bloom)},
    {"gpt3-finnish", of(bloom)},
    {"viking", of(viking)},
    {"tekken", whole_bos(tekken)},
    {"chameleon", {.patterns = chameleon, .adds_bos = true}},
    {"gpt-4o", of(gpt4o)},
    {"llama4", of(gpt4o)},
    {"kanana2", of(gpt4o)},
    {"talkie", of(gpt4o)},
    {"minimax-m2", of(gpt4o)},
    {"granite-embed-multi-97m", whole(gpt4o)},
    {"tiny_aya", of(tiny_aya)},
    {"cohere2moe", of(tiny_aya)},
    {"afmoe", of(afmoe)},
    {"superbpe", of(superbpe)},
    {"kimi-k2", of(kimi_k2)},
    {"gemma4", spelled(true)},
    {"granite-embed-multi-311m", spelled(true)},
    {"mmbert", spelled(false)},
    {"sarvam-moe", spelled(false)},
};

}  // namespace

const PreTokenizer* find_pre_tokenizer(std::string_view name) {
  const auto* const found = std::ranges::find(names, name, &Named::name);
  return found == std::end(names) ? nullptr : &found->pre;
}

}  // namespace fovea::text
