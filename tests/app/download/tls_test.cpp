// A certificate that nobody vouches for, or that is another host's, is refused before anything is asked.
#include <QProcess>
#include <QSslCertificate>
#include <QSslKey>
#include <QSslServer>
#include <QSslSocket>
#include <QStandardPaths>
#include <fstream>

#include "app/download/hub_client.h"
#include "tests/support/test.h"

using namespace fovea::app;
using fovea::tests::TemporaryFolder;

namespace {

// A key and a certificate that is its own authority.
bool make_certificate(const QString& folder, const QString& name) {
  QProcess openssl;
  openssl.start(
      QStringLiteral("openssl"),
      {QStringLiteral("req"), QStringLiteral("-x509"), QStringLiteral("-newkey"), QStringLiteral("rsa:2048"),
       QStringLiteral("-nodes"), QStringLiteral("-days"), QStringLiteral("2"), QStringLiteral("-subj"),
       QStringLiteral("/CN=test"), QStringLiteral("-addext"), QStringLiteral("subjectAltName=") + name,
       QStringLiteral("-keyout"), folder + QStringLiteral("/key.pem"), QStringLiteral("-out"),
       folder + QStringLiteral("/cert.pem")});
  return openssl.waitForFinished(60000) && openssl.exitCode() == 0;
}

QByteArray content(const QString& path) {
  std::ifstream stream(path.toStdString());
  return QByteArray::fromStdString({std::istreambuf_iterator<char>(stream), {}});
}

// Answers every question with an empty search.
class TlsServer : public QSslServer {
 public:
  explicit TlsServer(const QString& folder) {
    QSslConfiguration tls = QSslConfiguration::defaultConfiguration();
    tls.setLocalCertificate(QSslCertificate(content(folder + QStringLiteral("/cert.pem"))));
    tls.setPrivateKey(QSslKey(content(folder + QStringLiteral("/key.pem")), QSsl::Rsa));
    setSslConfiguration(tls);
    connect(this, &QTcpServer::pendingConnectionAvailable, this, [this] {
      QTcpSocket* socket = nextPendingConnection();
      connect(socket, &QTcpSocket::readyRead, socket, [this, socket] {
        ++questions;
        socket->readAll();
        socket->write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]");
      });
    });
    listen(QHostAddress::LocalHost);
  }
  int questions = 0;
};

}  // namespace

class TlsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void certificates_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<bool>("trusted");
    QTest::addColumn<bool>("good");
    QTest::newRow("nobody vouches for it") << QStringLiteral("IP:127.0.0.1") << false << false;
    QTest::newRow("another host's") << QStringLiteral("DNS:other.example") << true << false;
    QTest::newRow("trusted by SSL_CERT_FILE") << QStringLiteral("IP:127.0.0.1") << true << true;
  }
  void certificates() {
    QFETCH(QString, name);
    QFETCH(bool, trusted);
    QFETCH(bool, good);
    if (QStandardPaths::findExecutable(QStringLiteral("openssl")).isEmpty())
      QSKIP("openssl is not installed");
    const TemporaryFolder folder;
    const QString path = QString::fromStdString(folder.path().string());
    QVERIFY(make_certificate(path, name));
    TlsServer server(path);
    Network network(
        {.offline = false, .certificates = trusted ? path + QStringLiteral("/cert.pem") : QString()});
    HubSettings hub;
    hub.endpoint = QUrl(QStringLiteral("https://127.0.0.1:%1").arg(server.serverPort()));
    hub.token = QStringLiteral("hf_secret");
    HubClient client(network, hub);
    std::optional<HubResult<std::vector<HubModel>>> answer;
    client.search(QStringLiteral("x"), 3, this, [&](auto told) { answer = std::move(told); });
    QVERIFY(QTest::qWaitFor([&] { return answer.has_value(); }, fovea::tests::kLong));
    QCOMPARE(answer->has_value(), good);
    QCOMPARE(server.questions, good ? 1 : 0);
    if (!good) {
      const std::string message = answer->error().error.message();
      QVERIFY2(message.contains("certificate cannot be trusted"), message.c_str());
      QVERIFY(!answer->error().may_pass);
    }
  }
};
FOVEA_TEST(TlsTest)

#include "tls_test.moc"
