package stoa.peers;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.Delivery;
import com.rabbitmq.client.MessageProperties;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;
import stoa.bench.stacksync.RequestQueue;

/// RabbitMQ, as in the AOF and CRESON papers: a queue in the memory of the broker. A taker
/// acknowledges a request when the request is committed, so another one gets what an instance that
/// ends has not committed.
public final class RabbitQueue implements RequestQueue {
  private static final String QUEUE = "commits";

  // How many requests a taker has from the broker before it acknowledges the first.
  private static final int AHEAD = 4;

  /// Creates it for [java.util.ServiceLoader].
  public RabbitQueue() {}

  @Override
  public String name() {
    return "RabbitMQ";
  }

  @Override
  public String delivery() {
    return "given to another one; lost if the broker ends, which keeps requests in memory";
  }

  @Override
  public Running start(Path folder) throws Exception {
    return new Broker(RabbitServer.start(folder));
  }

  @Override
  public Taker taker(String address) throws Exception {
    return new Consumer(connect(Integer.parseInt(address)));
  }

  private static Connection connect(int port) throws Exception {
    var factory = new ConnectionFactory();
    factory.setHost("127.0.0.1");
    factory.setPort(port);
    return factory.newConnection();
  }

  private static final class Broker implements Running {
    private final RabbitServer server;

    private Broker(RabbitServer server) {
      this.server = server;
    }

    @Override
    public String address() {
      return Integer.toString(server.port());
    }

    @Override
    public void put(List<byte[]> requests, int instances, int takersEach) throws Exception {
      try (var connection = connect(server.port());
          var channel = connection.createChannel()) {
        AMQP.Queue.DeclareOk _ = channel.queueDeclare(QUEUE, false, false, false, null);
        AMQP.Confirm.SelectOk _ = channel.confirmSelect();
        for (byte[] request : requests) {
          channel.basicPublish("", QUEUE, MessageProperties.MINIMAL_BASIC, request);
        }
        for (int i = 0; i < instances * takersEach; i++) {
          channel.basicPublish("", QUEUE, MessageProperties.MINIMAL_BASIC, new byte[0]);
        }
        channel.waitForConfirmsOrDie();
      }
    }

    @Override
    public Duration processorTime() {
      return server.processorTime();
    }

    @Override
    public void close() throws IOException {
      server.close();
    }
  }

  /// One consumer, with a connection of its own. The connection's thread puts requests into
  /// `arrived`.
  private static final class Consumer implements Taker {
    private final Connection connection;
    private final Channel channel;
    private final String tag;
    private final BlockingQueue<Delivery> arrived = new LinkedBlockingQueue<>();
    private @Nullable Delivery last;

    private Consumer(Connection connection) throws IOException {
      this.connection = connection;
      channel = connection.createChannel();
      channel.basicQos(AHEAD);
      tag = channel.basicConsume(QUEUE, false, (_, delivery) -> arrived.add(delivery), _ -> {});
    }

    /* A taker acknowledges its end only after it takes no more: so it takes no other one's end. */
    @Override
    public Optional<byte[]> next() throws Exception {
      acknowledge();
      var delivery = arrived.take();
      last = delivery;
      byte[] request = delivery.getBody();
      if (request.length > 0) return Optional.of(request);
      channel.basicCancel(tag);
      acknowledge();
      return Optional.empty();
    }

    private void acknowledge() throws IOException {
      var done = last;
      if (done == null) return;
      channel.basicAck(done.getEnvelope().getDeliveryTag(), false);
      last = null;
    }

    /// Ends the connection. The broker gives what came and is not acknowledged to other takers.
    @Override
    public void close() throws IOException {
      connection.close();
    }
  }
}
