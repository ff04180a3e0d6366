// How many ranges at once pay: one file from a server of this machine that answers late and sends each
// connection so fast and no faster, as servers far away do.
//   build/release/bench_download
#include <QCoreApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <cstdio>

#include "app/download/transfer.h"
#include "tests/support/paths.h"

#include "hub_server.h"

using namespace fovea::app;
using fovea::tests::HubServer;

namespace {

// MB/s, hash and all; 0: it failed.
double speed(HubServer& server, const QByteArray& bytes, int connections) {
  const fovea::tests::TemporaryFolder folder;
  Network network{NetworkSettings{}};
  HubSettings hub;
  hub.endpoint = QUrl(QString::fromStdString(server.endpoint()));
  HubClient client(network, hub);
  TransferSettings settings;
  settings.connections = connections;
  settings.piece_bytes = 8 << 20;
  const HubFile file{"a.gguf", bytes.size(), HubServer::git_oid(bytes), HubServer::sha256(bytes)};
  Transfer transfer(client, {"org/model", server.commit(), file},
                    {folder.path() / "a", folder.path() / "a.incomplete", {}, true}, settings);
  bool failed = false;
  QEventLoop loop;
  QObject::connect(&transfer, &Transfer::ended, &loop, [&](const TransferEnd& end) {
    failed = end.error.has_value();
    loop.quit();
  });
  QElapsedTimer clock;
  clock.start();
  transfer.start();
  loop.exec();
  return failed ? 0 : static_cast<double>(bytes.size()) / 1e3 / static_cast<double>(clock.elapsed());
}

}  // namespace

int main(int argc, char** argv) {
  const QCoreApplication application(argc, argv);
  const QByteArray bytes(64 << 20, 'x');
  HubServer server({{"a.gguf", bytes}});
  std::printf("%-34s %8s %8s %8s %8s\n", "MB/s with connections:", "1", "2", "4", "6");
  struct Pace {
    int latency_ms;
    std::int64_t bytes_per_s;
  };
  for (const auto& [latency_ms, bytes_per_s] :
       {Pace{0, 0}, Pace{100, 0}, Pace{20, 20'000'000}, Pace{100, 10'000'000}}) {
    server.set_pace(latency_ms, bytes_per_s);
    char name[64];
    std::snprintf(name, sizeof name, "%d ms, %.0f MB/s each", latency_ms,
                  static_cast<double>(bytes_per_s) / 1e6);
    std::printf("%-34s",
                bytes_per_s == 0 ? (latency_ms == 0 ? "no latency, unlimited" : "100 ms, unlimited") : name);
    for (const int connections : {1, 2, 4, 6}) std::printf(" %8.1f", speed(server, bytes, connections));
    std::printf("\n");
  }
}
