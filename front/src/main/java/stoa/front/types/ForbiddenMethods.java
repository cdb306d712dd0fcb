package stoa.front.types;

import org.jspecify.annotations.Nullable;

/// The methods of the JDK that a shared object must not call, and their replacements.
///
/// The effect of a method must be a function of the object, the arguments and the logged call;
/// anything else would differ in a replay or on another replica. Printing to `System.out` and
/// `System.err` is allowed: it changes nothing that anyone reads back.
final class ForbiddenMethods {
  private ForbiddenMethods() {}

  private static final String CLOCK = "use Call.now()";
  private static final String RANDOM = "use Call.random() or Call.uuid()";
  private static final String THREAD =
      "calls on one object run one at a time; do the work in the call, or in the caller";
  private static final String IO = "do it in the caller and pass the result as an argument";
  private static final String BLOB =
      "its bytes are not logged with the call; read and write blobs in the caller, and pass what the"
          + " method needs";
  private static final String TRACE =
      "keep the class and the message of an exception; its trace is another one in a replay";
  private static final String MACHINE = "pass it as an argument; machines differ in it";
  private static final String SALTED =
      "its order differs from one JVM to the next; use List.of, LinkedHashMap, LinkedHashSet,"
          + " TreeMap or EnumMap";

  /// Returns the replacement of a call; null when the call is allowed.
  ///
  /// @param owner internal name of the class, as in `java/util/Random`
  /// @param descriptor the method's descriptor
  static @Nullable String remedy(String owner, String name, String descriptor) {
    boolean none = descriptor.startsWith("()");
    String time = clock(owner, name, descriptor);
    if (time != null) return time;
    String random = random(owner, name, none);
    if (random != null) return random;
    String machine = machine(owner, name);
    if (machine != null) return machine;
    if (traces(owner, name, descriptor)) return TRACE;
    if (threads(owner, name)) return THREAD;
    if (io(owner, name)) return IO;
    if (owner.equals("stoa/Stoa")) return "call other objects through Call.get";
    if (blob(owner, name)) return BLOB;
    return null;
  }

  /// Returns the replacement of a collection whose order is salted in each JVM; null for others.
  static @Nullable String salted(String owner, String name, String descriptor) {
    boolean several =
        switch (owner) {
          case "java/util/Set" ->
              name.equals("copyOf") || (name.equals("of") && !single(descriptor, 1));
          case "java/util/Map" ->
              name.equals("copyOf")
                  || name.equals("ofEntries")
                  || (name.equals("of") && !single(descriptor, 2));
          case "java/util/stream/Collectors" ->
              name.equals("toUnmodifiableSet") || name.equals("toUnmodifiableMap");
          default -> false;
        };
    return several ? SALTED : null;
  }

  private static boolean single(String descriptor, int parameters) {
    return descriptor.startsWith("()")
        || descriptor.startsWith("(" + "Ljava/lang/Object;".repeat(parameters) + ")");
  }

  private static @Nullable String clock(String owner, String name, String descriptor) {
    boolean forbidden =
        switch (owner) {
          case "java/lang/System" -> name.equals("currentTimeMillis") || name.equals("nanoTime");
          case "java/time/Clock" -> name.startsWith("system") || name.startsWith("tick");
          case "java/time/InstantSource" -> name.equals("system");
          case "java/util/Date", "java/util/GregorianCalendar" ->
              name.equals("<init>") && descriptor.startsWith("()");
          case "java/util/Calendar" -> name.equals("getInstance");
          default ->
              owner.startsWith("java/time/")
                  && name.equals("now")
                  && !descriptor.contains("Ljava/time/Clock;");
        };
    return forbidden ? CLOCK : null;
  }

  private static @Nullable String random(String owner, String name, boolean noArguments) {
    boolean forbidden =
        switch (owner) {
          case "java/lang/Math", "java/lang/StrictMath" -> name.equals("random");
          case "java/util/Random", "java/util/SplittableRandom" ->
              name.equals("<init>") && noArguments;
          case "java/util/concurrent/ThreadLocalRandom",
              "java/security/SecureRandom",
              "java/util/random/RandomGeneratorFactory" ->
              true;
          case "java/util/random/RandomGenerator" -> name.equals("of") || name.equals("getDefault");
          case "java/util/UUID" -> name.equals("randomUUID");
          default -> false;
        };
    return forbidden ? RANDOM : null;
  }

