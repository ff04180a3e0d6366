// Never compiled: check_network.cmake must refuse it.
#include <QTcpSocket>
