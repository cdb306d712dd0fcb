package stoa.peers;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.infinispan.client.hotrod.DataFormat;
import org.infinispan.client.hotrod.RemoteCache;
import org.infinispan.client.hotrod.RemoteCacheManager;
import org.infinispan.client.hotrod.RemoteCounterManagerFactory;
import org.infinispan.client.hotrod.configuration.ConfigurationBuilder;
import org.infinispan.client.hotrod.exceptions.TransportException;
import org.infinispan.commons.marshall.IdentityMarshaller;
import org.infinispan.counter.api.CounterConfiguration;
import org.infinispan.counter.api.CounterManager;
import org.infinispan.counter.api.CounterType;
import org.infinispan.counter.api.SyncStrongCounter;
import org.jspecify.annotations.Nullable;
import stoa.bench.cluster.ClusterContender;
import stoa.bench.cluster.Records;
import stoa.bench.machine.ServerJava;
import stoa.programs.BackgroundProcess;

/// Infinispan: servers in processes of their own that keep two copies of everything, and its Hot
/// Rod client, which asks the owner of a key.
///
/// Counters are its strong counters. A record is a value of bytes; replacing some of its fields
/// takes two calls of the client, a read and a put, without isolation from other clients.
public final class InfinispanCluster implements ClusterContender {
  private static final int COUNTERS = 100;
  private static final int FIRST_USES = 12;
  private static final int FIRST_FAILURES = 100;

  static {
    // Its client logs to the same place as everything here.
    System.setProperty("org.jboss.logging.provider", "slf4j");
  }

  /// The contender.
  public InfinispanCluster() {}

  @Override
  public String name() {
    return "Infinispan";
  }

  @Override
  public String guarantee() {
    return "in the memory of 2 of 3 servers, on no disk; two servers lost at once lose it";
  }

  @Override
  public Running start(Path folder, int servers) throws Exception {
    Path members = Files.createDirectories(folder.resolve("members"));
    var processes = new ArrayList<BackgroundProcess>();
    try {
      var configuration = new ConfigurationBuilder();
      for (int i = 0; i < servers; i++) {
        Path data = Files.createDirectories(folder.resolve("node" + i));
        processes.add(
            BackgroundProcess.java(
                InfinispanNode.class.getName(),
                ServerJava.HEAP,
                List.of(members.toString(), data.toString())));
        // One after the other: each finds the earlier ones.
        int port = Integer.parseInt(processes.getLast().await(InfinispanNode.LISTENING));
        configuration.addServer().host("127.0.0.1").port(port);
      }
      return new Client(processes, new RemoteCacheManager(configuration.build()));
    } catch (Exception e) {
      processes.forEach(BackgroundProcess::close);
      throw e;
    }
  }

  private static final class Client implements Running {
    private final List<BackgroundProcess> servers;
    private final RemoteCacheManager client;
    private final Records records;
    private final List<SyncStrongCounter> counters;

    Client(List<BackgroundProcess> servers, RemoteCacheManager client) {
      this.servers = servers;
      this.client = client;
      DataFormat bytes =
          DataFormat.builder()
              .keyMarshaller(IdentityMarshaller.INSTANCE)
              .valueMarshaller(IdentityMarshaller.INSTANCE)
              .build();
      records =
          new Values(client.<byte[], byte[]>getCache(InfinispanNode.RECORDS).withDataFormat(bytes));
      CounterManager manager = RemoteCounterManagerFactory.asCounterManager(client);
      // The first use of a counter at a server may report that it is undefined: all are used before
      // the measurements.
      counters = IntStream.range(0, COUNTERS).mapToObj(i -> counter(manager, i)).toList();
    }

    private static SyncStrongCounter counter(CounterManager manager, int number) {
      String name = "counter " + number;
      manager.defineCounter(
          name, CounterConfiguration.builder(CounterType.UNBOUNDED_STRONG).build());
      SyncStrongCounter counter = manager.getStrongCounter(name).sync();
      for (int uses = 0, failures = 0; uses < FIRST_USES; uses++) {
        try {
          counter.getValue();
        } catch (TransportException e) {
          if (++failures == FIRST_FAILURES) throw e;
          uses = 0;
        }
      }
      return counter;
    }

    @Override
    public Duration processorTime() {
      return servers.stream()
          .map(BackgroundProcess::processorTime)
          .reduce(Duration.ZERO, Duration::plus);
    }

    @Override
    public Map<String, Counters> counters() {
      return Map.of(
          "Infinispan",
          new Counters() {
            @Override
            public long increment(int counter) {
              return counters.get(counter).incrementAndGet();
            }

            @Override
            public long value(int counter) {
              return counters.get(counter).getValue();
            }
          });
    }

    @Override
    public Optional<Records> records() {
      return Optional.of(records);
    }

    @Override
    public Optional<Records> orderedRecords() {
      return Optional.of(records);
    }

    @Override
    public void close() {
      try {
        client.stop();
      } finally {
        servers.forEach(BackgroundProcess::close);
      }
    }
  }

  /// Records as values of a cache.
  private record Values(RemoteCache<byte[], byte[]> cache) implements Records {
    @Override
    public void insert(String key, Map<String, byte[]> fields) {
      cache.put(bytes(key), encoded(fields));
    }

    @Override
    public Map<String, byte[]> read(String key) {
      return decoded(cache.get(bytes(key)));
    }

    @Override
    public void update(String key, Map<String, byte[]> fields) {
      Map<String, byte[]> all = decoded(cache.get(bytes(key)));
      all.putAll(fields);
      cache.put(bytes(key), encoded(all));
    }

    /// Scans. The cache has no order. Keys are numbers after a word, so the following keys are
    /// known without one: the client asks for all at once.
    @Override
    public int scan(String from, int most) {
      int digits = from.length();
      while (digits > 0 && Character.isDigit(from.charAt(digits - 1))) digits--;
      String word = from.substring(0, digits);
      int width = from.length() - digits;
      long first = Long.parseLong(from.substring(digits));
      Set<byte[]> keys = Collections.newSetFromMap(new IdentityHashMap<>());
      for (long number = first; number < first + most; number++) {
        String text = Long.toString(number);
        keys.add(bytes(word + "0".repeat(Math.max(0, width - text.length())) + text));
      }
      int read = 0;
      for (byte[] value : cache.getAll(keys).values()) {
        if (!decoded(value).isEmpty()) read++;
      }
      return read;
    }

    private static byte[] bytes(String key) {
      return key.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] encoded(Map<String, byte[]> fields) {
      var bytes = new ByteArrayOutputStream();
      try (var out = new DataOutputStream(bytes)) {
        out.writeInt(fields.size());
        for (var field : fields.entrySet()) {
          out.writeUTF(field.getKey());
          out.writeInt(field.getValue().length);
          out.write(field.getValue());
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return bytes.toByteArray();
    }

    private static Map<String, byte[]> decoded(byte @Nullable [] bytes) {
      var fields = new TreeMap<String, byte[]>();
      if (bytes == null) return fields;
      try (var in = new DataInputStream(new ByteArrayInputStream(bytes))) {
        for (int left = in.readInt(); left > 0; left--) {
          String name = in.readUTF();
          fields.put(name, in.readNBytes(in.readInt()));
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return fields;
    }
  }
}
