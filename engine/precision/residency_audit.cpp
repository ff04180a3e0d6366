// Every invariant counted again from what lies there.
#include <set>

#include "engine/models/say.h"
#include "engine/precision/residency_state.h"

namespace fovea::precision {

using models::say;
using Stage = Place::Stage;

Result<void> Residency::State::audit() const {
  FOVEA_CHECK(arena.audit());
  FOVEA_CHECK(audit_units());
  FOVEA_CHECK(audit_blocks());
  return audit_places();
}

// Each unit has one version or none, and its handles say the same.
Result<void> Residency::State::audit_units() const {
  std::int64_t bits = 0, parameters = 0, disk = 0, brought = 0;
  for (UnitId unit = 0; unit < parts.units->size(); ++unit) {
    const auto wrong = [&](const std::string& what) {
      return fail(ErrorKind::internal, parts.units->name(unit), what);
    };
    const TierId tier = tiers[at(unit)];
    const Block& block = blocks[at(unit)];
    if (tier != no_tier && !is_tier(tier)) return wrong(say("is published at tier ", int{tier}));
    if (static_cast<bool>(block) != (tier != no_tier))
      return wrong("has a block without a tier, or a tier without one");
    const Unit& u = (*parts.units)[unit];
    std::array<kernels::Weight, 3> expected;
    if (block) {
      const std::int64_t size = arena.pools()[static_cast<std::size_t>(block.pool)].block_bytes;
      if (size != bytes_of(unit, tier))
        return wrong(say("has a block of ", size, " bytes, expected ", bytes_of(unit, tier)));
      expected = weights_at((*parts.tiers)[tier], u, *parts.device, block.memory);
      bits += version_bits[version(unit, tier)];
      parameters += u.parameters();
    }
    for (std::size_t part = 0; part < expected.size(); ++part) {
      const kernels::Weight* const handle = parts.handles[at(unit)][part];
      const bool at_its_block = !handle || (handle->data == expected[part].data &&
                                            (!handle->data || handle->type == expected[part].type));
      if (filled && !at_its_block) return wrong(say("part ", part, "'s handle is not at its block"));
    }
    disk += on_disk[at(unit)];
    brought += needed.contains(unit);
    if (on_host(unit) && (block || on_disk[at(unit)])) return wrong("is the host's, and has a version");
    if (filled && !on_disk[at(unit)] && !on_host(unit) && !block) return wrong("has no version");
    if (needed.contains(unit) && (!on_disk[at(unit)] || tier != lowest()))
      return wrong("counts as brought from disk and is not");
    if (on_disk[at(unit)] && block && !needed.contains(unit)) return wrong("was brought from disk by nobody");
  }
  if (bits != published_bits || parameters != published_parameters)
    return fail(ErrorKind::internal, "residency",
                say(published_bits, " bits of ", published_parameters, " weights, counted ", bits, " of ",
                    parameters));
  if (disk != on_disk_count || brought != needed.size())
    return fail(
        ErrorKind::internal, "residency",
        say(on_disk_count, " units on disk, ", needed.size(), " brought; counted ", disk, ", ", brought));
  return {};
}

// Each block has one owner, and the owners' blocks are all that the arena gave away.
Result<void> Residency::State::audit_blocks() const {
  std::set<const std::byte*> owned;
  std::int64_t bytes = 0;
  const auto own = [&](const Block& block) {
    if (!block) return true;
    bytes += arena.pools()[static_cast<std::size_t>(block.pool)].block_bytes;
    return owned.insert(block.memory).second;
  };
  bool once = true;
  for (const Block& block : blocks) once = own(block) && once;
  for (const auto& place : places) once = own(place->block) && once;
  if (!once) return fail(ErrorKind::internal, "residency", "a block has two owners");
  if (bytes != arena.used_bytes())
    return fail(ErrorKind::internal, "residency",
                say("owns ", bytes, " bytes, the arena counts ", arena.used_bytes(), " as used"));
  if (arena.used_bytes() > arena.bytes())
    return fail(ErrorKind::internal, "residency",
                say("uses ", arena.used_bytes(), " of ", arena.bytes(), " bytes"));
  return {};
}

// What is in flight is in exactly one place or waits.
Result<void> Residency::State::audit_places() const {
  std::vector<TierId> expected = tiers;
  std::vector<std::uint8_t> flying(in_flight.size(), 0);
  bool once = true;
  const auto fly = [&](const Decision& decision, bool cancelled) {
    once = once && !flying[at(decision.unit)];
    flying[at(decision.unit)] = 1;
    if (!cancelled) expected[at(decision.unit)] = decision.target;
  };
  for (const auto& place : places) {
    if (place->stage == Stage::moving || place->stage == Stage::arrived)
      fly(place->decision, place->transfer.cancelled.load(std::memory_order_relaxed));
    if (static_cast<bool>(place->block) ==
        (place->stage == Stage::free ||
         (place->stage == Stage::arrived && place->decision.target == no_tier)))
      return fail(ErrorKind::internal, "residency", "a place has a block that it should not have, or none");
  }
  for (const Waiting& request : waiting) fly(request.decision, false);
  if (!once || flying != in_flight)
    return fail(ErrorKind::internal, "residency", "a unit is in flight twice, or not at all");
  if (expected != arrives)
    return fail(ErrorKind::internal, "residency", "the tiers after what is in flight differ");
  if (std::ssize(waiting) > settings.queue)
    return fail(ErrorKind::internal, "residency", "the queue is too long");
  return {};
}

}  // namespace fovea::precision
