package stoa.tidy;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.constantpool.MemberRefEntry;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/// Finds classes that touch the world: clocks, threads, files, networks or randomness. Only the
/// declared edges of a layer may; everything else must give the same effects for the same events.
final class Purity {
  /*
   * Whatever a class calls, directly or through a method reference, stands in its constant pool as a
   * member reference. So the pool alone is read, not the code.
   */

  /// What a core must not touch.
  enum World {
    CLOCK,
    THREAD,
    FILE,
    NETWORK,
    RANDOMNESS
  }

  /// A class that may touch the world, with its nested classes.
  ///
  /// @param type its binary name
  /// @param touches what it may touch
  /// @param reason why it must
  record Edge(String type, Set<World> touches, String reason) {
    static Edge of(String type, String reason, World first, World... rest) {
      return new Edge(type, EnumSet.of(first, rest), reason);
    }

    boolean covers(String className) {
      return className.equals(type) || className.startsWith(type + "$");
    }
  }

  /// Class, class and method, or class, method and descriptor, each in the words of a class file.
  private static final Map<String, World> FORBIDDEN = new HashMap<>();

  static {
    forbid(
        World.CLOCK,
        "java/lang/System.nanoTime",
        "java/lang/System.currentTimeMillis",
        "java/time/Instant.now",
        "java/time/LocalDate.now",
        "java/time/LocalTime.now",
        "java/time/LocalDateTime.now",
        "java/time/OffsetDateTime.now",
        "java/time/ZonedDateTime.now",
        "java/time/Year.now",
        "java/time/Clock.system",
        "java/time/Clock.systemUTC",
        "java/time/Clock.systemDefaultZone",
        "java/time/Clock.tickMillis",
        "java/time/InstantSource.system",
        "java/util/Date.<init>()V",
        "java/util/Calendar.getInstance");
    forbid(
        World.THREAD,
        "java/lang/Thread",
        "java/lang/Thread$Builder",
        "java/lang/Thread$Builder$OfPlatform",
        "java/lang/Thread$Builder$OfVirtual",
        "java/lang/Object.wait",
        "java/util/Timer",
        "java/util/concurrent/CompletableFuture.completeOnTimeout",
        "java/util/concurrent/CompletableFuture.delayedExecutor",
        "java/util/concurrent/CompletableFuture.orTimeout",
        "java/util/concurrent/CompletableFuture.runAsync",
        "java/util/concurrent/CompletableFuture.supplyAsync",
        "java/util/concurrent/CountDownLatch",
        "java/util/concurrent/CyclicBarrier",
        "java/util/concurrent/Executor",
        "java/util/concurrent/ExecutorService",
        "java/util/concurrent/Executors",
        "java/util/concurrent/ForkJoinPool",
        "java/util/concurrent/Phaser",
        "java/util/concurrent/ScheduledExecutorService",
        "java/util/concurrent/Semaphore",
        "java/util/concurrent/ThreadPoolExecutor",
        "java/util/concurrent/TimeUnit.sleep",
        "java/util/concurrent/locks/Condition",
        "java/util/concurrent/locks/LockSupport");
    forbid(
        World.FILE,
        "java/io/File",
        "java/io/FileInputStream",
        "java/io/FileOutputStream",
        "java/io/FileReader",
        "java/io/FileWriter",
        "java/io/RandomAccessFile",
        "java/nio/channels/AsynchronousFileChannel",
        "java/nio/channels/FileChannel",
        "java/nio/channels/FileLock",
        "java/nio/file/FileStore",
        "java/nio/file/FileSystem",
        "java/nio/file/FileSystems",
        "java/nio/file/Files",
        "java/util/zip/ZipFile");
    forbid(
        World.NETWORK,
        "java/lang/ProcessBuilder",
        "java/lang/Runtime.exec",
        "java/net/DatagramSocket",
        "java/net/InetAddress",
        "java/net/ServerSocket",
        "java/net/Socket",
        "java/net/URL.openConnection",
        "java/net/URL.openStream",
        "java/net/http/HttpClient",
        "java/nio/channels/DatagramChannel",
        "java/nio/channels/Selector",
        "java/nio/channels/ServerSocketChannel",
        "java/nio/channels/SocketChannel");
    forbid(
        World.RANDOMNESS,
        "java/lang/Math.random",
        "java/lang/System.identityHashCode",
        "java/security/SecureRandom",
        "java/util/Random.<init>()V",
        "java/util/SplittableRandom.<init>()V",
        "java/util/UUID.randomUUID",
        "java/util/concurrent/ThreadLocalRandom",
        "java/util/random/RandomGenerator.getDefault",
        "java/util/random/RandomGeneratorFactory.create()Ljava/util/random/RandomGenerator;");
  }

  private Purity() {}

  private static void forbid(World world, String... members) {
    for (String member : members) FORBIDDEN.put(member, world);
  }

  /// What a compiled class touches: for each part of the world the members, as `Type.member`.
  static Map<World, Set<String>> touched(ClassModel model) {
    var touched = new EnumMap<World, Set<String>>(World.class);
    for (var entry : model.constantPool()) {
      if (!(entry instanceof MemberRefEntry member)) continue;
      String owner = member.owner().asInternalName();
      String named = owner + "." + member.name().stringValue();
      World world = FORBIDDEN.get(owner);
      if (world == null) world = FORBIDDEN.get(named);
      if (world == null) world = FORBIDDEN.get(named + member.type().stringValue());
      if (world == null) continue;
      touched
          .computeIfAbsent(world, w -> new TreeSet<>())
          .add(named.substring(named.lastIndexOf('/') + 1));
    }
    return touched;
  }

  /// The classes that touch what no edge allows, and the edges that allow what nothing touches.
  static List<String> problems(Collection<byte[]> classes, List<Edge> edges) {
    var problems = new ArrayList<String>();
    var used = new TreeMap<String, Set<World>>();
    for (byte[] bytes : classes) {
      ClassModel model = ClassFile.of().parse(bytes);
      String name = model.thisClass().asInternalName().replace('/', '.');
      touched(model)
          .forEach((world, members) -> {
            var edge = edges.stream().filter(e -> e.covers(name)).findFirst();
            if (edge.isPresent() && edge.get().touches().contains(world)) {
              used.computeIfAbsent(edge.get().type(), t -> EnumSet.noneOf(World.class)).add(world);
            } else {
              problems.add(
                  "%s touches %s through %s; pass it in, or declare an edge with its reason"
                      .formatted(name, world, String.join(", ", members)));
            }
          });
    }
    for (Edge edge : edges) {
      var unused = EnumSet.copyOf(edge.touches());
      unused.removeAll(used.getOrDefault(edge.type(), Set.of()));
      if (!unused.isEmpty()) {
        problems.add("the edge %s no longer touches %s".formatted(edge.type(), unused));
      }
    }
    return problems;
  }
}
