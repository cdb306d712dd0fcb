package stoa.peers;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/// Connections to one database, lent to one thread at a time. Thread-safe, except for [#close()].
final class ConnectionPool implements AutoCloseable {
  private final List<Connection> all = new ArrayList<>();
  private final BlockingQueue<Connection> free;

  ConnectionPool(PostgresServer server, int size) throws SQLException {
    free = new ArrayBlockingQueue<>(size);
    try {
      for (int i = 0; i < size; i++) all.add(server.connect());
    } catch (SQLException failed) {
      close();
      throw failed;
    }
    free.addAll(all);
  }

  /// Work with a connection.
  @FunctionalInterface
  interface Work<R> {
    R with(Connection connection) throws SQLException;
  }

  <R> R lend(Work<R> work) throws SQLException {
    Connection connection;
    try {
      connection = free.take();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new SQLException("interrupted while waiting for a connection", e);
    }
    try {
      return work.with(connection);
    } finally {
      free.add(connection);
    }
  }

  @Override
  public void close() throws SQLException {
    for (var connection : all) connection.close();
  }
}
