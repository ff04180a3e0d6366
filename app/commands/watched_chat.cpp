#include "app/commands/watched_chat.h"

#include "engine/core/log.h"

namespace fovea::app {

WatchedChat::WatchedChat(Engine& engine) : engine_(engine) {
  const std::vector<ExpertLayer> layers = engine.expert_layers();
  if (layers.empty()) return;
  auto door = ExpertsDoor::open(doors_folder(),
                                watched_model(engine.info().name, engine.info(), engine.plan(), layers),
                                [this, read = reader()](Snapshot& snapshot, std::int64_t& questions) {
                                  questions = questions_;
                                  return read(snapshot);
                                });
  if (door) {
    door_ = *std::move(door);
  } else {
    log::warning("app", door.error().message());
  }
}

std::function<bool(Snapshot&)> WatchedChat::reader() {
  return [this, seen = std::uint64_t{0}](Snapshot& snapshot) mutable {
    return snapshots_.read(&engine_, snapshot, seen);
  };
}

}  // namespace fovea::app