  /// Returns whether the call is `Collections.shuffle(list)`, which has an overload with a source
  /// of randomness.
  static boolean shuffles(String owner, String name, String descriptor) {
    return owner.equals("java/util/Collections")
        && name.equals("shuffle")
        && descriptor.equals("(Ljava/util/List;)V");
  }

  private static @Nullable String machine(String owner, String name) {
    return switch (owner) {
      case "java/lang/System" ->
          switch (name) {
            case "identityHashCode" -> "compare values, or keep a number of your own";
            case "getenv", "getProperty", "getProperties", "setProperty", "clearProperty" ->
                MACHINE;
            case "exit", "gc", "load", "loadLibrary", "setOut", "setErr", "setIn", "console" -> IO;
            default -> null;
          };
      case "java/lang/Runtime", "java/lang/management/ManagementFactory" -> MACHINE;
      case "java/time/ZoneId" -> name.equals("systemDefault") ? MACHINE : null;
      case "java/util/TimeZone", "java/util/Locale" -> name.equals("getDefault") ? MACHINE : null;
      case "java/lang/Integer", "java/lang/Long", "java/lang/Boolean" ->
          name.equals("getInteger") || name.equals("getLong") || name.equals("getBoolean")
              ? MACHINE
              : null;
      case "java/util/IdentityHashMap" ->
          "its order follows addresses in memory; use LinkedHashMap with keys of your own";
      case "java/util/WeakHashMap",
          "java/lang/ref/WeakReference",
          "java/lang/ref/SoftReference",
          "java/lang/ref/PhantomReference",
          "java/lang/ref/Cleaner" ->
          "what the garbage collector does differs; remove entries yourself";
      default -> null;
    };
  }

  /// Returns whether the call reveals the engine's path to the code. Printing a trace to
  /// `System.err` is allowed.
  private static boolean traces(String owner, String name, String descriptor) {
    return owner.equals("java/lang/StackWalker")
        || descriptor.endsWith(")[Ljava/lang/StackTraceElement;")
        || (name.equals("printStackTrace") && descriptor.startsWith("(Ljava/io/Print"));
  }

  private static boolean threads(String owner, String name) {
    return switch (owner) {
      case "java/lang/Thread",
          "java/lang/Thread$Builder",
          "java/lang/ThreadLocal",
          "java/lang/ThreadGroup",
          "java/util/Timer",
          "java/util/concurrent/Executor",
          "java/util/concurrent/Executors",
          "java/util/concurrent/ExecutorService",
          "java/util/concurrent/ScheduledExecutorService",
          "java/util/concurrent/ForkJoinPool",
          "java/util/concurrent/ThreadPoolExecutor",
          "java/util/concurrent/StructuredTaskScope" ->
          true;
      case "java/lang/Object" ->
          name.equals("wait") || name.equals("notify") || name.equals("notifyAll");
      case "java/util/concurrent/CompletableFuture" ->
          name.endsWith("Async") || name.equals("orTimeout") || name.equals("completeOnTimeout");
      default ->
          name.equals("parallelStream")
              || (owner.startsWith("java/util/stream/") && name.equals("parallel"))
              || owner.startsWith("java/util/concurrent/locks/");
    };
  }

  private static boolean blob(String owner, String name) {
    return switch (owner) {
      case "stoa/Blob", "stoa/BlobReader", "stoa/BlobSnapshot", "stoa/BlobWrite" ->
          !name.equals("equals") && !name.equals("hashCode") && !name.equals("toString");
      default -> false;
    };
  }

  private static boolean io(String owner, String name) {
    return switch (owner) {
      case "java/nio/file/Files",
          "java/nio/file/FileSystems",
          "java/io/RandomAccessFile",
          "java/io/FileInputStream",
          "java/io/FileOutputStream",
          "java/io/FileReader",
          "java/io/FileWriter",
          "java/io/Console",
          "java/lang/ProcessBuilder",
          "java/lang/Process",
          "java/sql/DriverManager",
          "javax/sql/DataSource" ->
          true;
      case "java/io/File" -> !name.equals("<init>") && !name.equals("getName");
      case "java/net/URI", "java/net/URLEncoder", "java/net/URLDecoder" -> false;
      default -> owner.startsWith("java/net/") || owner.startsWith("java/nio/channels/");
    };
  }
}
