package stoa.sinks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Time;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Changes;
import stoa.Keep;
import stoa.Stoa;
import stoa.StoaConfig;

/// A topic of a real broker, which runs in this process.
class KafkaTopicTest {
  private static final Duration IDLE = Duration.ofMillis(1);
  private static final String TOPIC = "accounts";

  /// A broker that is its own controller.
  private record Broker(KafkaRaftServer server, String address) implements AutoCloseable {
    static Broker start(Path folder) throws IOException {
      int port;
      int controller;
      try (var one = new java.net.ServerSocket(0);
          var two = new java.net.ServerSocket(0)) {
        port = one.getLocalPort();
        controller = two.getLocalPort();
      }
      Files.writeString(
          folder.resolve("meta.properties"),
          "version=1\nnode.id=1\ncluster.id=" + Uuid.randomUuid() + "\n");
      var properties = new Properties();
      properties.put("process.roles", "broker,controller");
      properties.put("node.id", "1");
      properties.put("controller.quorum.voters", "1@127.0.0.1:" + controller);
      properties.put("controller.listener.names", "CONTROLLER");
      properties.put(
          "listeners", "PLAINTEXT://127.0.0.1:" + port + ",CONTROLLER://127.0.0.1:" + controller);
      properties.put("log.dirs", folder.toString());
      properties.put("num.partitions", "2");
      for (String kind : List.of("offsets.topic", "transaction.state.log")) {
        properties.put(kind + ".replication.factor", "1");
        properties.put(kind + ".num.partitions", "1");
      }
      properties.put("transaction.state.log.min.isr", "1");
      var server = new KafkaRaftServer(new KafkaConfig(properties), Time.SYSTEM);
      server.startup();
      return new Broker(server, "127.0.0.1:" + port);
    }

    private KafkaConsumer<String, String> consumer(String group) {
      return new KafkaConsumer<>(
          Map.of(
              "bootstrap.servers", address,
              "group.id", group,
              "enable.auto.commit", "false",
              "auto.offset.reset", "earliest",
              "isolation.level", "read_committed"),
          new StringDeserializer(),
          new StringDeserializer());
    }

    /// Runs a sink; an interrupted one ends before it commits.
    private long write(Stoa stoa) throws InterruptedException {
      try (var producer =
              new KafkaProducer<>(
                  Map.of("bootstrap.servers", address, "transactional.id", "sink"),
                  new StringSerializer(),
                  new StringSerializer());
          var offsets = consumer("sink")) {
        return new KafkaTopic(producer, offsets, TOPIC)
            .run(stoa, Changes.of(JsonLinesTest.Account.class).withStates(), IDLE);
      }
    }

    /// Returns the keys and the new balances that a reader gets.
    private List<String> records(String topic, int count) {
      var found = new ArrayList<String>();
      try (var reader = consumer("reader")) {
        var partitions =
            reader.partitionsFor(topic).stream()
                .map(one -> new TopicPartition(topic, one.partition()))
                .toList();
        reader.assign(partitions);
        var ends = reader.endOffsets(partitions);
        while (found.size() < count
            || partitions.stream()
                .anyMatch(one -> reader.position(one) < Objects.requireNonNull(ends.get(one)))) {
          for (var record : reader.poll(Duration.ofSeconds(1))) {
            found.add(record.key() + " " + balance(record.value()));
          }
        }
      }
      found.sort(null);
      return found;
    }

    private static String balance(String envelope) {
      if (envelope == null) return "tombstone";
      int at = envelope.indexOf("\"after\":") + 8;
      return envelope.substring(at, envelope.indexOf(",\"source\"", at));
    }

    @Override
    public void close() {
      server.shutdown();
      server.awaitShutdown();
    }
  }

  @Test
  void aTopicHasEachChangeOnceWhereverAnEarlierRunEnded(@TempDir Path folder) throws Exception {
    try (var broker = Broker.start(folder);
        Stoa stoa = Stoa.open(StoaConfig.of("memory:").withKeep(Keep.all()))) {
      var alice = stoa.get(JsonLinesTest.Account.class, "alice");
      var bob = stoa.get(JsonLinesTest.Account.class, "bob");
      alice.add(5);
      bob.add(7);
      assertEquals(2, broker.write(stoa));
      stoa.transact(() -> {
        alice.add(-2);
        bob.add(2);
      });
      stoa.delete(bob);
      Thread.currentThread().interrupt();
      assertThrows(Exception.class, () -> broker.write(stoa));
      Thread.interrupted();
      assertEquals(3, broker.write(stoa));
      assertEquals(0, broker.write(stoa));
      List<String> records = broker.records(TOPIC, 6);
      assertEquals(
          List.of(
              "\"alice\" {\"balance\":3}",
              "\"alice\" {\"balance\":5}",
              "\"bob\" null",
              "\"bob\" tombstone",
              "\"bob\" {\"balance\":7}",
              "\"bob\" {\"balance\":9}"),
          records);

      stoa.get(JsonLinesTest.Account.class, "carol").add(2);
      assertEquals(1, broker.write(stoa));
      stoa.delete(stoa.get(JsonLinesTest.Account.class, "carol"));
      for (int i = 0; i < 10; i++) alice.add(1);
      long version = stoa.history(alice).version();
      assertEquals(version, stoa.history(alice).trim(version));
      assertEquals(1, broker.write(stoa)); // the changes behind the token were released
      assertEquals(0, broker.write(stoa));
      var more = new ArrayList<>(broker.records(TOPIC, 10));
      more.removeAll(records);
      assertEquals(
          List.of(
              "\"alice\" {\"balance\":13}",
              "\"carol\" null",
              "\"carol\" tombstone",
              "\"carol\" {\"balance\":2}"),
          more);
      theProgramWritesATopic(broker);
    }
  }

  private static void theProgramWritesATopic(Broker broker) throws Exception {
    try (var served = new ServedSink("feed", "kafka://" + broker.address + "/served");
        Stoa stoa = Stoa.open("stoa://" + served.address())) {
      JsonLinesTest.Account alice = stoa.get(JsonLinesTest.Account.class, "alice");
      alice.add(5);
      assertEquals("1 change", served.once());
      alice.add(1);
      assertEquals("1 change", served.once());
      assertEquals(
          List.of("\"alice\" {\"balance\":5}", "\"alice\" {\"balance\":6}"),
          broker.records("served", 2));
    }
  }
}
