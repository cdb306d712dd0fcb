package stoa.peers;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.infinispan.Cache;
import org.infinispan.commons.dataconversion.MediaType;
import org.infinispan.commons.marshall.ProtoStreamMarshaller;
import org.infinispan.configuration.cache.ConfigurationBuilder;
import org.infinispan.configuration.global.GlobalConfigurationBuilder;
import org.infinispan.factories.GlobalComponentRegistry;
import org.infinispan.manager.DefaultCacheManager;
import org.infinispan.multimap.impl.EmbeddedMultimapListCache;
import org.infinispan.multimap.impl.ListBucket;
import org.infinispan.server.hotrod.HotRodServer;
import org.infinispan.server.hotrod.configuration.HotRodServerConfigurationBuilder;
import org.infinispan.tasks.Task;
import org.infinispan.tasks.TaskContext;
import org.infinispan.tasks.manager.TaskManager;
import org.infinispan.tasks.manager.spi.TaskEngine;
import org.infinispan.util.concurrent.BlockingManager;
import org.jspecify.annotations.Nullable;
import stoa.bench.remote.RemoteContender.Persistence;

/// An Infinispan server, alone and on the loopback device, in a process of its own.
///
/// Hot Rod has no operation for a queue, or for a counter with synced writes: these are tasks that
/// run in the server, as Infinispan advises. [InfinispanNode] has the same caches and tasks.
final class InfinispanServer {
  /// The text before its port on its output.
  static final String LISTENING = "listening on port ";

  /// The cache of put values.
  static final String VALUES = "values";

  /// The cache that clients keep near.
  static final String PUBLISHED = "published";

  /// The cache of stored counters.
  static final String COUNTERS = "counters";

  private static final String QUEUES = "queues";

  private InfinispanServer() {}

  /// Runs until the process is ended: a [Persistence], and the folder for data.
  public static void main(String[] arguments) throws Exception {
    var persistence = Persistence.valueOf(arguments[0]);
    Path folder = Path.of(arguments[1]);
    var global = new GlobalConfigurationBuilder().nonClusteredDefault();
    global
        .globalState()
        .enable()
        .persistentLocation(folder.resolve("state").toString())
        .temporaryLocation(folder.resolve("temporary").toString());
    var caches = new DefaultCacheManager(global.build());
    define(caches, persistence, ConfigurationBuilder::new);
    var server = new HotRodServer();
    server.start(
        new HotRodServerConfigurationBuilder()
            .host("127.0.0.1")
            .port(0)
            .defaultCacheName(VALUES)
            .build(),
        caches);
    server.postStart();
    System.out.println(LISTENING + server.getTransport().getPort());
  }

  /// Defines and starts the caches and the tasks that clients use.
  ///
  /// @param base makes the configuration of a cache without its encoding and its store
  static void define(
      DefaultCacheManager caches, Persistence persistence, Supplier<ConfigurationBuilder> base) {
    for (String name : List.of(VALUES, PUBLISHED, COUNTERS, QUEUES)) {
      ConfigurationBuilder configuration = base.get();
      configuration
          .encoding()
          .mediaType(
              switch (name) {
                case QUEUES -> MediaType.APPLICATION_OBJECT;
                case PUBLISHED -> MediaType.APPLICATION_PROTOSTREAM;
                default -> MediaType.APPLICATION_OCTET_STREAM;
              });
      if (persistence == Persistence.SYNCED) {
        configuration.persistence().addSoftIndexFileStore().syncWrites(true);
      }
      caches.defineConfiguration(name, configuration.build());
      caches.getCache(name);
    }
    GlobalComponentRegistry.of(caches)
        .getComponent(TaskManager.class)
        .registerTaskEngine(new Tasks(caches.getCache(COUNTERS), caches.getCache(QUEUES)));
  }

  /// The bytes of a number.
  static byte[] bytes(long number) {
    return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
  }

  /// The number of bytes.
  static long number(byte[] bytes) {
    return ByteBuffer.wrap(bytes).getLong();
  }

  /// The tasks that run in the server. Arguments and answers are numbers, marshalled as the client
  /// does by default.
  static final class Tasks implements TaskEngine {
    /// Adds one to the counter of the argument and answers it.
    static final String INCREMENT = "increment";

    /// Adds the argument at the end of the queue whose number is in its upper bits.
    static final String ENQUEUE = "enqueue";

    /// Removes and returns the element at the head of that queue; null when it is empty.
    static final String DEQUEUE = "dequeue";

    /// The name of the argument.
    static final String ARGUMENT = "argument";

    private static final Set<String> NAMES = Set.of(INCREMENT, ENQUEUE, DEQUEUE);
    private static final String QUEUE = "queue ";

    /// The bits of an element; those above are the number of its queue.
    static final int ELEMENT_BITS = 40;

    // Thread-safe.
    private static final ProtoStreamMarshaller MARSHALLER = new ProtoStreamMarshaller();

    private final Cache<byte[], byte[]> counters;
    private final EmbeddedMultimapListCache<String, Long> queues;

    Tasks(Cache<byte[], byte[]> counters, Cache<String, ListBucket<Long>> queues) {
      this.counters = counters;
      this.queues = new EmbeddedMultimapListCache<>(queues);
    }

    @Override
    public String getName() {
      return "benchmark";
    }

    @Override
    public List<Task> getTasks() {
      return List.of();
    }

    @Override
    public boolean handles(String task) {
      return NAMES.contains(task);
    }

    @Override
    @SuppressWarnings("unchecked") // the answer of each task is bytes, which Hot Rod expects
    public <T> CompletionStage<T> runTask(
        String task, TaskContext context, BlockingManager blocking) {
      long argument = argument(context);
      CompletionStage<Long> answer =
          switch (task) {
            case INCREMENT ->
                counters
                    .computeAsync(
                        bytes(argument),
                        (_, before) -> bytes(before == null ? 1 : number(before) + 1))
                    .thenApply(InfinispanServer::number);
            case ENQUEUE -> queues.offerLast(queue(argument), argument).thenApply(_ -> argument);
            default ->
                queues
                    .pollFirst(queue(argument), 1)
                    .thenApply(
                        taken -> taken == null || taken.isEmpty() ? null : taken.iterator().next());
          };
      return (CompletionStage<T>) answer.thenApply(Tasks::marshalled);
    }

    private static String queue(long argument) {
      return QUEUE + (argument >>> ELEMENT_BITS);
    }

    private static long argument(TaskContext context) {
      try {
        Object bytes = context.getParameters().orElseThrow().get(ARGUMENT);
        return (Long) MARSHALLER.objectFromByteBuffer((byte[]) requireNonNull(bytes));
      } catch (IOException | ClassNotFoundException e) {
        throw new IllegalStateException(e);
      }
    }

    /// Returns a number as arguments and answers have it.
    static byte[] marshalled(@Nullable Long number) {
      try {
        return MARSHALLER.objectToByteBuffer(number);
      } catch (IOException | InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
